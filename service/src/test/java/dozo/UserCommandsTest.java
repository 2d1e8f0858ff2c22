package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users and tokens on the command line, and a command that uses a token. */
class UserCommandsTest {

    @TempDir
    Path folder;

    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.shared();
        System.setProperty("dozo.password.file", service.passwordFile().toString());
    }

    @AfterEach
    void stop() {
        System.clearProperty("dozo.password.file");
        System.clearProperty("dozo.user");
        System.clearProperty("dozo.token.file");
        service.close();
    }

    @Test
    void aUserIsMadeJoinsAndComesWithATokenUntilDisabled() throws Exception {
        Path password = Files.writeString(folder.resolve("password"), "a password for tests\n");
        dozo("project add P1").ends(0);
        dozo("project add P2").ends(0);

        assertThat(dozo("user add tanaka --password-file", password, "--roles", "LAB_MANAGER,AUDITOR"))
                .isEqualTo(new Ended(0, "created user tanaka\n", ""));
        dozo("user roles tanaka LAB_MANAGER").ends(0);
        assertThat(dozo("user join tanaka P1").out()).isEqualTo("tanaka is a member of P1\n");
        assertThat(dozo("user list").out()).containsPattern("tanaka +LAB_MANAGER +P1 +LOCAL +enabled");

        System.setProperty("dozo.user", "tanaka");
        System.setProperty("dozo.password.file", password.toString());
        Ended made = dozo("token add nightly --read-only --days 7");
        made.ends(0);
        assertThat(made.out()).matches("dozo_[A-Za-z0-9_-]{43}\n");
        assertThat(dozo("token list").out()).contains("nightly").contains("read");

        System.clearProperty("dozo.user");
        System.setProperty(
                "dozo.token.file",
                Files.writeString(folder.resolve("token"), made.out()).toString());
        assertThat(dozo("project list").out()).contains("P1").doesNotContain("P2");
        dozo("project add P3").ends(Exit.NOT_ALLOWED);

        System.clearProperty("dozo.token.file");
        System.setProperty("dozo.password.file", service.passwordFile().toString());
        dozo("user leave tanaka P1").ends(0);
        assertThat(dozo("token list --user tanaka").out()).contains("nightly");
        assertThat(dozo("user roles tanaka").out()).isEqualTo("tanaka has no role\n");
        assertThat(dozo("user roles tanaka LAB_MANAGER").out()).isEqualTo("tanaka has the roles LAB_MANAGER\n");
        assertThat(dozo("user disable tanaka").out()).isEqualTo("tanaka is disabled\n");

        System.setProperty("dozo.token.file", folder.resolve("token").toString());
        assertThat(dozo("project list").ends(Exit.NOT_ALLOWED).err()).contains("is disabled");
    }

    @Test
    void whatIsRefusedSaysTheField() {
        assertThat(dozo("token add t --days 400").ends(Exit.REFUSED).err()).contains("days: 400: expected 1 to 366");
    }

    @Test
    void aPasswordFileThatCannotBeReadIsWrongUsage() {
        String missing = folder.resolve("missing").toString();

        for (Ended ended :
                List.of(dozo("user add suzuki --password-file", missing), dozo("user password admin", missing))) {
            ended.ends(Exit.USAGE);
            assertThat(ended.err()).contains(missing + " cannot be read");
        }
        assertThat(dozo("user list").out()).doesNotContain("suzuki");
    }

    private Ended dozo(String line, Object... more) {
        return Ended.of(Stream.concat(Stream.of(Ended.words(line, more)), Stream.of("--url", service.url()))
                .toArray(String[]::new));
    }
}
