package dozo.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import dozo.setting.WrongSetting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service makes its key once, for its owner only, and never replaces a file that is not one. */
class RecoveryKeyTest {

    @TempDir
    Path folder;

    private Path file;
    private RecoveryKey key;

    @BeforeEach
    void name() {
        file = folder.resolve("recovery-key");
        key = new RecoveryKey(file);
    }

    @Test
    void isMadeOnceForItsOwnerOnly() throws Exception {
        key.create();
        String recipient = key.published();
        key.create();

        assertThat(recipient).startsWith("age1");
        assertThat(new RecoveryKey(file).published()).isEqualTo(recipient);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(RecoveryKey.identities(Files.readString(file)))
                .singleElement()
                .asString()
                .startsWith("AGE-SECRET-KEY-1");
    }

    @Test
    void aFileThatIsNotAKeyStaysAndIsRefused() throws Exception {
        key.create();
        String mine = key.published();
        RecoveryKey other = new RecoveryKey(folder.resolve("other"));
        other.create();
        String mixed = "# public key: " + mine + "\n"
                + RecoveryKey.identities(Files.readString(other.file())).getFirst() + "\n";
        for (String text : new String[] {"", "# public key: age1nonsense\nAGE-SECRET-KEY-1NONSENSE\n", mixed}) {
            Files.writeString(file, text);

            assertThatThrownBy(() -> key.published())
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("recovery-key in the service's work folder is not a usable recovery key");
            assertThat(file).hasContent(text);
        }
    }

    @Test
    void moreRecipientsArePublicKeys() {
        key.create();
        String recipient = key.published();

        assertThat(new RecoverySettings(" " + recipient + ", " + recipient).list())
                .containsExactly(recipient, recipient);
        assertThat(new RecoverySettings("").list()).isEmpty();
        assertThatThrownBy(() -> new RecoverySettings(recipient + "x")).isInstanceOf(WrongSetting.class);
    }
}
