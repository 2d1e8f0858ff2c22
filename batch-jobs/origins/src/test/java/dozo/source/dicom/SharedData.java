package dozo.source.dicom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Real DICOM files beside this clone, if there are any. */
public final class SharedData {

    private SharedData() {}

    public static Path folder() {
        String shared = System.getenv("DOZO_SHARED_DATA");
        assertThat(shared != null || !"true".equals(System.getenv("DOZO_DEMAND_SHARED_DATA")))
                .as("the shared data are demanded and not there")
                .isTrue();
        assumeTrue(shared != null, "no shared data beside this clone");
        return Path.of(shared, "dicom");
    }

    static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder())) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
