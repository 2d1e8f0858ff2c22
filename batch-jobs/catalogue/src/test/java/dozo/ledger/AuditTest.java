package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What changed between two moments, and how long data waited to be safe. */
class AuditTest {

    private static final Instant SEPTEMBER = Instant.parse("2026-09-01T00:00:00Z");
    private static final Instant OCTOBER = Instant.parse("2026-10-01T00:00:00Z");
    private static final Instant NOVEMBER = Instant.parse("2026-11-01T00:00:00Z");

    private final Nights nights = new Nights();
    private final Audit audit = new Audit(nights.jdbc);

    @Test
    void changesAreSummedFromTheFirstMomentUntilBeforeTheSecond() {
        int known = nights.experiment(1, "A", "MR", null, null);
        nights.at("2026-09-01T00:00:00Z").seal(known, 3);
        nights.prove(known, 1, 2);
        nights.at("2026-09-10T00:00:00Z").settle(known);
        nights.at("2026-09-30T23:59:59Z").seal(known, 1, 3);
        nights.prove(known, 4);
        nights.at("2026-10-01T00:00:00Z").settle(known);

        assertThat(audit.changes(Sight.EVERYTHING, Dimension.MODALITY, 1, SEPTEMBER, OCTOBER))
                .containsExactly(new Change("MR", 2, 4, 0, 1, 2, 20, 0, 0));
        assertThat(audit.changes(Sight.EVERYTHING, Dimension.MODALITY, 1, OCTOBER, NOVEMBER))
                .containsExactly(new Change("MR", 0, 0, 0, 0, 1, 10, 1, 0));
    }

    @Test
    void findingsCountWithTheirExperimentOrWithNone() {
        nights.experiment(1, "A", "MR", null, null);
        nights.jdbc.sql("""
                insert into finding (run_id, experiment_id, reason, message, found_at)
                values (1, 1, 'UNREADABLE', '', '2026-09-02T00:00Z'), (1, 1, 'UNREADABLE', '', '2026-10-02T00:00Z'),
                       (1, null, 'LOST', '', '2026-09-03T00:00Z')
                """).update();

        assertThat(audit.changes(Sight.EVERYTHING, Dimension.PROJECT, 1, SEPTEMBER, OCTOBER))
                .containsExactly(new Change("P1", 0, 0, 0, 0, 0, 0, 0, 1), new Change(null, 0, 0, 0, 0, 0, 0, 0, 1));
    }

    @Test
    void anExperimentWaitsFromItsFirstUnprotectedManifestUntilItIsWhollySafe() {
        int quick = nights.experiment(1, "A", "MR", null, null);
        int slow = nights.experiment(1, "B", "MR", null, null);
        int never = nights.at("2026-09-07T00:00:00Z").experiment(1, "C", "MEG", null, null);
        nights.at("2026-09-01T20:00:00Z").seal(quick, 1);
        nights.seal(slow, 2);
        nights.seal(never, 1);
        nights.prove(quick, 1);
        nights.prove(slow, 1);
        nights.at("2026-09-01T21:00:00Z").settle(quick);
        nights.settle(slow);
        nights.at("2026-09-02T20:00:00Z").seal(slow, 1);
        nights.prove(slow, 2, 3);
        nights.at("2026-09-02T21:00:00Z").settle(slow);

        assertThat(audit.waits(Sight.EVERYTHING, Dimension.MODALITY, 1, SEPTEMBER, OCTOBER))
                .containsExactly(
                        new Wait("MEG", 0, null, null, null, 1, Instant.parse("2026-09-01T20:00:00Z")),
                        new Wait("MR", 2, 60L, 1_500L, 1_500L, 0, null));
        assertThat(audit.waits(Sight.EVERYTHING, Dimension.MODALITY, 1, OCTOBER, NOVEMBER))
                .as("who waits now is told whenever it began")
                .extracting(Wait::name)
                .containsExactly("MEG");
    }
}
