package dozo.run;

import dozo.file.Message;
import dozo.ledger.Findings;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Part;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes.LaneTraffic;
import dozo.transfer.TransferUnits;
import dozo.transfer.TransferUnits.PartitionProgress;
import dozo.transfer.TransferUnits.Progress;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The runs: who requested them, their progress, and how they ended. */
@Component
public class Runs {

    private static final RowMapper<Run> RUN = (row, n) -> new Run(
            row.getLong("run_id"),
            RunKind.of(row.getString("kind")),
            row.getString("site"),
            row.getInt("site_id"),
            RunState.valueOf(row.getString("state")),
            row.getString("requested_by"),
            row.getTimestamp("started_at").toInstant(),
            Rows.instant(row, "ended_at"),
            row.getString("message"),
            row.getLong("findings"),
            row.getString("paused_by"),
            Rows.instant(row, "paused_at"),
            row.getString("stopped_by"),
            row.getObject("retry_of", Long.class),
            row.getString("from_site"),
            new Part(row.getString("part_project"), row.getString("part_origin")));

    private static final String SELECT = """
            select r.*, s.name as site, o.name as from_site,
                   case when in_sight(:seen, of_project.code) then of_project.code end as part_project,
                   case when :seen::text[] is null then of_origin.name end as part_origin,
                   least(%1$d, (
                       select count(*)
                       from (
                           select from run_finding l
                           where l.run_id = r.run_id
                             and (:seen::text[] is null or exists (
                                     select from finding f join experiment e using (experiment_id) join project p using (project_id)
                                     where f.finding_id = l.finding_id and p.code = any(:seen::text[])))
                           limit %1$d
                       ) found) + (
                       select coalesce(sum(k.findings), 0)
                       from run_sum k left join project p using (project_id)
                       where k.run_id = r.run_id and in_sight(:seen, p.code))) as findings
            from run r join site s using (site_id) left join site o on o.site_id = r.from_site_id
            left join project of_project on of_project.project_id = r.part_project_id
            left join origin of_origin on of_origin.origin_id = r.part_origin_id
            """.formatted(Findings.COUNTED_MAX + 1);

    private final JdbcClient jdbc;
    private final Scrubs scrubs;
    private final Retries retries;
    private final Replications replications;
    private final TransferUnits units;
    private final Senders senders;
    private final Findings findings;
    private final Ledger ledger;
    private final TransferSettings settings;
    private final InstantSource clock;

    public enum RunKind {
        NIGHTLY_BACKUP("nightlyBackup"),
        /** A backup of only those experiments that have open findings in an earlier run. */
        RETRY("retry"),
        /** A backup of only those experiments that a user named. */
        CHOSEN("chosen"),
        /** A copy of experiments from one site to another. */
        REPLICATION("replication"),
        SCRUB("scrub"),
        /** Source files that have not changed are read again. */
        HOME_SCRUB("homeScrub"),
        /** The catalogue is rebuilt from a site. No job of the service: the command that began it works on it. */
        REBUILD("rebuild");

        private final String code;

        RunKind(String code) {
            this.code = code;
        }

        /** Returns its name in the catalogue and in the ledger. In REST it is the constant's name. */
        public String code() {
            return code;
        }

        /** Returns whether it only reads again; it makes way for a night. */
        public boolean isScrub() {
            return this == SCRUB || this == HOME_SCRUB;
        }

        static RunKind of(String code) {
            return Arrays.stream(values())
                    .filter(kind -> kind.code.equals(code))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("unknown kind of run: " + code));
        }
    }

    public enum RunState {
        RUNNING,
        /** It begins nothing until a user resumes it. */
        PAUSED,
        /** It did everything, without findings. */
        COMPLETE,
        /** It finished with findings: not everything is safe. */
        FINDINGS,
        /** It could not continue; what it had done stays done. */
        FAILED,
        /** A user stopped it, or a scrub made way for a night. */
        STOPPED
    }

    /**
     * One run.
     *
     * @param message why it failed, or what it waits for; empty otherwise
     * @param findings the number so far; one more than {@link Findings#COUNTED_MAX} means more
     * @param pausedBy null unless it is paused
     * @param stoppedBy who first asked it to stop; null: nobody
     * @param retryOf the run whose findings it retries; null if it is not a retry
     * @param from the name of the site that it reads; null if it is not a replication
     * @param part the experiments of a night; whole for every other kind of run, and for users who do not see its project, or
     *     for an origin not everything
     */
    public record Run(
            long id,
            RunKind kind,
            String site,
            int siteId,
            RunState state,
            String requestedBy,
            Instant startedAt,
            @Nullable Instant endedAt,
            String message,
            long findings,
            @Nullable String pausedBy,
            @Nullable Instant pausedAt,
            @Nullable String stoppedBy,
            @Nullable Long retryOf,
            @Nullable String from,
            Part part) {

        /** Returns whether it ends as soon as its current work is finished. */
        public boolean stops() {
            return goesOn() && stoppedBy != null;
        }

        /** Returns whether it is paused until its site opens; the timetable resumes it. */
        public boolean isClosed() {
            return state == RunState.PAUSED && Ledger.SYSTEM.equals(pausedBy);
        }

        /** Returns whether it is running or paused; then no other run can be opened. */
        public boolean goesOn() {
            return endedAt == null;
        }
    }

    Runs(
            JdbcClient jdbc,
            Scrubs scrubs,
            Retries retries,
            Replications replications,
            TransferUnits units,
            Senders senders,
            Findings findings,
            Ledger ledger,
            TransferSettings settings,
            InstantSource clock) {
        this.jdbc = jdbc;
        this.scrubs = scrubs;
        this.retries = retries;
        this.replications = replications;
        this.units = units;
        this.senders = senders;
        this.findings = findings;
        this.ledger = ledger;
        this.settings = settings;
        this.clock = clock;
    }

    /** Opens a run; refuses if one is active. */
    @Transactional
    public Run open(RunKind kind, Site site, String requestedBy) {
        return open(kind, site, Part.WHOLE, requestedBy, null, null);
    }

    /** Opens a night of a part of the experiments; refuses if a run is active. */
    @Transactional
    public Run openNight(Site site, Part part, String requestedBy) {
        return open(RunKind.NIGHTLY_BACKUP, site, part, requestedBy, null, null);
    }

    private Run open(
            RunKind kind, Site site, Part part, String requestedBy, @Nullable Long retryOf, @Nullable Site from) {
        try {
            long id = jdbc.sql("""
                            insert into run (kind, site_id, state, requested_by, started_at, retry_of, from_site_id, part_project_id, part_origin_id)
                            values (:kind, :site, 'RUNNING', :by, :now, :retryOf, :from,
                                    (select project_id from project where code = :project),
                                    (select origin_id from origin where name = :origin))
                            returning run_id
                            """)
                    .param("from", from == null ? null : from.id(), Types.INTEGER)
                    .param("retryOf", retryOf, Types.BIGINT)
                    .param("project", part.project(), Types.VARCHAR)
                    .param("origin", part.origin(), Types.VARCHAR)
                    .param("kind", kind.code())
                    .param("site", site.id())
                    .param("by", requestedBy)
                    .param("now", Timestamp.from(clock.instant()))
                    .query((row, n) -> row.getLong(1))
                    .single();
            Map<String, Object> detail = new HashMap<>(Map.of("site", site.name(), "kind", kind.code()));
            if (retryOf != null) {
                detail.put("retry_of", retryOf);
            }
            if (from != null) {
                detail.put("from", from.name());
            }
            if (!part.isWhole()) {
                detail.put("part", part.text());
            }
            ledger.append(requestedBy, "run.started", String.valueOf(id), detail);
            return find(id).orElseThrow();
        } catch (DuplicateKeyException e) {
            throw Refusal.conflict(
                    "run", "another run is active; only one can run at a time; try again when it has ended");
        }
    }

    /** Opens a scrub with its request; refuses if a run is active. */
    @Transactional
    public Run openScrub(Site site, ScrubRequest request, String requestedBy) {
        Run run = open(request.home() ? RunKind.HOME_SCRUB : RunKind.SCRUB, site, requestedBy);
        scrubs.add(run.id(), request, run.startedAt(), settings.partitions());
        return run;
    }

    /** Opens a retry of the experiments that have open findings in a run; refuses if a run is active, or there are none. */
    @Transactional
    public Run openRetry(Site site, long of, String requestedBy) {
        Run run = open(RunKind.RETRY, site, Part.WHOLE, requestedBy, of, null);
        retries.check(of);
        retries.choose(run.id(), of);
        return run;
    }

    /** Opens a backup of these experiments only; refuses if a run is active. */
    @Transactional
    public Run openChosen(Site site, int[] experiments, String requestedBy) {
        Run run = open(RunKind.CHOSEN, site, requestedBy);
        retries.choose(run.id(), experiments);
        return run;
    }

    /** Opens a replication with its experiments; refuses if a run is active, or there is nothing to copy. */
    @Transactional
    public Run openReplication(ReplicationRequest request, String requestedBy) {
        Replications.Asked asked = replications.checked(request);
        Run run = open(RunKind.REPLICATION, asked.to(), Part.WHOLE, requestedBy, null, asked.from());
        replications.choose(run.id(), asked);
        return run;
    }

    /**
     * Records that a run must begin nothing until it is resumed.
     *
     * @throws Refusal if it is not running, or is stopping
     */
    @Transactional
    public void pause(long id, String requestedBy) {
        if (!change(id, RunState.RUNNING, RunState.PAUSED, requestedBy, "run.paused")) {
            throw Refusal.conflict(
                    "run",
                    find(id).filter(run -> run.state() == RunState.PAUSED)
                            .map(Runs::pausedWords)
                            .orElseGet(() -> Message.of("run %d is not running", id)));
        }
    }

    /**
     * Records that a paused run may continue.
     *
     * @throws Refusal if it is not paused, or is stopping
     */
    @Transactional
    public void resume(long id, String requestedBy) {
        if (!change(id, RunState.PAUSED, RunState.RUNNING, requestedBy, "run.resumed")) {
            throw Refusal.conflict("run", "run %d is not paused", id);
        }
    }

    /** Returns false if the run is not in the state before. */
    private boolean change(long id, RunState before, RunState after, String requestedBy, String action) {
        boolean pauses = after == RunState.PAUSED;
        int changed = jdbc.sql("""
                        update run set state = :after, paused_by = :by, paused_at = :now
                        where run_id = :run and state = :before and stopped_by is null
                        """)
                .param("before", before.name())
                .param("after", after.name())
                .param("by", pauses ? requestedBy : null, Types.VARCHAR)
                .param("now", pauses ? Timestamp.from(clock.instant()) : null, Types.TIMESTAMP)
                .param("run", id)
                .update();
        if (changed == 0) {
            refuseStopping(id);
            return false;
        }
        ledger.append(requestedBy, action, String.valueOf(id), Map.of("before", before, "after", after));
        return true;
    }

    /** Refuses to pause or resume a run that was asked to stop. */
    void refuseStopping(long id) {
        if (find(id).filter(Run::stops).isPresent()) {
            throw Refusal.conflict("run", "run %d is stopping", id);
        }
    }

    /**
     * Records that a run must stop, paused or not: no process continues it.
     *
     * @throws Refusal if it has ended
     */
    @Transactional
    public void stop(long id, String requestedBy) {
        int stopping = jdbc.sql("""
                        update run set stopped_by = coalesce(stopped_by, :by) where run_id = :run and ended_at is null
                        """).param("by", requestedBy).param("run", id).update();
        if (stopping == 0) {
            throw Refusal.conflict("run", "run %d is not running", id);
        }
        ledger.append(requestedBy, "run.stopping", String.valueOf(id), Map.of());
    }

    /** Returns the message that a run is paused, by whom and since when. */
    static Message pausedWords(Run run) {
        if (run.isClosed()) {
            return Message.of("run %d waits until site %s is open", run.id(), run.site());
        }
        return Message.of(
                "run %d was paused by %s at %s",
                run.id(), Objects.requireNonNull(run.pausedBy()), Objects.requireNonNull(run.pausedAt()));
    }

    /**
     * Closes a run, unless it is closed already. It ends at its start if the clock was set back since. COMPLETE becomes FINDINGS if there are any. A run that finished
     * supersedes earlier findings, because it has checked their items again.
     */
    @Transactional
    public void close(long id, RunState state, String message) {
        long found = findings.count(id);
        RunState end = state == RunState.COMPLETE && found > 0 ? RunState.FINDINGS : state;
        int closed = jdbc.sql("""
                        update run
                            set state = :state, ended_at = greatest(started_at, :now), message = :message, paused_by = null, paused_at = null
                        where run_id = :run and ended_at is null
                        """)
                .param("state", end.name())
                .param("now", Timestamp.from(clock.instant()))
                .param("message", message)
                .param("run", id)
                .update();
        if (closed > 0) {
            units.total(id);
            if (state == RunState.COMPLETE) {
                findings.supersede(id);
            } else {
                findings.ended(id);
            }
            // Without the message: an error's text may quote a file's name.
            ledger.append(Ledger.SYSTEM, "run.ended", String.valueOf(id), Map.of("state", end, "findings", found));
        }
    }

    /** Sets the message of an active run until the next one; empty: no message. */
    public void say(long id, String message) {
        jdbc.sql("update run set message = :message where run_id = :run and ended_at is null")
                .param("message", message)
                .param("run", id)
                .update();
    }

    private StatementSpec selected(Sight sight, String which) {
        return jdbc.sql(SELECT + which).param("seen", sight.seen());
    }

    public Optional<Run> find(long id) {
        return find(Sight.EVERYTHING, id);
    }

    /** Returns a run with the number of its visible findings. */
    public Optional<Run> find(Sight sight, long id) {
        return selected(sight, "where run_id = :run")
                .param("run", id)
                .query(RUN)
                .optional();
    }

    /** Returns the active run if it is not paused. */
    public Optional<Run> running() {
        return goingOn().filter(run -> run.state() == RunState.RUNNING);
    }

    /** Returns the run that has not ended: it is running, or paused. */
    public Optional<Run> goingOn() {
        return selected(Sight.EVERYTHING, "where r.ended_at is null").query(RUN).optional();
    }

    public Optional<Run> latest() {
        return latest(Sight.EVERYTHING);
    }

    /** Returns the run that was started last, with the number of its visible findings. */
    public Optional<Run> latest(Sight sight) {
        return selected(sight, "order by run_id desc limit 1").query(RUN).optional();
    }

    /** Returns the run of these kinds that was started last, with the number of its visible findings; site null: at any site. */
    public Optional<Run> latest(Sight sight, @Nullable Integer site, RunKind... kinds) {
        String last =
                "where r.kind = any(:kinds) and (:site::integer is null or r.site_id = :site) order by run_id desc limit 1";
        return selected(sight, last)
                .param("kinds", Arrays.stream(kinds).map(RunKind::code).toArray(String[]::new))
                .param("site", site)
                .query(RUN)
                .optional();
    }

    /** Returns the backup that was started last, a chosen one only while it goes on or if there is no other, with the number of its visible findings. */
    public Optional<Run> latestBackup(Sight sight) {
        return selected(sight, """
                where r.kind in ('nightlyBackup', 'retry', 'chosen')
                order by r.kind = 'chosen' and r.ended_at is not null, run_id desc limit 1
                """).query(RUN).optional();
    }

    /** Returns the nights and other backups that were started in a time, the first first, with the number of their visible findings. */
    public List<Run> backups(Sight sight, Instant from, Instant until) {
        return selected(sight, """
                where r.kind in ('nightlyBackup', 'retry', 'chosen') and r.started_at >= :from and r.started_at < :until
                order by run_id
                """)
                .param("from", Timestamp.from(from))
                .param("until", Timestamp.from(until))
                .query(RUN)
                .list();
    }

    /** Returns at most {@code limit} runs with an id below {@code before}, latest first, with the number of visible findings. */
    public List<Run> page(Sight sight, long before, int limit) {
        return selected(sight, "where run_id < :before order by run_id desc limit :limit")
                .param("before", before)
                .param("limit", limit)
                .query(RUN)
                .list();
    }

    /**
     * Returns the progress of a run in what the user may see. The bytes that the engine has moved are not known by
     * project: they are 0 unless everything is visible.
     */
    public Progress progress(Sight sight, long id) {
        return units.progress(sight, id).moved(sight.ofEverything() ? senders.bytesMoved(id) : 0);
    }

    /** Returns the progress of each partition of a run in what the user may see; by number. */
    public List<PartitionProgress> partitions(Sight sight, long id) {
        return units.partitions(sight, id);
    }

    /** Returns the content bytes that a run's engine has sent in this process; 0 without an engine. */
    public long bytesMoved(long id) {
        return senders.bytesMoved(id);
    }

    /** Returns what each open lane of a run's engine in this process has moved; empty without an engine. */
    public List<LaneTraffic> laneTraffic(long id) {
        return senders.laneTraffic(id);
    }
}
