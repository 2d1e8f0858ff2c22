package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.verify.HomeReadings;
import dozo.verify.Readings;
import dozo.verify.Readings.Age;
import dozo.verify.Readings.Standing;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Whether the promise is kept that no stored copy's last reading is older than the setting allows. */
@Component
public class Promises {

    private static final RowMapper<Promise> PROMISE = Rows.of(Promise.class);

    private final JdbcClient jdbc;
    private final Readings readings;
    private final HomeReadings home;
    private final ScrubSettings settings;
    private final InstantSource clock;

    /**
     * The state of the promise. A copy that was never read again counts from its verification.
     *
     * @param oldestReadAt null: nothing is stored
     * @param files the number of stored files, including copies of earlier manifests, with {@code bytes}
     * @param filesRead the number of files read within the promised age, with {@code bytesRead}
     * @param damaged the number of copies found damaged and not repaired
     */
    public record Promise(
            long maxAgeSeconds,
            @Nullable Instant oldestReadAt,
            long files,
            long filesRead,
            long bytes,
            long bytesRead,
            long damaged) {

        /**
         * Returns the share that was read within the promised age, in percent of bytes, or of files if all bytes were.
         * Rounded down.
         */
        public int percent() {
            if (filesRead >= files && bytesRead >= bytes) {
                return 100;
            }
            long done = bytesRead < bytes ? bytesRead : filesRead;
            long whole = bytesRead < bytes ? bytes : files;
            return (int) Math.min(99, 100.0 * Math.max(0, done) / whole);
        }
    }

    /**
     * The state of the promise for unchanged source files.
     *
     * @param maxAgeSeconds 0: they are not read again
     * @param oldestReadAt when the file whose last reading is the oldest was read, or its manifest was sealed; null: there is none
     * @param kept whether that is not longer ago than promised
     */
    public record HomePromise(long maxAgeSeconds, @Nullable Instant oldestReadAt, boolean kept) {}

    public record ExperimentPromise(int experimentId, String project, String code, Promise promise) {}

    Promises(JdbcClient jdbc, Readings readings, HomeReadings home, ScrubSettings settings, InstantSource clock) {
        this.jdbc = jdbc;
        this.readings = readings;
        this.home = home;
        this.settings = settings;
        this.clock = clock;
    }

    public Promise at(int siteId) {
        return at(Sight.EVERYTHING, siteId);
    }

    /** Returns the state at a site for what the user may see. */
    public Promise at(Sight sight, int siteId) {
        Standing standing = readings.site(sight, siteId, since());
        return new Promise(
                settings.maxAge().toSeconds(),
                standing.oldest(),
                standing.files(),
                standing.filesRead(),
                standing.bytes(),
                standing.bytesRead(),
                standing.damaged());
    }

    /** Returns the state for the sources of all experiments. */
    public HomePromise home() {
        Instant oldest = home.oldest().orElse(null);
        boolean late = oldest != null
                && !settings.homeAge().isZero()
                && oldest.isBefore(clock.instant().minus(settings.homeAge()));
        return new HomePromise(settings.homeAge().toSeconds(), oldest, !late);
    }

    /** Returns how much of a site was last read on each day, the oldest first. */
    public List<Age> ages(int siteId) {
        try (Stream<Age> ages = readings.ages(siteId)) {
            return ages.toList();
        }
    }

    /** Returns the state for at most {@code limit} visible experiments with an id above {@code after}, by id. */
    public List<ExperimentPromise> experiments(Sight sight, int siteId, int after, int limit) {
        return jdbc.sql("""
                        select e.experiment_id, p.code as project, e.code, :maxAge as max_age_seconds, s.*, d.damaged
                        from experiment e
                        join project p using (project_id)
                        cross join lateral (
                            select min(last_read_at) as oldest_read_at,
                                   coalesce(sum(files), 0) as files, coalesce(sum(bytes), 0) as bytes,
                                   coalesce(sum(files) filter (where last_read_at >= :since), 0) as files_read,
                                   coalesce(sum(bytes) filter (where last_read_at >= :since), 0) as bytes_read
                            from stored where experiment_id = e.experiment_id and site_id = :site
                        ) s
                        cross join lateral (
                            select count(*) as damaged from open_damage
                            where experiment_id = e.experiment_id and site_id = :site
                        ) d
                        where e.experiment_id > :after and in_sight(:seen, p.code)
                        order by e.experiment_id
                        limit :limit
                        """)
                .param("maxAge", settings.maxAge().toSeconds())
                .param("site", siteId)
                .param("since", Timestamp.from(since()))
                .param("seen", sight.seen())
                .param("after", after)
                .param("limit", limit)
                .query((row, n) -> new ExperimentPromise(
                        row.getInt("experiment_id"),
                        row.getString("project"),
                        row.getString("code"),
                        requireNonNull(PROMISE.mapRow(row, n))))
                .list();
    }

    /**
     * Stops counting the readings at a site that are {@link Timetable#isAhead ahead}: they would delay the next ones. Returns the
     * number of receipts.
     */
    public int distrustAhead(int siteId) {
        Instant now = clock.instant();
        return readings.distrust(siteId, now.plus(Timetable.AHEAD_MAX), now);
    }

    private Instant since() {
        return clock.instant().minus(settings.maxAge());
    }
}
