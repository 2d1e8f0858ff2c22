package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** What the next test finds in a service that tests share. */
class FirstStateTest {

    @Test
    void aKeyThatATestRemovedComesBackForItsOwnerOnly() throws Exception {
        try (RunningService service = RunningService.shared()) {
            Files.delete(service.work().resolve("site-key"));
        }

        try (RunningService service = RunningService.shared()) {
            assertThat(Files.getPosixFilePermissions(service.work().resolve("site-key")))
                    .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        }
    }
}
