package dozo.run;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.plan.NightForecast;
import dozo.plan.NightForecast.Expected;
import dozo.plan.NightForecast.Night;
import dozo.plan.NightForecast.Range;
import dozo.registry.Sites;
import dozo.run.Agenda.Plan;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** What nights were expected to have verified by the end of their window, and what they had (ADR 0076). */
@Component
public class Forecasts {

    /** A first copy that takes longer than a year needs another link. */
    private static final int NIGHTS_MAX = 366;

    /** The number of experiments whose forecasts are stored and shown. */
    private static final int LINES_MAX = 10_000;

    private final Agenda agenda;
    private final NightTimes nights;
    private final JdbcClient jdbc;
    private final JdbcTemplate template;
    private final InstantSource clock;

    /**
     * A forecast.
     *
     * @param madeAt when
     * @param untilAt the end of the window
     * @param nights how many earlier nights were measured; 0: it is a guess
     * @param experiments how many were not safe
     * @param unknown how many more were never read, at a site where no experiment was: nothing is expected of them
     * @param bytes of all experiments, that were not safe
     * @param verified the bytes by the end of the window
     * @param safe the experiments by the end of the window
     * @param safeAt when all are safe; null: later than a year
     * @param outcome what had become true by the end of the window; null: it is not over
     */
    public record Outlook(
            Instant madeAt,
            Instant untilAt,
            int nights,
            int experiments,
            int unknown,
            long bytes,
            Range<Long> verified,
            Range<Integer> safe,
            Range<@Nullable Instant> safeAt,
            @Nullable Outcome outcome) {}

    /**
     * What had become true by the end of a window.
     *
     * @param bytes verified, of the experiments of the forecast
     * @param experiments safe
     */
    public record Outcome(long bytes, int experiments) {}

    /**
     * The forecast of one experiment.
     *
     * @param bytes that are not safe
     * @param estimated whether they are an estimate, because its source was never read
     * @param probability that it is safe by the end of the window
     * @param safeAt when it is safe, as probably earlier as later; null: later than a year
     * @param deletedAt when its scanner deletes it; null: not known to
     * @param deletedProbability that it is deleted before it is safe
     * @param safe whether it was safe by the end of the window; null: that is not over
     */
    public record Line(
            int position,
            String project,
            String code,
            String title,
            long bytes,
            boolean estimated,
            double probability,
            @Nullable Instant safeAt,
            @Nullable Instant deletedAt,
            double deletedProbability,
            @Nullable Boolean safe) {

        /** Returns its project and code. */
        public String name() {
            return project + "/" + code;
        }

        /** Returns whether it may well be deleted before it is safe. */
        public boolean atRisk() {
            return deletedProbability > 1 - NightForecast.SURE;
        }
    }

    /**
     * A forecast with its experiments.
     *
     * @param lines for the first 10,000 experiments in the order of sending, if the user may see them
     * @param nights until everything is safe, of a forecast that is made now, for users who see everything
     */
    public record Made(Outlook outlook, List<Line> lines, List<Night> nights) {

        /** Returns the experiments that may well be deleted before they are safe. */
        public List<Line> atRisk() {
            return lines.stream().filter(Line::atRisk).toList();
        }
    }

    Forecasts(Agenda agenda, NightTimes nights, JdbcClient jdbc, JdbcTemplate template, InstantSource clock) {
        this.agenda = agenda;
        this.nights = nights;
        this.jdbc = jdbc;
        this.template = template;
        this.clock = clock;
    }

    /** Returns the forecast of a night that begins at a site now. */
    public Made now(Sight sight, int siteId) {
        Plan plan = agenda.of(siteId);
        NightForecast forecast = forecast(plan);
        return new Made(
                outlook(plan, forecast),
                lines(sight, first(forecast)),
                sight.ofEverything() ? nights(plan) : List.of());
    }

    /**
     * Returns the experiments that their scanner may well delete before they are safe, if a night began now; without those whose day
     * is over.
     */
    public List<Line> endangered(Sight sight, int siteId) {
        if (siteId == Sites.NO_SITE) {
            return List.of();
        }
        Plan urgent = agenda.urgent(siteId);
        List<Expected> endangered =
                forecast(urgent).experiments().stream().filter(Expected::atRisk).toList();
        return lines(sight, endangered);
    }

    private List<Line> lines(Sight sight, List<Expected> all) {
        int[] ids = all.stream().mapToInt(each -> each.pending().experiment()).toArray();
        return jdbc.sql("""
                        select o.position - 1 as position, p.code as project, e.code, e.title
                        from unnest(:experiments) with ordinality as o (experiment_id, position)
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        where in_sight(:seen, p.code)
                        order by o.position
                        """)
                .param("experiments", ids)
                .param("seen", sight.seen())
                .query((row, n) -> line(row, all.get(row.getInt("position"))))
                .list();
    }

    private static Line line(ResultSet row, Expected expected) throws SQLException {
        return new Line(
                row.getInt("position"),
                row.getString("project"),
                row.getString("code"),
                row.getString("title"),
                expected.pending().work().bytes(),
                expected.pending().uncertainty() > 0,
                expected.untilProbability(),
                expected.safeAt(),
                expected.pending().deadline(),
                1 - expected.deadlineProbability(),
                null);
    }

    /** Stores the forecast of a run, unless it has one. Nothing is stored if there is nothing to send. */
    @Transactional
    public void keep(long runId, Plan plan) {
        NightForecast forecast = forecast(plan);
        Outlook outlook = outlook(plan, forecast);
        if (outlook.experiments == 0 || !insert(runId, outlook)) {
            return;
        }
        List<Expected> all = first(forecast);
        template.batchUpdate(
                """
                insert into run_forecast_experiment (run_id, experiment_id, position, bytes, estimated, probability, safe_at,
                                                     deleted_at, deleted_probability)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                IntStream.range(0, all.size()).boxed().toList(),
                LINES_MAX,
                (row, i) -> set(row, runId, i, all.get(i)));
    }

    private static List<Expected> first(NightForecast forecast) {
        return forecast.experiments().stream().limit(LINES_MAX).toList();
    }

    private static void set(PreparedStatement row, long runId, int position, Expected expected) throws SQLException {
        row.setLong(1, runId);
        row.setInt(2, expected.pending().experiment());
        row.setInt(3, position);
        row.setLong(4, expected.pending().work().bytes());
        row.setBoolean(5, expected.pending().uncertainty() > 0);
        row.setDouble(6, expected.untilProbability());
        row.setTimestamp(7, timestamp(expected.safeAt()));
        row.setTimestamp(8, timestamp(expected.pending().deadline()));
        row.setDouble(9, 1 - expected.deadlineProbability());
    }

    private boolean insert(long runId, Outlook outlook) {
        return jdbc.sql("""
                        insert into run_forecast (run_id, made_at, until_at, nights, experiments, unknown, bytes,
                                                  bytes_low, bytes_middle, bytes_high,
                                                  experiments_low, experiments_middle, experiments_high,
                                                  safe_low, safe_middle, safe_high)
                        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        on conflict do nothing
                        """)
                        .params(
                                runId,
                                Timestamp.from(outlook.madeAt),
                                Timestamp.from(outlook.untilAt),
                                outlook.nights,
                                outlook.experiments,
                                outlook.unknown,
                                outlook.bytes,
                                outlook.verified.low(),
                                outlook.verified.middle(),
                                outlook.verified.high(),
                                outlook.safe.low(),
                                outlook.safe.middle(),
                                outlook.safe.high())
                        .param(timestamp(outlook.safeAt.low()))
                        .param(timestamp(outlook.safeAt.middle()))
                        .param(timestamp(outlook.safeAt.high()))
                        .update()
                == 1;
    }

    /** Returns the forecast of a run; empty: it is no night, or had nothing to send. */
    public Optional<Outlook> of(long runId) {
        return jdbc.sql("select * from run_forecast where run_id = :run")
                .param("run", runId)
                .query((row, n) -> new Outlook(
                        row.getTimestamp("made_at").toInstant(),
                        row.getTimestamp("until_at").toInstant(),
                        row.getInt("nights"),
                        row.getInt("experiments"),
                        row.getInt("unknown"),
                        row.getLong("bytes"),
                        new Range<>(row.getLong("bytes_low"), row.getLong("bytes_middle"), row.getLong("bytes_high")),
                        new Range<>(
                                row.getInt("experiments_low"),
                                row.getInt("experiments_middle"),
                                row.getInt("experiments_high")),
                        new Range<>(
                                Rows.instant(row, "safe_low"),
                                Rows.instant(row, "safe_middle"),
                                Rows.instant(row, "safe_high")),
                        row.getObject("bytes_verified") == null
                                ? null
                                : new Outcome(row.getLong("bytes_verified"), row.getInt("experiments_safe"))))
                .optional();
    }

    /** Returns the forecast of a run with its experiments; those are missing after the retention time. */
    public Optional<Made> of(Sight sight, long runId) {
        return of(runId).map(outlook -> new Made(outlook, lines(sight, runId), List.of()));
    }

    private List<Line> lines(Sight sight, long runId) {
        return jdbc.sql("""
                        select f.*, p.code as project, e.code, e.title
                        from run_forecast_experiment f
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        where f.run_id = :run and in_sight(:seen, p.code)
                        order by f.position
                        """)
                .param("run", runId)
                .param("seen", sight.seen())
                .query(Rows.of(Line.class))
                .list();
    }

    /** Compares the forecasts of windows that are over with what had become true by their end. */
    @Transactional
    public void compare() {
        List<Long> over = jdbc.sql("""
                        select run_id from run_forecast where bytes_verified is null and until_at <= :now
                        order by run_id for update skip locked
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .query((row, n) -> row.getLong(1))
                .list();
        over.forEach(this::compare);
    }

    private void compare(long runId) {
        jdbc.sql("""
                        update run_forecast_experiment f
                        set safe = exists (select from coverage c
                                           where c.experiment_id = f.experiment_id and c.site_id = r.site_id
                                             and c.since <= o.until_at and c.until > o.until_at and c.entries = c.entries_safe)
                        from run_forecast o join run r using (run_id)
                        where f.run_id = :run and o.run_id = f.run_id
                        """).param("run", runId).update();
        jdbc.sql("""
                        update run_forecast o
                        set experiments_safe = (select count(*) from run_forecast_experiment f where f.run_id = o.run_id and f.safe),
                            bytes_verified = (
                                select coalesce(sum(u.length_bytes), 0)
                                from run_forecast_experiment f join transfer_unit u using (run_id, experiment_id)
                                where f.run_id = o.run_id and u.state = 'VERIFIED'
                                  and exists (select from receipt e
                                              where e.experiment_id = u.experiment_id and e.site_id = u.site_id
                                                and e.unit_id = u.unit_id and e.verified_at <= o.until_at))
                        where o.run_id = :run
                        """).param("run", runId).update();
    }

    private NightForecast forecast(Plan plan) {
        return NightForecast.of(
                plan.ordered(),
                plan.speed(),
                plan.hours(),
                plan.hours()
                        .windowEnd(
                                plan.hours().begin(),
                                nights.next(plan.site(), plan.hours().begin())));
    }

    private Outlook outlook(Plan plan, NightForecast forecast) {
        return new Outlook(
                forecast.begin(),
                forecast.until(),
                plan.speed().nights(),
                plan.ordered().size(),
                plan.unknown().size(),
                forecast.bytes(),
                forecast.bytesUntil(),
                forecast.experimentsUntil(),
                forecast.safeAt(),
                null);
    }

    private List<Night> nights(Plan plan) {
        Stream<Instant> ends = plan.hours().windowEnds(begin -> nights.next(plan.site(), begin), NIGHTS_MAX);
        return NightForecast.nights(plan.ordered(), plan.speed(), plan.hours(), ends);
    }

    private static @Nullable Timestamp timestamp(@Nullable Instant moment) {
        return moment == null ? null : Timestamp.from(moment);
    }
}
