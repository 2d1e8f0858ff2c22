package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The items that origins list. Each item occurs once and is identified by its id, whatever its name or its place in the
 * origin.
 */
@Component
public class Arrivals {

    private static final String FROM = """
             from arrival a
            join origin o using (origin_id)
            left join project p on p.project_id = a.project_id
            left join experiment e on e.experiment_id = a.experiment_id
            """;

    private static final String SELECT =
            "select a.*, o.name as origin, p.code as project, p.code || '/' || e.code as experiment" + FROM;

    private static final String MAPPED = """
            coalesce((select m.project_id from origin_project m where m.origin_id = o.origin_id and m.theirs = t.theirs),
                     o.project_id)
            """;

    private static final String TOLD = """
            unnest(:items::text[], :theirs::text[], :codes::text[], :titles::text[], :modalities::text[], :scanners::text[],
                   :days::text[], :files::bigint[], :bytes::bigint[])
                as t (item, theirs, code, title, modality, scanner, day, files, bytes)
            """;

    /** What a run has not tried: only of its project, if it has one. */
    private static final String UNTRIED = """
            where a.origin_id = :origin and a.waiting and a.tried_run is distinct from :run
              and not exists (select from run r where r.run_id = :run and r.part_project_id is not null
                                                and r.part_project_id is distinct from a.project_id)
              -- Nobody wants them now. They wait, and are looked at when that is undone.
              and not exists (select from experiment e where e.experiment_id = a.experiment_id and e.retired_at is not null)
              and not exists (select from project t where t.project_id = a.project_id and t.retired_at is not null)
            """;

    static final RowMapper<Arrival> ARRIVAL = (row, n) -> new Arrival(
            row.getLong("arrival_id"),
            row.getString("origin"),
            row.getString("item"),
            state(row),
            row.getString("theirs"),
            row.getString("project"),
            row.getString("code"),
            row.getString("title"),
            new Acquisition(
                    row.getString("modality"), row.getString("scanner"), row.getObject("acquired_on", LocalDate.class)),
            row.getObject("files_told", Long.class),
            row.getObject("bytes_told", Long.class),
            row.getLong("files_here"),
            row.getBoolean("waiting"),
            row.getTimestamp("first_seen_at").toInstant(),
            row.getTimestamp("changed_at").toInstant(),
            Rows.instant(row, "complete_at"),
            row.getString("experiment"),
            row.getObject("experiment_id", Integer.class),
            dismissal(row));

    /** Why a restored item is dismissed. */
    private static final String RESTORED = "restored from an experiment that is here already";

    private final JdbcClient jdbc;
    private final Experiments experiments;
    private final Origins origins;
    private final Ledger ledger;
    private final InstantSource clock;

    /** The state of an item. */
    public enum State {
        /** A proposal: listed, and not an experiment yet. */
        OFFERED,
        /** A proposal that a user has dismissed. */
        DISMISSED,
        /** An experiment whose data is not all here. */
        ARRIVING,
        /** Everything that the origin lists is here. */
        COMPLETE,
        /** The origin no longer lists it; local files are kept. */
        GONE
    }

    /**
     * An item that an origin lists.
     *
     * @param item its id in the origin, which never changes
     * @param theirs the id of the origin's own project that contains it
     * @param project our project's code; null if not known yet
     * @param code proposed for its experiment
     * @param filesTold null if not known yet
     * @param filesHere how many are delivered
     * @param waiting whether the next night looks at it
     * @param completeAt since when all of it is here; null if it is not
     * @param experiment {@code project/code} of its experiment; null for a proposal
     * @param dismissal null if it is not dismissed. Kept when the item is gone
     */
    public record Arrival(
            long id,
            String origin,
            String item,
            State state,
            @Nullable String theirs,
            @Nullable String project,
            String code,
            String title,
            Acquisition acquisition,
            @Nullable Long filesTold,
            @Nullable Long bytesTold,
            long filesHere,
            boolean waiting,
            Instant firstSeenAt,
            Instant changedAt,
            @Nullable Instant completeAt,
            @Nullable String experiment,
            @Nullable Integer experimentId,
            @Nullable Dismissal dismissal) {

        Offer offer() {
            return new Offer(item, theirs, code, title, acquisition, filesTold, bytesTold, null);
        }
    }

    /** Who dismissed a proposal, and why. */
    public record Dismissal(Instant at, String by, String reason) {}

    /**
     * The values for a proposal's experiment; null means as proposed.
     *
     * @param acquisition null, or with null for those parts that are as proposed
     */
    public record Acceptance(
            @Nullable String project,
            @Nullable String code,
            @Nullable String title,
            @Nullable Acquisition acquisition) {

        public static final Acceptance AS_PROPOSED = new Acceptance(null, null, null, null);
    }

    /**
     * A filter for arrivals; null matches any.
     *
     * @param proposed whether it is a proposal that is not dismissed
     * @param dismissed whether it is dismissed
     */
    public record Filter(
            @Nullable String origin,
            @Nullable String project,
            @Nullable Boolean proposed,
            @Nullable Boolean dismissed) {

        public static final Filter ALL = new Filter(null, null, null, null);
    }

    public Arrivals(JdbcClient jdbc, Experiments experiments, Origins origins, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.experiments = experiments;
        this.origins = origins;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Makes an experiment of a proposal. The item's id in the origin, not its name, binds the two permanently. Its
     * files are delivered in the next night.
     *
     * @return the experiment; empty if there is no such arrival in sight
     * @throws Refusal if it is an experiment already or dismissed, its project is not known, or the experiment cannot
     * be registered
     */
    @Transactional
    public Optional<Experiment> accept(Sight sight, long id, Acceptance wanted, String actor) {
        return lock(sight, id).map(arrival -> accept(sight, arrival, wanted, actor));
    }

    /**
     * Returns an arrival in sight, and locks it until the end of the transaction. NB: two statements, because one that waits for
     * the lock still reads the projects and experiments as they were before the wait.
     */
    Optional<Arrival> lock(Sight sight, long id) {
        jdbc.sql("select from arrival where arrival_id = :id for no key update")
                .param("id", id)
                .query()
                .listOfRows();
        return find(sight, id);
    }

    private Experiment accept(Sight sight, Arrival arrival, Acceptance wanted, String actor) {
        String item = arrival.item();
        String from = arrival.origin();
        if (arrival.experiment() != null) {
            throw arrival.project() != null && sight.sees(arrival.project())
                    ? Refusal.conflict("arrival", "%s of %s is already experiment %s", item, from, arrival.experiment())
                    : Refusal.conflict("arrival", "%s of %s is already an experiment", item, from);
        }
        if (arrival.dismissal() != null) {
            throw Refusal.conflict("arrival", "%s of %s is dismissed; undo the dismissal first", item, from);
        }
        String project = wanted.project() == null ? arrival.project() : wanted.project();
        if (project == null) {
            throw new Refusal("project", "%s has no project yet; choose one", item);
        }
        Origin origin = origins.find(from).orElseThrow();
        OriginKind kind = origin.terms().kind();
        Experiment experiment = experiments.registerCollected(
                sight,
                project,
                wanted.code(),
                arrival.code(),
                Objects.requireNonNullElse(wanted.title(), arrival.title()),
                kind.source(),
                origins.collector(kind).tree(origin, item),
                Objects.requireNonNullElse(wanted.acquisition(), Acquisition.UNKNOWN)
                        .or(arrival.acquisition()),
                actor);
        jdbc.sql("""
                        update arrival
                        set experiment_id = :experiment, waiting = waiting or state <> 'GONE',
                            state = case state when 'OFFERED' then 'ARRIVING' else state end,
                            project_id = (select project_id from experiment where experiment_id = :experiment)
                        where arrival_id = :id
                        """)
                .param("experiment", experiment.id())
                .param("id", arrival.id())
                .update();
        Map<String, ?> details = details(from, item, "proposal", "experiment");
        ledger.append(actor, "arrival.accepted", experiment.name(), details);
        return experiment;
    }

    /** Returns the details of a ledger entry about an item, whose id is stored only as a digest. */
    static Map<String, ?> details(String origin, String item, String before, String after) {
        return Map.of("origin", origin, "item_sha256", Digest.ofText(item), "before", before, "after", after);
    }

    /**
     * Accepts an arrival as proposed, without a person, and lets the run look at it again.
     *
     * @throws Refusal also if it is a study that was registered from a folder: only a person decides whether there are
     *     two experiments of it
     */
    void acceptAutomatically(Arrival arrival) {
        jdbc.sql("""
                        select p.code || '/' || e.code
                        from experiment_study s join experiment e using (experiment_id) join project p using (project_id)
                        where s.study_uid = :item limit 1
                        """)
                .param("item", arrival.item())
                .query((row, n) -> row.getString(1))
                .optional()
                .ifPresent(name -> {
                    throw Refusal.conflict("arrival", "it is registered from a folder already: %s", name);
                });
        accept(Sight.EVERYTHING, arrival.id(), Acceptance.AS_PROPOSED, Ledger.SYSTEM);
        jdbc.sql("update arrival set tried_run = null where arrival_id = :id")
                .param("id", arrival.id())
                .update();
    }

    /** Returns an arrival, if it is in sight. */
    public Optional<Arrival> find(Sight sight, long id) {
        return jdbc.sql(SELECT + "where a.arrival_id = :id and in_sight(:seen, p.code)")
                .param("id", id)
                .param("seen", sight.seen())
                .query(ARRIVAL)
                .optional();
    }

    /** Returns at most {@code limit} arrivals of all origins with an id above {@code after}, by id. */
    public List<Arrival> page(Sight sight, Filter wanted, long after, int limit) {
        return wanted(SELECT, " and a.arrival_id > :after order by a.arrival_id limit :limit", sight, wanted)
                .param("after", after)
                .param("limit", limit)
                .query(ARRIVAL)
                .list();
    }

    /** Returns what was listed first, has changed or is complete since a moment, and is neither dismissed nor gone; the latest first. */
    public List<Arrival> since(Sight sight, Instant from, int limit) {
        return jdbc.sql(SELECT + """
                        where in_sight(:seen, p.code) and a.dismissed_at is null and a.state <> 'GONE'
                          and greatest(a.first_seen_at, a.changed_at, a.complete_at) >= :from
                        order by greatest(a.first_seen_at, a.changed_at, a.complete_at) desc, a.arrival_id desc
                        limit :limit
                        """)
                .param("seen", sight.seen())
                .param("from", Timestamp.from(from))
                .param("limit", limit)
                .query(ARRIVAL)
                .list();
    }

    public long count(Sight sight, Filter wanted) {
        return wanted("select count(*)" + FROM, "", sight, wanted)
                .query(Long.class)
                .single();
    }

    private StatementSpec wanted(String before, String behind, Sight sight, Filter wanted) {
        return jdbc.sql(before + """
                        where in_sight(:seen, p.code)
                          and (:origin::text is null or o.name = :origin)
                          and (:project::text is null or p.code = :project)
                          and (:proposed::boolean is null or (a.experiment_id is null and a.dismissed_at is null) = :proposed)
                          and (:dismissed::boolean is null or (a.dismissed_at is not null) = :dismissed)
                        """ + behind).params(Rows.params(wanted)).param("seen", sight.seen());
    }

    /** Returns how many arrivals of an origin are dismissed and still listed. */
    long dismissed(Origin origin) {
        return jdbc.sql("""
                        select count(*) from arrival
                        where origin_id = :origin and dismissed_at is not null and state <> 'GONE'
                        """)
                .param("origin", origin.id())
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /**
     * Stores the result of a look: items that are new, changed, moved or listed again. New ones that were restored from an
     * experiment are dismissed at once: accepted, they would be there twice. Returns how many are new or changed.
     */
    int told(Origin origin, List<Offer> offers, Set<String> changed) {
        int known = bind(jdbc.sql("""
                        update arrival a
                        set theirs = t.theirs, title = t.title,
                            modality = coalesce(t.modality, a.modality), scanner = coalesce(t.scanner, a.scanner),
                            acquired_on = coalesce(t.day::date, a.acquired_on),
                            files_told = coalesce(t.files, a.files_told), bytes_told = coalesce(t.bytes, a.bytes_told),
                            project_id = case when a.experiment_id is null then %s else a.project_id end,
                            waiting = a.dismissed_at is null
                                and (a.waiting or a.state = 'GONE' or t.item = any(:changed::text[])),
                            changed_at = case when t.item = any(:changed::text[]) then :now else a.changed_at end,
                            complete_at = case when t.item = any(:changed::text[]) then null else a.complete_at end,
                            state = case
                                when a.experiment_id is null then 'OFFERED'
                                when a.state = 'GONE' or t.item = any(:changed::text[]) then 'ARRIVING'
                                else a.state
                            end
                        from %s, origin o
                        where a.origin_id = :origin and o.origin_id = a.origin_id and a.item = t.item
                          and (t.item = any(:changed::text[]) or a.state = 'GONE' or a.theirs is distinct from t.theirs
                               or a.title <> t.title)
                        """.formatted(MAPPED, TOLD)), origin, offers)
                .param("changed", changed.toArray(String[]::new))
                .update();
        int added = bind(jdbc.sql("""
                        insert into arrival (origin_id, item, state, theirs, project_id, code, title, modality, scanner, acquired_on,
                                             files_told, bytes_told, waiting, first_seen_at, changed_at,
                                             dismissed_at, dismissed_by, dismissed_reason)
                        select o.origin_id, t.item, 'OFFERED', t.theirs, %s, t.code, t.title, t.modality, t.scanner, t.day::date,
                               t.files, t.bytes, not restored, :now, :now,
                               case when restored then :now::timestamptz end, case when restored then :system end, case when restored then :reason end
                        from %s join origin o on o.origin_id = :origin
                        cross join lateral (
                            select exists (
                                select from flywheel_restored r join arrival a on a.item = r.old_id and a.experiment_id is not null
                                where r.origin_id = :origin and r.kind in ('session', 'project') and r.new_id = t.item) as restored) r
                        where not exists (select from arrival a where a.origin_id = :origin and a.item = t.item)
                        on conflict do nothing
                        """.formatted(MAPPED, TOLD)), origin, offers)
                .param("system", Ledger.SYSTEM)
                .param("reason", RESTORED)
                .update();
        return known + added;
    }

    private StatementSpec bind(StatementSpec sql, Origin origin, List<Offer> offers) {
        return sql.param("origin", origin.id())
                .param("now", Timestamp.from(clock.instant()))
                .param("items", texts(offers, Offer::item))
                .param("theirs", texts(offers, Offer::theirs))
                .param("codes", texts(offers, Offer::code))
                .param("titles", texts(offers, Offer::title))
                .param("modalities", texts(offers, offer -> offer.acquisition().modality()))
                .param("scanners", texts(offers, offer -> offer.acquisition().scanner()))
                .param(
                        "days",
                        texts(
                                offers,
                                offer -> Objects.toString(offer.acquisition().day(), null)))
                .param("files", offers.stream().map(Offer::files).toArray(Long[]::new))
                .param("bytes", offers.stream().map(Offer::bytes).toArray(Long[]::new));
    }

    /** Marks items that an origin no longer lists; returns those that it listed until now. */
    List<Arrival> gone(Origin origin, List<Offer> offers) {
        List<Arrival> gone = jdbc.sql(SELECT + """
                        where a.origin_id = :origin and a.state <> 'GONE' and a.item <> all(:items::text[])
                        order by a.arrival_id
                        """)
                .param("origin", origin.id())
                .param("items", texts(offers, Offer::item))
                .query(ARRIVAL)
                .list();
        jdbc.sql("update arrival set state = 'GONE', waiting = false where arrival_id = any(:ids)")
                .param("ids", gone.stream().map(Arrival::id).toArray(Long[]::new))
                .update();
        return gone;
    }

    /** Returns experiments whose item is no longer listed and was never complete; the rest of it is missing. */
    List<Arrival> lost(Origin origin) {
        return jdbc.sql(SELECT + """
                        where a.origin_id = :origin and a.state = 'GONE' and a.complete_at is null
                          and a.experiment_id in (select experiment_id from living_experiment)
                        order by a.arrival_id
                        """)
                .param("origin", origin.id())
                .query(ARRIVAL)
                .list();
    }

    /** Returns the next waiting arrival that a run has not tried; only one of its experiments or its project. */
    Optional<Arrival> nextWaiting(long runId, Origin origin) {
        return jdbc.sql(SELECT + UNTRIED + """
                          and (not exists (select from run_experiment where run_id = :run)
                               or a.experiment_id in (select experiment_id from run_experiment where run_id = :run))
                        order by a.experiment_id nulls last, a.arrival_id limit 1
                        """)
                .param("origin", origin.id())
                .param("run", runId)
                .query(ARRIVAL)
                .optional();
    }

    /** Returns how many waiting arrivals a run has not tried. */
    long waiting(long runId, Origin origin) {
        return jdbc.sql("select count(*) from arrival a " + UNTRIED)
                .param("origin", origin.id())
                .param("run", runId)
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /**
     * Stores what a run has found out about an arrival. A proposal that has been accepted meanwhile waits for the next
     * night.
     *
     * @param delivered whether its files were delivered, not only described
     * @param waits whether the next night looks at it again in any case
     */
    void tried(long runId, Arrival arrival, Delivery came, boolean delivered, boolean waits) {
        Offer offer = came.offer();
        jdbc.sql("""
                        update arrival
                        set tried_run = :run, title = :title, modality = coalesce(:modality, modality),
                            scanner = coalesce(:scanner, scanner), acquired_on = coalesce(:day, acquired_on),
                            files_told = :files, bytes_told = coalesce(:bytes, bytes_told),
                            files_here = case when :delivered then :here else files_here end,
                            waiting = dismissed_at is null
                                and (:waits or not :complete or (experiment_id is not null and not :delivered)),
                            state = case when :delivered then case when :complete then 'COMPLETE' else 'ARRIVING' end else state end,
                            complete_at = case when :delivered and :complete then coalesce(complete_at, :now) end
                        where arrival_id = :id
                        """)
                .param("run", runId)
                .param("title", offer.title())
                .params(Rows.params(offer.acquisition()))
                .param("files", came.filesTold())
                .param("bytes", offer.bytes(), Types.BIGINT)
                .param("here", came.filesHere())
                .param("delivered", delivered)
                .param("waits", waits)
                .param("complete", came.isComplete())
                .param("now", Timestamp.from(clock.instant()))
                .param("id", arrival.id())
                .update();
    }

    private static String[] texts(List<Offer> offers, Function<Offer, @Nullable String> text) {
        return offers.stream().map(text).toArray(String[]::new);
    }

    private static State state(ResultSet row) throws SQLException {
        State state = State.valueOf(row.getString("state"));
        return state == State.OFFERED && row.getString("dismissed_by") != null ? State.DISMISSED : state;
    }

    private static @Nullable Dismissal dismissal(ResultSet row) throws SQLException {
        return row.getString("dismissed_by") == null
                ? null
                : new Dismissal(
                        row.getTimestamp("dismissed_at").toInstant(),
                        row.getString("dismissed_by"),
                        row.getString("dismissed_reason"));
    }
}
