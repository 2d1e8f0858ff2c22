package dozo.certificate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.Program;
import dozo.registry.Refusal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The signing key is made once, for its owner, and an unusable file is never replaced. */
class SigningKeyTest {

    @TempDir
    Path folder;

    private Path file;
    private SigningKey key;

    @BeforeEach
    void name() {
        file = folder.resolve("certificate-key");
        key = new SigningKey(file);
    }

    @Test
    void theKeyIsMadeOnceAndForItsOwner() throws Exception {
        Files.writeString(folder.resolve("certificate-key.new"), "half a key of a process that died");

        key.create();
        KeyPair made = key.published();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        key.create();
        assertThat(new SigningKey(file).published().getPublic()).isEqualTo(made.getPublic());
        assertThat(Files.list(folder)).containsExactly(file);
    }

    @Test
    void openSslReadsIt() throws Exception {
        key.create();
        KeyPair made = key.published();

        assertThat(Program.succeed("openssl", "pkey", "-in", file.toString(), "-pubout"))
                .isEqualTo(SigningKey.pem(made.getPublic()));
    }

    @Test
    void twoKeysSignThatOneFollowsTheOther() {
        key.create();
        SigningKey next = new SigningKey(folder.resolve("next"));
        next.create();

        assertThat(SigningKey.succession(key.published(), next.published(), Instant.EPOCH))
                .matches("Dozo-Key: \\p{XDigit}{88} \\p{XDigit}{88} 1970-01-01T00:00:00Z( \\p{XDigit}{128}){2}");
    }

    @Test
    void aFileThatIsNoKeyPairIsRefusedAndKept() throws Exception {
        key.create();
        String own = Files.readString(file);
        Path other = folder.resolve("other");
        new SigningKey(other).create();
        String ofTwo = own.substring(0, own.indexOf("-----BEGIN PUBLIC"))
                + Files.readString(other).substring(own.indexOf("-----BEGIN PUBLIC"));

        for (String content : new String[] {"", "no key", own.substring(0, 80), ofTwo}) {
            Files.writeString(file, content);
            assertThatThrownBy(key::published)
                    .as(content)
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("certificate-key in the service's work folder is not a usable signing key");
            assertThat(file).hasContent(content);
        }
    }
}
