package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** How an experiment was acquired is checked and stored, and may be unknown. */
class AcquisitionTest {

    private static final InstantSource CLOCK = () -> Instant.parse("2026-10-01T12:00:00Z");

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Projects projects = new Projects(jdbc, ledger, CLOCK);
    private final Experiments experiments = new Experiments(jdbc, projects, ledger, CLOCK);

    @TempDir
    Path source;

    @Test
    void whatIsRegisteredIsKeptToTheDay() {
        projects.create("p", "", "test");
        Acquisition acquisition = new Acquisition("MR", "T7-1", LocalDate.of(2026, 10, 2));

        experiments.register(Sight.EVERYTHING, "p", "E1", "", source, null, acquisition, "test");

        assertThat(experiments.find("p", "E1").orElseThrow().acquisition()).isEqualTo(acquisition);
        assertThat(ledger.after(1, 1).getFirst().detail()).contains("\"acquired\": \"2026-10-02\"");
    }

    @Test
    void whatIsNotSaidIsUnknown() {
        projects.create("p", "", "test");

        experiments.register("p", "E1", "", source, "test");

        assertThat(experiments.find("p", "E1").orElseThrow().acquisition()).isEqualTo(Acquisition.UNKNOWN);
    }

    @Test
    void aDayThatHasNotBegunAnywhereIsRefused() {
        projects.create("p", "", "test");
        Acquisition future = new Acquisition(null, null, LocalDate.of(2026, 10, 3));

        assertThatThrownBy(() -> experiments.register(Sight.EVERYTHING, "p", "E1", "", source, null, future, "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("future");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mr", "", "M R", "MR;DROP", "MR\n", "ABCDEFGHIJKLMNOPQ"})
    void whatIsNoModalityIsRefused(String modality) {
        assertThatThrownBy(() -> new Acquisition(modality, null, null))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("modality"));
    }

    @Test
    void aScannerIsACodeAndADayIsNotBefore1900() {
        assertThatThrownBy(() -> new Acquisition(null, "a b", null))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("scanner"));
        assertThatThrownBy(() -> new Acquisition(null, null, LocalDate.of(1899, 12, 31)))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("acquired"));
    }
}
