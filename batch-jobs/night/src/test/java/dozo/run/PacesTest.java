package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.db.TestDatabase;
import dozo.registry.RegisteredRows;
import dozo.run.Paces.Pace;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** How fast a run went is stored in a bounded number of intervals. */
class PacesTest {

    private static final Instant BEGIN = Instant.parse("2026-11-01T01:00:00Z");

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Paces paces = new Paces(jdbc);

    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("update run set state = 'COMPLETE', ended_at = now()").update();
        jdbc.sql("""
                insert into run (kind, site_id, state, requested_by, started_at) values ('scrub', 1, 'RUNNING', 'test', now())
                """).update();
    }

    @Test
    void aRunHasItsOwnIntervalsInTheirOrder() {
        paces.add(1, at(7, 5, 200, 2));
        paces.add(1, at(0, 5, 1_000, 10));
        paces.add(2, at(0, 1, 1, 1));

        assertThat(paces.of(1)).containsExactly(at(0, 5, 1_000, 10), at(7, 5, 200, 2));
        assertThat(paces.of(1).getFirst().bytesPerSecond()).isEqualTo(200);
        assertThat(paces.of(1).getFirst().endedAt()).isEqualTo(BEGIN.plusSeconds(5));
        assertThat(paces.of(4_711)).isEmpty();
    }

    @Test
    void theShortRestOfARunIsPartOfItsLastIntervalUnlessItIsTheOnlyOne() {
        paces.add(1, at(0, 0.25, 10, 1));
        assertThat(paces.of(1)).containsExactly(at(0, 0.25, 10, 1));

        paces.add(1, at(0.25, 0.25, 30, 1));
        assertThat(paces.of(1)).containsExactly(at(0, 0.5, 40, 2));
    }

    @Test
    void aLongRunKeepsABoundedNumberOfIntervalsAndAllThatItMoved() {
        int intervals = 10 * Paces.INTERVALS_MAX + 1;
        for (int i = 0; i < intervals; i++) {
            paces.add(1, at(i, 1, i, 1));
        }

        List<Pace> kept = paces.of(1);
        assertThat(kept).hasSizeBetween(Paces.INTERVALS_MAX / 2, Paces.INTERVALS_MAX);
        assertThat(kept).isSortedAccordingTo(Comparator.comparing(Pace::beganAt));
        assertThat(kept.getFirst().beganAt()).isEqualTo(BEGIN);
        assertThat(kept.getLast().endedAt()).isEqualTo(BEGIN.plusSeconds(intervals));
        assertThat(kept.stream().mapToDouble(Pace::seconds).sum()).isCloseTo(intervals, within(0.001));
        assertThat(kept.stream().mapToLong(Pace::entries).sum()).isEqualTo(intervals);
        assertThat(kept.stream().mapToLong(Pace::bytes).sum()).isEqualTo((long) intervals * (intervals - 1) / 2);
    }

    @Test
    void aPauseBetweenTwoIntervalsSlowsNoneOfThem() {
        for (int i = 0; i <= Paces.INTERVALS_MAX; i++) {
            paces.add(1, at(3_600L * i, 1, 100, 1));
        }

        assertThat(paces.of(1)).extracting(Pace::bytesPerSecond).containsOnly(100.0);
    }

    @Test
    void ifTheClockWentBackTheEarlierIntervalStays() {
        paces.add(1, at(0, 1, 5, 1));
        paces.add(1, at(0, 1, 9, 1));

        assertThat(paces.of(1)).containsExactly(at(0, 1, 5, 1));
    }

    private static Pace at(double second, double seconds, long bytes, long entries) {
        return new Pace(BEGIN.plusMillis((long) (1_000 * second)), seconds, bytes, entries);
    }
}
