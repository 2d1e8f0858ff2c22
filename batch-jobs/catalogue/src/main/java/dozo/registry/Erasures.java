package dozo.registry;

import dozo.file.Message;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Erasures of experiments: requested by one person, approved by another, begun by a night after a waiting time. Nothing here
 * removes anything (ADR 0093).
 */
@Component
@EnableConfigurationProperties(ErasureSettings.class)
public class Erasures {

    private static final String SELECT = """
            select x.erasure_id as id, p.code as project, x.code as experiment, x.reason, x.requested_by, x.requested_at, x.approved_by,
                   x.approved_at, x.not_before, x.withdrawn_by, x.withdrawn_at, x.begun_at, x.manifests, x.files, x.bytes, x.receipts,
                   x.completed_at, x.message,
                   case when x.withdrawn_at is not null then 'WITHDRAWN' when x.completed_at is not null then 'ERASED'
                        when x.begun_at is not null then 'ERASING' when x.approved_at is not null then 'APPROVED'
                        else 'REQUESTED' end as state
            from erasure x join project p using (project_id)
            """;

    private static final RowMapper<Erasure> ERASURE = Rows.of(Erasure.class);

    private final JdbcClient jdbc;
    private final Holds holds;
    private final Ledger ledger;
    private final ErasureSettings settings;
    private final InstantSource clock;

    /** How far an erasure is. */
    public enum State {
        /** A second person has to approve it. */
        REQUESTED,
        /** Its waiting time goes by, or the next night begins it. */
        APPROVED,
        /** It was withdrawn before it began. */
        WITHDRAWN,
        /** The experiment is erased in the catalogue, and not yet at every site. */
        ERASING,
        /** Nothing of it is left at any site. */
        ERASED
    }

    /**
     * An erasure.
     *
     * @param experiment the experiment's code, which is never given again once the erasure has begun
     * @param approvedBy missing: nobody has approved it
     * @param notBefore the end of its waiting time
     * @param begunAt when the experiment was erased in the catalogue
     * @param manifests how many the experiment had when it began
     * @param files of the last manifest
     * @param bytes the size of these files
     * @param receipts of all sites
     * @param completedAt when nothing of it was left at any site
     * @param message why it has not begun although its waiting time is over; empty: it has, or it is not
     */
    public record Erasure(
            long id,
            String project,
            String experiment,
            State state,
            String reason,
            String requestedBy,
            Instant requestedAt,
            @Nullable String approvedBy,
            @Nullable Instant approvedAt,
            @Nullable Instant notBefore,
            @Nullable String withdrawnBy,
            @Nullable Instant withdrawnAt,
            @Nullable Instant begunAt,
            @Nullable Integer manifests,
            @Nullable Long files,
            @Nullable Long bytes,
            @Nullable Long receipts,
            @Nullable Instant completedAt,
            String message) {

        /** Returns {@code PROJECT/EXPERIMENT}. */
        public String subject() {
            return project + "/" + experiment;
        }
    }

    /**
     * How far an erasure is at a site.
     *
     * @param files what receipts said to be there when it began, with earlier versions
     * @param bytes the size of these files
     * @param triedAt when a night last tried
     * @param message why that did not remove everything; empty: it did, or nothing was tried
     * @param removedAt when its folders were gone
     * @param statedBy who stated that nothing is left there; missing: Dozo has seen it
     * @param statedReason that person's reason
     * @param doneAt when nothing of it was left, also in records of the catalogue
     */
    public record ErasureAtSite(
            String site,
            long files,
            long bytes,
            @Nullable Instant triedAt,
            String message,
            @Nullable Instant removedAt,
            @Nullable String statedBy,
            @Nullable String statedReason,
            @Nullable Instant doneAt) {}

    public Erasures(JdbcClient jdbc, Holds holds, Ledger ledger, ErasureSettings settings, InstantSource clock) {
        this.jdbc = jdbc;
        this.holds = holds;
        this.ledger = ledger;
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * Requests an erasure.
     *
     * @param sight what the person may see: other experiments do not exist
     * @throws Refusal if the experiment does not exist, is held, or has an erasure that was not withdrawn
     */
    @Transactional
    public Erasure request(Sight sight, String project, String experiment, String reason, String actor) {
        Reason why = Reason.of(reason);
        int id = lock(sight, project, experiment);
        holds.refuseIfHeld(id);
        // The project is locked, so nobody else requests one meanwhile.
        if (of(project, experiment).isPresent()) {
            throw Refusal.conflict(
                    "experiment", "an erasure of experiment %s/%s is requested already", project, experiment);
        }
        long erasure = jdbc.sql("""
                        insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at)
                        select project_id, code, experiment_id, registered_at, :reason, :actor, :now
                        from experiment where experiment_id = :experiment
                        returning erasure_id
                        """)
                .params(Map.of("experiment", id, "reason", why.text(), "actor", actor, "now", now()))
                .query(Long.class)
                .single();
        return told(erasure, actor, "erasure.requested", Map.of("reason_sha256", why.sha256()));
    }

    /**
     * Approves an erasure; its waiting time begins.
     *
     * @return the approved erasure; empty: it does not exist
     * @throws Refusal if the person is the one who requested it, it is not waiting for an approval, or the experiment is held
     */
    @Transactional
    public Optional<Erasure> approve(long id, String actor) {
        Optional<Erasure> found = locked(id, State.REQUESTED);
        if (found.isEmpty()) {
            return found;
        }
        if (found.get().requestedBy().equalsIgnoreCase(actor)) {
            throw Refusal.conflict(
                    "approvedBy",
                    "erasure %d was requested by %s; another person has to approve it",
                    id,
                    found.get().requestedBy());
        }
        holds.refuseIfHeld(
                lock(Sight.EVERYTHING, found.get().project(), found.get().experiment()));
        Instant now = clock.instant();
        jdbc.sql("""
                        update erasure set approved_by = :actor, approved_at = :now, not_before = :notBefore where erasure_id = :id
                        """)
                .params(Map.of("id", id, "actor", actor, "now", Timestamp.from(now)))
                .param("notBefore", Timestamp.from(now.plus(settings.waiting())))
                .update();
        return Optional.of(told(id, actor, "erasure.approved", Map.of("not_before", now.plus(settings.waiting()))));
    }

    /**
     * Withdraws an erasure that has not begun.
     *
     * @param sight other erasures do not exist
     * @return the withdrawn erasure; empty: it does not exist
     * @throws Refusal if it has begun or was withdrawn before
     */
    @Transactional
    public Optional<Erasure> withdraw(Sight sight, long id, String actor) {
        if (find(sight, id).isEmpty()) {
            return Optional.empty();
        }
        locked(id, State.REQUESTED, State.APPROVED);
        jdbc.sql("update erasure set withdrawn_by = :actor, withdrawn_at = :now, message = '' where erasure_id = :id")
                .params(Map.of("id", id, "actor", actor, "now", now()))
                .update();
        return Optional.of(told(id, actor, "erasure.withdrawn", Map.of()));
    }

    /**
     * Records a person's statement that nothing is left at a site: it was removed by hand, or the site is destroyed.
     *
     * @return the erasure; empty: it does not exist
     * @throws Refusal if it has not begun, or nothing is open at this site
     */
    @Transactional
    public Optional<Erasure> state(long id, String site, String reason, String actor) {
        Reason why = Reason.of(reason);
        Optional<Erasure> found = locked(id, State.ERASING, State.ERASED);
        if (found.isEmpty()) {
            return found;
        }
        int stated = jdbc.sql("""
                        update erasure_site set stated_by = :actor, stated_reason = :reason, done_at = :now
                        where erasure_id = :id and done_at is null and site_id = (select site_id from site where name = :site)
                        """)
                .params(Map.of("id", id, "site", site, "actor", actor, "reason", why.text(), "now", now()))
                .update();
        if (stated == 0) {
            throw Refusal.conflict("site", "erasure %d has nothing left to do at site \"%s\"", id, site);
        }
        told(id, actor, "erasure.stated", Map.of("site", site, "reason_sha256", why.sha256()));
        completeIfDone(id, actor);
        return find(Sight.EVERYTHING, id);
    }

    /** Records that nothing was left at a site. */
    @Transactional
    public void done(long id, int siteId) {
        int ended = jdbc.sql("""
                        update erasure_site set done_at = :now, message = ''
                        where erasure_id = :id and site_id = :site and done_at is null
                        """)
                .params(Map.of("id", id, "site", siteId, "now", now()))
                .update();
        if (ended > 0) {
            String site = jdbc.sql("select name from site where site_id = :site")
                    .param("site", siteId)
                    .query(String.class)
                    .single();
            told(id, Ledger.SYSTEM, "erasure.removed", Map.of("site", site));
            completeIfDone(id, Ledger.SYSTEM);
        }
    }

    private void completeIfDone(long id, String actor) {
        int completed = jdbc.sql("""
                        update erasure set completed_at = :now
                        where erasure_id = :id and completed_at is null
                          and not exists (select from erasure_site s where s.erasure_id = :id and s.done_at is null)
                        """).param("id", id).param("now", now()).update();
        if (completed > 0) {
            told(id, actor, "erasure.completed", Map.of());
        }
    }

    /** Returns a visible erasure. */
    public Optional<Erasure> find(Sight sight, long id) {
        return jdbc.sql(SELECT + "where x.erasure_id = :id and in_sight(:seen, p.code)")
                .params(Map.of("id", id, "seen", sight.seen()))
                .query(ERASURE)
                .optional();
    }

    /** Returns the erasure of an experiment that was not withdrawn. */
    public Optional<Erasure> of(String project, String experiment) {
        return jdbc.sql(SELECT + "where p.code = :project and x.code = :experiment and x.withdrawn_at is null")
                .params(Map.of("project", project, "experiment", experiment))
                .query(ERASURE)
                .optional();
    }

    /** Returns at most {@code limit} visible erasures before one, the latest first. */
    public List<Erasure> page(Sight sight, long before, int limit) {
        return jdbc.sql(SELECT + """
                        where x.erasure_id < :before and in_sight(:seen, p.code) order by x.erasure_id desc limit :limit
                        """)
                .params(Map.of("before", before, "seen", sight.seen(), "limit", limit))
                .query(ERASURE)
                .list();
    }

    /** Returns how far an erasure is at each site, by name; nothing before it has begun. */
    public List<ErasureAtSite> sites(long id) {
        return jdbc.sql("""
                        select s.name as site, a.files, a.bytes, a.tried_at, a.message, a.removed_at, a.stated_by, a.stated_reason,
                               a.done_at
                        from erasure_site a join site s using (site_id) where a.erasure_id = :id order by s.name
                        """).param("id", id).query(Rows.of(ErasureAtSite.class)).list();
    }

    /**
     * Locks an experiment's project until the end of the transaction. NB: a hold is placed, and an experiment registered, only
     * with a weaker lock on the project, so neither happens meanwhile.
     */
    private int lock(Sight sight, String project, String experiment) {
        jdbc.sql("select from project where code = :project for update")
                .param("project", project)
                .query()
                .listOfRows();
        return jdbc.sql("""
                        select e.experiment_id from experiment e join project p using (project_id)
                        where p.code = :project and e.code = :experiment and in_sight(:seen, p.code)
                        """)
                .params(Map.of("project", project, "experiment", experiment, "seen", sight.seen()))
                .query(Integer.class)
                .optional()
                .orElseThrow(() ->
                        new Refusal("experiment", "experiment \"%s\" does not exist", project + "/" + experiment));
    }

    /**
     * Locks an erasure until the end of the transaction.
     *
     * @throws Refusal if it is in none of these states
     */
    private Optional<Erasure> locked(long id, State... wanted) {
        jdbc.sql("select from erasure where erasure_id = :id for update")
                .param("id", id)
                .query()
                .listOfRows();
        Optional<Erasure> found = find(Sight.EVERYTHING, id);
        found.filter(erasure -> !List.of(wanted).contains(erasure.state())).ifPresent(erasure -> {
            throw Refusal.conflict("erasure", notNow(erasure));
        });
        return found;
    }

    private static Message notNow(Erasure erasure) {
        String subject = erasure.subject();
        return switch (erasure.state()) {
            case REQUESTED -> Message.of("the erasure of %s has not been approved", subject);
            case APPROVED -> Message.of("the erasure of %s is approved and has not begun", subject);
            case WITHDRAWN -> Message.of("the erasure of %s was withdrawn", subject);
            case ERASING -> Message.of("the erasure of %s has begun", subject);
            case ERASED -> Message.of("the erasure of %s is complete", subject);
        };
    }

    private Erasure told(long id, String actor, String action, Map<String, Object> more) {
        Erasure erasure = find(Sight.EVERYTHING, id).orElseThrow();
        Map<String, Object> detail = new HashMap<>(more);
        detail.put("erasure", id);
        ledger.append(actor, action, erasure.subject(), detail);
        return erasure;
    }

    private Timestamp now() {
        return Timestamp.from(clock.instant());
    }
}
