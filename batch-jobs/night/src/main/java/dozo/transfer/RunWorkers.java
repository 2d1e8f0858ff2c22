package dozo.transfer;

import dozo.file.Build;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The workers of runs and their leases, by the database's clock: the service, and worker processes that have joined (ADR
 * 0080). A worker's number only grows and is therefore also a fencing number: a report about something that another
 * has taken over is ignored (ADR 0054).
 */
@Component
public class RunWorkers {

    /** A caller that waits cannot renew its own lease. */
    private static final Duration LOCK_LIMIT = Duration.ofSeconds(2);

    /** A run that workers of the same version and commit may join: it goes on, and its service works on it. */
    private static final String OPEN = """
            r.ended_at is null and r.state = 'RUNNING' and r.stopped_by is null
            and (select w.version = :version and not w.ended from run_worker w
                 where w.run_id = r.run_id and not w.joined
                 order by w.worker_id desc limit 1)
            """;

    private final JdbcClient jdbc;
    private final Ledger ledger;

    /**
     * A worker on another machine that has joined a run.
     *
     * @param worker its number
     * @param ended whether it has left, or its lease has expired
     * @param replaced whether its lease had expired, and others have taken over what it had claimed
     * @param bytesMoved content that it has sent, repeated bytes included
     * @param entriesProven files, folders and links of which it has recorded receipts
     * @param bottleneck what holds it back now, or did last: a name as of those of the run; empty: nothing was ever under way
     * @param note what a person should know about it; empty: nothing
     */
    public record RunWorker(
            long worker,
            String host,
            Instant beganAt,
            boolean ended,
            boolean replaced,
            long bytesMoved,
            long entriesProven,
            String bottleneck,
            String note) {}

    /**
     * What one worker knows of the others of its run.
     *
     * @param alive those with a lease
     * @param lost those whose lease has expired, and from whom nobody has taken over yet
     * @param bytesMoved content that others than the service have sent, dead ones included
     * @param entriesProven entries that they have proven
     */
    public record Others(int alive, int lost, long bytesMoved, long entriesProven) {

        public static final Others NONE = new Others(0, 0, 0, 0);

        /** Returns the same, with what was sent and proven since an earlier moment. */
        public Others since(Others earlier) {
            return new Others(alive, lost, bytesMoved - earlier.bytesMoved, entriesProven - earlier.entriesProven);
        }
    }

    /** A worker from which another takes over. */
    private record Dead(long worker, String host) {}

    /** What a worker had claimed. */
    private record Freed(int units, int looks, int settlings) {}

    public RunWorkers(JdbcClient jdbc, Ledger ledger) {
        this.jdbc = jdbc;
        this.ledger = ledger;
    }

    /**
     * Registers a worker of a run and returns its number.
     *
     * @param joined whether it is a worker process of its own
     * @return 0: it may not join, because the run was asked to stop or pause, ends or has ended
     */
    @Transactional
    public long enlist(long runId, String host, boolean joined) {
        // Until the end of the transaction, neither are all workers dismissed nor is the run stopped.
        lock(runId, "share");
        return jdbc.sql("""
                        insert into run_worker (run_id, host, joined, version, began_at, lease_until)
                        select :run, :host, :joined, :version, now(), now() + lease_millis * interval '1 ms' from service_lease
                        where not :joined or exists (select from run r where r.run_id = :run and %s)
                        returning worker_id
                        """.formatted(OPEN))
                .param("run", runId)
                .param("host", host)
                .param("joined", joined)
                .param("version", Build.VERSION)
                .query(Long.class)
                .optional()
                .orElse(0L);
    }

    private void lock(long runId, String strength) {
        jdbc.sql("select from run where run_id = :run for %s".formatted(strength))
                .param("run", runId)
                .query()
                .listOfRows();
    }

    /**
     * Renews a lease from now on, also an expired one, and records what the worker has done.
     *
     * @param bottleneck what holds it back now; empty: nothing that is known, and the last one stays
     * @return its length from now on; empty if others have taken over: nothing of this worker counts any more
     */
    public Optional<Duration> renew(long worker, long bytesMoved, long entriesProven, String bottleneck) {
        return jdbc.sql("""
                        update run_worker
                        set lease_until = now() + lease_millis * interval '1 ms', bytes_moved = :bytes, entries_proven = :entries,
                            bottleneck = coalesce(nullif(:bottleneck, ''), bottleneck)
                        from service_lease
                        where worker_id = :worker and not ended
                        returning lease_millis
                        """)
                .param("bytes", bytesMoved)
                .param("entries", entriesProven)
                .param("bottleneck", bottleneck)
                .param("worker", worker)
                .query(Long.class)
                .optional()
                .map(Duration::ofMillis);
    }

    /**
     * Returns how long a worker may be without the database or the link before another takes over: as long as the active
     * service.
     */
    public Duration lease() {
        return Duration.ofMillis(jdbc.sql("select lease_millis from service_lease")
                .query(Long.class)
                .single());
    }

    /** Sets what a person should know about a worker. */
    public void note(long worker, String note) {
        jdbc.sql("update run_worker set note = :note where worker_id = :worker")
                .param("note", note)
                .param("worker", worker)
                .update();
    }

    /** Ends the leases of all earlier services of a run: they are known to be dead. Workers that have joined go on. */
    public void endServices(long runId) {
        jdbc.sql("update run_worker set ended = true where run_id = :run and not joined and not ended")
                .param("run", runId)
                .update();
    }

    /** Ends the leases of all workers of a run. No others join it, unless its service begins again. */
    @Transactional
    public void endAll(long runId) {
        // NB: in a statement of its own, so that the next one sees whoever has just joined.
        lock(runId, "no key update");
        jdbc.sql("update run_worker set ended = true where run_id = :run and not ended")
                .param("run", runId)
                .update();
    }

    /** Ends a lease: the worker has left its run and sends nothing more. Others take over what it has not finished. */
    @Transactional
    public void leave(long worker) {
        jdbc.sql(
                        "update run_worker set ended = true, lease_until = least(lease_until, now()) where worker_id = :worker")
                .param("worker", worker)
                .update();
        free(worker);
    }

    /**
     * Ends the expired leases of a run, frees what those workers had claimed, and records it. Does not touch the caller's.
     *
     * @throws org.springframework.dao.DataAccessException if a transaction of a dead worker is still open at the server: try
     * again, and renew the own lease meanwhile
     */
    @Transactional
    public void takeOver(long runId, long worker) {
        jdbc.sql("set local lock_timeout = %d".formatted(LOCK_LIMIT.toMillis())).update();
        List<Dead> dead = jdbc.sql("""
                        update run_worker set ended = true, replaced = true
                        where run_id = :run and worker_id <> :worker and lease_until < now() and not ended
                        returning worker_id as worker, host
                        """)
                .param("run", runId)
                .param("worker", worker)
                .query(Rows.of(Dead.class))
                .list();
        // NB: the ledger comes last, as where workers record results. Otherwise two transactions could wait for each
        // other.
        List<Freed> freed = dead.stream().map(each -> free(each.worker)).toList();
        for (int i = 0; i < dead.size(); i++) {
            record(runId, dead.get(i), freed.get(i), worker);
        }
        freeOfEnded(runId);
    }

    private void record(long runId, Dead dead, Freed freed, long by) {
        String host = jdbc.sql("select host from run_worker where worker_id = :worker")
                .param("worker", by)
                .query(String.class)
                .single();
        ledger.append(
                Ledger.SYSTEM,
                "worker.replaced",
                String.valueOf(runId),
                Map.of(
                        "worker", dead.worker,
                        "host", dead.host,
                        "units", freed.units,
                        "looks", freed.looks,
                        "settlings", freed.settlings,
                        "by", by,
                        "by_host", host));
    }

    /** Frees everything that workers had claimed whose leases have ended. */
    public void freeOfEnded(long runId) {
        jdbc.sql("select worker_id from run_worker where run_id = :run and ended")
                .param("run", runId)
                .query(Long.class)
                .list()
                .forEach(this::free);
    }

    private Freed free(long worker) {
        return new Freed(
                free(
                        worker,
                        "update transfer_unit set worker_id = null where state = 'PLANNED' and worker_id = :worker"),
                free(worker, "update offered_look set worker_id = null where worker_id = :worker"),
                free(worker, "delete from settling where worker_id = :worker"));
    }

    private int free(long worker, String statement) {
        return jdbc.sql(statement).param("worker", worker).update();
    }

    /** Returns whether a worker process may still send for a run: it has not left, and its lease has not expired. */
    public boolean joined(long runId) {
        return jdbc.sql("select exists (select from run_worker where run_id = :run and joined and lease_until > now())")
                .param("run", runId)
                .query(Boolean.class)
                .single();
    }

    /** Returns whether the workers of a run may begin something new. */
    public boolean goesOn(long runId) {
        return jdbc.sql("""
                        select exists (select from run
                                       where run_id = :run and ended_at is null and state = 'RUNNING' and stopped_by is null)
                        """).param("run", runId).query(Boolean.class).single();
    }

    /** Returns what a worker should know of the others of its run. */
    public Others others(long runId, long worker) {
        return jdbc.sql("""
                        select count(*) filter (where worker_id <> :worker and not ended and lease_until >= now()) as alive,
                               count(*) filter (where worker_id <> :worker and not ended and lease_until < now()) as lost,
                               coalesce(sum(bytes_moved) filter (where joined), 0) as bytes_moved,
                               coalesce(sum(entries_proven) filter (where joined), 0) as entries_proven
                        from run_worker where run_id = :run
                        """)
                .param("run", runId)
                .param("worker", worker)
                .query(Rows.of(Others.class))
                .single();
    }

    /** Returns the workers that have joined a run, the earliest first; not the service. */
    public List<RunWorker> of(long runId) {
        return jdbc.sql("""
                        select worker_id as worker, host, began_at, ended or lease_until < now() as ended, replaced,
                               bytes_moved, entries_proven, bottleneck, note
                        from run_worker where run_id = :run and joined order by worker_id
                        """).param("run", runId).query(Rows.of(RunWorker.class)).list();
    }

    /**
     * Returns the run that a worker of this version may join: its service works on it, and not all is looked at, sent or claimed.
     * 0: there is none.
     */
    public long open() {
        return jdbc.sql("""
                        select coalesce(max(r.run_id), 0) from run r
                        where %s
                          and r.from_site_id is null and r.kind in ('nightlyBackup', 'retry', 'chosen')
                          and (r.looked_at is null
                               or exists (select from transfer_unit u
                                          where u.run_id = r.run_id and u.state = 'PLANNED' and u.worker_id is null
                                            and not u.for_service))
                        """.formatted(OPEN))
                .param("version", Build.VERSION)
                .query(Long.class)
                .single();
    }

    /** Returns the version of the service of a run that another version keeps this program from joining; empty: none. */
    public String otherVersion() {
        return jdbc.sql("""
                        select coalesce(max(w.version), '') from run r cross join lateral (
                            select version from run_worker where run_id = r.run_id and not joined
                            order by worker_id desc limit 1) w
                        where r.ended_at is null and w.version <> :version
                        """).param("version", Build.VERSION).query(String.class).single();
    }
}
