package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dozo.db.TestDatabase;
import dozo.ledger.Sight;
import dozo.plan.CostModel;
import dozo.plan.ReadingBudget;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Verdict;
import dozo.plan.Work;
import dozo.registry.RegisteredRows;
import dozo.run.Promises.Promise;
import dozo.verify.Copies;
import dozo.verify.HomeReadings;
import dozo.verify.Readings;
import dozo.verify.Readings.Age;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.unit.DataSize;

/** The state of the promise follows from the queue and the damages, and the cost of reading from scrubs only. */
class PromisesTest {

    private static final Instant NOW = Instant.parse("2026-10-01T12:00:00Z");

    private final JdbcTemplate template = new JdbcTemplate(TestDatabase.fresh());
    private final JdbcClient jdbc = JdbcClient.create(template);
    private final Readings readings = new Readings(jdbc, new Copies(jdbc));
    private final Promises promises = new Promises(
            jdbc,
            readings,
            new HomeReadings(template),
            new ScrubSettings(Duration.ofDays(90), Duration.ofDays(365), 25, "-", DataSize.ofBytes(0), true, 688),
            () -> NOW);
    private final ReadingCosts costs = new ReadingCosts(jdbc, readings);

    /** Two experiments; the first has one receipt read 100 days ago and one read today. */
    @BeforeEach
    void storeThreeReceipts() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E2', 'filesystem', '/data2', now(), 'test'), (1, 'E3', 'filesystem', '/data3', now(), 'test');
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', 1, 0), (1, 1, 'BUNDLE', '{2}', 1, 'VERIFIED', 1, 0),
                       (2, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', 1, 0);
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select experiment_id, site_id, unit_id, 1, entry_nos, decode(repeat('00', 32), 'hex'), 'm', 'w', now()
                from transfer_unit order by unit_id;
                update stored set files = receipt_id * 10, bytes = receipt_id * 1000,
                    last_read_at = case receipt_id when 1 then timestamptz '2026-06-23T12:00:00Z'
                                                   when 2 then timestamptz '2026-10-01T01:00:00Z'
                                                   else timestamptz '2026-09-30T23:00:00Z' end;
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, counted_at, files_stored, bytes_stored)
                values (1, 1, 1, 30, 3000, 30, 30, 3000, 30, now(), 30, 3000),
                       (2, 1, 1, 30, 3000, 30, 30, 3000, 30, now(), 30, 3000);
                """).update();
    }

    @Test
    void aSiteTellsItsOldestReadingAndWhatIsLate() {
        Promise promise = promises.at(1);

        assertThat(promise)
                .isEqualTo(new Promise(7_776_000, Instant.parse("2026-06-23T12:00:00Z"), 60, 50, 6_000, 5_000, 0));
        assertThat(promise.percent()).isEqualTo(83);
    }

    @Test
    void copiesAreCountedByTheDayOfTheirReading() {
        assertThat(promises.ages(1))
                .containsExactly(
                        new Age(Instant.parse("2026-06-23T12:00:00Z"), 10, 1_000),
                        new Age(Instant.parse("2026-09-30T23:00:00Z"), 30, 3_000),
                        new Age(Instant.parse("2026-10-01T01:00:00Z"), 20, 2_000));
        assertThat(promises.ages(2)).isEmpty();
    }

    @Test
    void experimentsTellTheirOwn() {
        assertThat(promises.experiments(Sight.EVERYTHING, 1, 0, 10))
                .extracting(
                        each -> each.project() + "/" + each.code(),
                        each -> each.promise().filesRead(),
                        each -> each.promise().percent())
                .containsExactly(tuple("p/E1", 20L, 66), tuple("p/E2", 30L, 100), tuple("p/E3", 0L, 100));
        assertThat(promises.experiments(Sight.EVERYTHING, 1, 1, 1))
                .singleElement()
                .satisfies(each -> assertThat(each.code()).isEqualTo("E2"));
        assertThat(promises.experiments(Sight.EVERYTHING, 1, 2, 1)
                        .getFirst()
                        .promise()
                        .oldestReadAt())
                .isNull();
    }

    @Test
    void whoSeesSomeProjectsIsToldOfThoseAlone() {
        jdbc.sql("""
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                values (1, 1, 2, 2, 1, now(), 'MISSING')
                """).update();
        Sight own = Sight.of(List.of("p"));
        Sight none = Sight.of(List.of("another"));

        assertThat(promises.at(own, 1)).isEqualTo(promises.at(1));
        assertThat(promises.at(none, 1)).isEqualTo(new Promise(7_776_000, null, 0, 0, 0, 0, 0));
        assertThat(promises.experiments(own, 1, 0, 10)).isEqualTo(promises.experiments(Sight.EVERYTHING, 1, 0, 10));
        assertThat(promises.experiments(none, 1, 0, 10)).isEmpty();
    }

    @Test
    void damageCountsUntilALaterReceiptHealsIt() {
        jdbc.sql("""
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                values (1, 1, 2, 2, 1, now(), 'MISSING')
                """).update();
        assertThat(promises.at(1).damaged()).isEqualTo(1);
        assertThat(promises.experiments(Sight.EVERYTHING, 1, 0, 1)
                        .getFirst()
                        .promise()
                        .damaged())
                .isEqualTo(1);

        jdbc.sql("""
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select experiment_id, site_id, unit_id, 1, entry_nos, digests, method, worker, now()
                from receipt where receipt_id = 2
                """).update();

        assertThat(promises.at(1).damaged()).isZero();
        assertThat(promises.experiments(Sight.EVERYTHING, 1, 0, 1)
                        .getFirst()
                        .promise()
                        .damaged())
                .isZero();
    }

    @Test
    void whereNothingIsStoredNothingIsLate() {
        assertThat(promises.at(7)).isEqualTo(new Promise(7_776_000, null, 0, 0, 0, 0, 0));
    }

    @Test
    void theForecastIsOfAllThatIsStoredByDays() {
        ScrubForecast forecast = costs.forecast(
                1, NOW, Duration.ofDays(101), new ReadingBudget(null, 86_400), new CostModel(1e6, 0.001));

        assertThat(forecast.stored()).isEqualTo(new Work(6_000, 60));
        assertThat(forecast.verdict()).isEqualTo(Verdict.KEPT);
        assertThat(forecast.rounds().firstAgeSeconds()).isCloseTo(100 * 86_400, within(1.0));
        assertThat(forecast.rounds().readingSeconds()).isCloseTo(0.066, within(1e-9));
    }

    @Test
    void onlyScrubsThatKeptTheSiteBusyTellWhatReadingCosts() {
        assertThat(costs.of(1, true)).isEmpty();
        scrub(true, 1_000, 1_000_000_000L, 4, 20);
        assertThat(costs.of(1, true)).as("it goes on").isEmpty();
        end();
        assertThat(costs.of(1, true)).as("5 s with four side by side").isEmpty();
        scrub(false, 1_000, 1_000_000_000L, 4, 400);
        end();
        assertThat(costs.of(1, true)).as("its memory answered").isEmpty();
        assertThat(costs.of(1, false)).isPresent();
        scrub(true, 1_000, 1_000_000_000L, 4, 800);
        end();

        assertThat(costs.of(1, true)).hasValueSatisfying(kept -> {
            assertThat(kept.measurements()).isEqualTo(1);
            assertThat(kept.cost().seconds(1_000_000_000L, 1_000)).isCloseTo(200, within(0.01));
        });
        assertThat(costs.of(2, true)).as("another site").isEmpty();
    }

    private void scrub(boolean cold, long copies, long bytes, int partitions, double seconds) {
        end();
        jdbc.sql("""
                        with opened as (
                            insert into run (kind, site_id, state, requested_by, started_at)
                            values ('scrub', 1, 'RUNNING', 'test', now()) returning run_id
                        )
                        insert into scrub (run_id, max_age_seconds, everything, due_before, bytes_per_second, cold, partitions,
                                           copies_read, bytes_read, seconds_busy)
                        select run_id, 7776000, true, now(), 0, :cold, :partitions, :copies, :bytes, :seconds from opened
                        """)
                .param("cold", cold)
                .param("partitions", partitions)
                .param("copies", copies)
                .param("bytes", bytes)
                .param("seconds", seconds)
                .update();
    }

    private void end() {
        jdbc.sql("update run set state = 'COMPLETE', ended_at = now() where state = 'RUNNING'")
                .update();
    }
}
