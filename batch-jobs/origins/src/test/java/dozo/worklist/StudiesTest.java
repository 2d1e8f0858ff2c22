package dozo.worklist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.worklist.Studies.ReceivedSeries;
import dozo.worklist.Studies.Study;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Arrived data is known by study and series, however often it is reported, and without anybody's name. */
class StudiesTest {

    private static final Instant NOON = Instant.parse("2026-11-21T03:00:00Z");
    private static final String SUBJECT = "S0123456789ABCDEF";

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Studies studies = new Studies(jdbc);

    @TempDir
    Path folder;

    @Test
    void aStudyIsTheSumOfItsSeries() {
        studies.received(series("2.25.1", "2.25.11", SUBJECT, 100, NOON));
        studies.received(series("2.25.1", "2.25.12", SUBJECT, 20, NOON.plusSeconds(60)));

        assertThat(studies.find("2.25.1"))
                .contains(new Study("2.25.1", null, null, null, 2, 120, NOON, NOON.plusSeconds(60)));
        assertThat(studies.find("2.25.2")).isEmpty();
    }

    @Test
    void theSameAgainChangesNothingAndMoreIsMore() {
        studies.received(series("2.25.1", "2.25.11", null, 100, NOON));
        studies.received(series("2.25.1", "2.25.11", null, 100, NOON));
        assertThat(studies.find("2.25.1").orElseThrow().instances()).isEqualTo(100);

        studies.received(series("2.25.1", "2.25.11", null, 130, NOON.plusSeconds(9)));
        studies.received(series("2.25.1", "2.25.11", null, 10, NOON));

        assertThat(studies.find("2.25.1"))
                .contains(new Study("2.25.1", null, null, null, 1, 130, NOON, NOON.plusSeconds(9)));
    }

    @Test
    void whereItWasCollectedIsKnown() {
        Ledger ledger = new Ledger(jdbc, InstantSource.fixed(NOON));
        Projects projects = new Projects(jdbc, ledger, InstantSource.fixed(NOON));
        projects.create("P1", "", "test");
        int experiment = new Experiments(jdbc, projects, ledger, InstantSource.fixed(NOON))
                .register("P1", "E1", "", folder, "test")
                .id();
        studies.received(series("2.25.1", "2.25.11", SUBJECT, 100, NOON));

        studies.collected("2.25.1", experiment, 100, NOON.plusSeconds(5));

        Study study = studies.find("2.25.1").orElseThrow();
        assertThat(study.experimentId()).isEqualTo(experiment);
        assertThat(study.collectedAt()).isEqualTo(NOON.plusSeconds(5));
        assertThat(study.instancesCollected()).isEqualTo(100);
        assertThatThrownBy(() -> studies.collected("2.25.2", experiment, 1, NOON))
                .isInstanceOf(Refusal.class);
    }

    @Test
    void aPatientsIdIsRefusedByTheDatabaseItself() {
        assertThatThrownBy(() -> studies.received(series("2.25.1", "2.25.11", "S0123", 1, NOON)))
                .isInstanceOf(DataIntegrityViolationException.class);
    }

    @Test
    void anIllegalUidIsKeptAndNoneIsRefused() {
        studies.received(series("not-a-uid", "2.25.11", null, 1, NOON));

        assertThat(studies.find("not-a-uid")).isPresent();
        assertThatThrownBy(() -> series("", "2.25.11", null, 1, NOON)).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> series("a b", "2.25.11", null, 1, NOON)).isInstanceOf(Refusal.class);
    }

    private static ReceivedSeries series(
            String study, String series, @Nullable String subject, int instances, Instant at) {
        return new ReceivedSeries(
                study,
                series,
                "A26-0417",
                subject,
                LocalDate.of(2026, 11, 21),
                LocalTime.of(12, 0),
                null,
                "MR7T01",
                "MR",
                instances,
                null,
                at,
                at);
    }
}
