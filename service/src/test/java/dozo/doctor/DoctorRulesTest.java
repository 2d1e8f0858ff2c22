package dozo.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.doctor.Result.State;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limits of what is well, where no test can have the machine or the server that is not. */
class DoctorRulesTest {

    @Test
    void javaMustBeRecentAndHaveTheOptionsOfTheLauncher() {
        assertThat(JavaCheck.version(Runtime.Version.parse("24.0.1")).state()).isEqualTo(State.BROKEN);
        assertThat(JavaCheck.version(Runtime.Version.parse("25")).state()).isEqualTo(State.OK);
        assertThat(JavaCheck.options(true, true)).isEmpty();
        assertThat(JavaCheck.options(false, false).getFirst().message())
                .isEqualTo("started without -XX:+ExitOnOutOfMemoryError and --enable-native-access=ALL-UNNAMED");
        assertThat(JavaCheck.names(StandardCharsets.UTF_8)).isEmpty();
        assertThat(JavaCheck.names(StandardCharsets.US_ASCII).getFirst().message())
                .contains("US-ASCII");
    }

    @ParameterizedTest
    @CsvSource({
        "512, 1024, OK",
        "768, 1024, OK",
        "769, 1024, WARNING",
        "1023, 1024, WARNING",
        "1024, 1024, BROKEN",
        "191, 1024, OK",
        "190, 1024, WARNING"
    })
    void theHeapLeavesMemoryForAllElse(long heapMiB, long machineMiB, State state) {
        assertThat(JavaCheck.memory(heapMiB << 20, machineMiB << 20).state()).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource({"1023, BROKEN", "1024, WARNING", "4095, WARNING", "4096, OK"})
    void nightsOpenManyFiles(long limit, State state) {
        assertThat(JavaCheck.openFiles(limit).state()).isEqualTo(state);
    }

    @Test
    void anOldOpenSshIsRecognized() {
        assertThat(SitesCheck.old("SSH-2.0-OpenSSH_8.9p1 Ubuntu-3")).contains(8);
        assertThat(SitesCheck.old("SSH-2.0-OpenSSH_9.0")).isEmpty();
        assertThat(SitesCheck.old("SSH-2.0-OpenSSH_10.0p2")).isEmpty();
        assertThat(SitesCheck.old("SSH-2.0-APACHE-SSHD-2.17.1")).isEmpty();
    }

    @Test
    void nothingThatAServerSaysBreaksALine() {
        assertThat(Result.ok("x", "one\n two\u001b[31m").message()).isEqualTo("one two?[31m");
    }
}
