package dozo.registry;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What is over: experiments, projects and scanners that somebody retired, and sites ({@link Sites#retire}). Nothing is
 * forgotten, and everything can be undone (ADR 0102).
 */
@Component
public class Retirements {

    /** The longest reason in characters; shorter than other reasons, because lists show it. */
    static final int REASON_LENGTH_MAX = 200;

    private static final int GAPS_TOLD = 3;
    private static final int SHOWN_MAX = 1_000;

    private static final String RETIRED = """
            select * from (
                select 'experiment' as kind, p.code || '/' || e.code as name, p.code as project, e.retired_at, e.retired_by,
                       e.retired_reason as reason, e.retired_unsafe as unsafe
                from experiment e join project p using (project_id) where e.retired_at is not null
                union all
                select 'project', code, code, retired_at, retired_by, retired_reason, retired_unsafe
                from project where retired_at is not null
                union all
                select 'scanner', code, null, retired_at, retired_by, retired_reason, null
                from scanner where retired_at is not null
                union all
                select 'site', name, null, removed_at, removed_by, removed_reason, removed_unsafe
                from site where removed_at is not null) r
            """;

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /** What can be over, with its rows. */
    public enum Kind {
        EXPERIMENT("experiment e join project p using (project_id) where p.code || '/' || e.code = :name"),
        PROJECT("project where code = :name"),
        SCANNER("scanner where code = :name"),
        SITE("site where name = :name");

        private final String rows;

        Kind(String rows) {
            this.rows = rows;
        }

        /** Returns its word in REST and the ledger. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Something that is over.
     *
     * @param kind experiment, project, scanner or site
     * @param retiredBy missing: a site that an earlier version removed
     * @param reason missing: a site that was removed, not retired
     * @param unsafe what was not verified when it was retired nevertheless; missing: everything was
     */
    public record Retired(
            String kind,
            String name,
            Instant retiredAt,
            @Nullable String retiredBy,
            @Nullable String reason,
            @Nullable String unsafe) {

        /** Returns its place in the list. */
        public String place() {
            return kind + " " + name;
        }
    }

    /**
     * What a person says who retires something.
     *
     * @param reason one line of 1 to 200 characters
     * @param evenUnsafe also if something of it is not verified, and would never be sent
     */
    public record Asked(String reason, boolean evenUnsafe, String actor) {}

    /** What an experiment lacks at a site; a null site: there is none; null numbers: it was never read. */
    private record Gap(
            String name,
            @Nullable String site,
            @Nullable Long lacks,
            @Nullable Long entries) {

        String told() {
            String what = lacks == null
                    ? "nothing of it has a"
                    : "%d of %d files, folders and links have no".formatted(lacks, entries);
            return "%s: %s verified copy at %s".formatted(name, what, site == null ? "any site" : site);
        }
    }

    public Retirements(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns at most {@code limit} visible things that are over, after a {@link Retired#place place}, by kind and name. */
    public List<Retired> page(Sight sight, String after, int limit) {
        return jdbc.sql(RETIRED + """
                        where (kind || ' ' || name) collate "C" > :after and (kind = 'scanner' or in_sight(:seen, project))
                        order by (kind || ' ' || name) collate "C" limit :limit
                        """)
                .param("after", after)
                .param("seen", sight.seen())
                .param("limit", limit)
                .query(Rows.of(Retired.class))
                .list();
    }

    /** Returns the visible things of a kind that are over, at most 1,000, by name. */
    public List<Retired> of(Kind kind, Sight sight) {
        return page(sight, kind.word() + " ", SHOWN_MAX).stream()
                .filter(each -> each.kind.equals(kind.word()))
                .toList();
    }

    /** Returns since when something is over; empty: it is not. */
    public Optional<Retired> find(Kind kind, String name) {
        return jdbc.sql(RETIRED + "where kind = :kind and name = :name")
                .params(Map.of("kind", kind.word(), "name", name))
                .query(Rows.of(Retired.class))
                .optional();
    }

    /**
     * Retires an experiment, a project with all its experiments that are not retired yet, or a scanner. No run looks at the
     * source any more. Units that nobody sends yet are cancelled; what is being sent is finished and settled.
     *
     * @param name of an experiment, {@code PROJECT/EXPERIMENT}
     * @return empty: it does not exist
     * @throws Refusal if it is retired already, or something of it is not verified at a site and that was not accepted
     */
    @Transactional
    public Optional<Retired> retire(Kind kind, String name, Asked asked) {
        Reason why = Reason.of(asked.reason, REASON_LENGTH_MAX);
        lockProject(name);
        Map<String, Integer> living = kind == Kind.SCANNER ? Map.of() : lockLiving(name);
        // NB: counted when they are locked, so that nothing is sealed between the count and the mark.
        List<Gap> gaps = living.isEmpty() ? List.of() : gaps(name);
        if (!gaps.isEmpty() && !asked.evenUnsafe) {
            throw Refusal.conflict(
                    "evenUnsafe",
                    "not everything of %s is verified at every site, and the rest would never be sent (%s); say so explicitly if that is intended",
                    name,
                    told(gaps));
        }
        if (kind == Kind.EXPERIMENT ? living.isEmpty() : !mark(kind, name, why, told(gaps), asked.actor)) {
            if (exists(kind, name)) {
                throw Refusal.conflict(kind.word(), "%s is retired already", name);
            }
            return Optional.empty();
        }
        if (!living.isEmpty()) {
            markAll(living, kind == Kind.PROJECT, why, gaps, asked.actor);
            cancelUnits(living.values());
        }
        return find(kind, name);
    }

    /** Experiments of one project are retired and brought back one after the other. */
    private void lockProject(String name) {
        jdbc.sql("select from project where code = split_part(:name, '/', 1) for no key update")
                .param("name", name)
                .query()
                .listOfRows();
    }

    /** Returns the ids of an experiment, or of those of a project, that are not retired yet; locked, in their order. */
    private Map<String, Integer> lockLiving(String name) {
        Map<String, Integer> living = new LinkedHashMap<>();
        jdbc.sql("""
                        select p.code || '/' || e.code as name, e.experiment_id
                        from experiment e join project p using (project_id)
                        where e.retired_at is null and :name in (p.code, p.code || '/' || e.code)
                        order by e.experiment_id for no key update of e
                        """).param("name", name).query(row -> {
            living.put(row.getString("name"), row.getInt("experiment_id"));
        });
        return living;
    }

    /** Marks a project or scanner that is not retired yet; returns whether there is such a thing. */
    private boolean mark(Kind kind, String name, Reason why, String unsafe, String actor) {
        boolean marked = jdbc.sql("""
                        update %s set %s retired_at = :now, retired_by = :actor, retired_reason = :reason
                        where code = :name and retired_at is null
                        """.formatted(
                                kind.word(), kind == Kind.PROJECT ? "retired_unsafe = nullif(:unsafe, '')," : ""))
                        .params(Map.of("now", now(), "actor", actor, "reason", why.text(), "unsafe", unsafe))
                        .param("name", name)
                        .update()
                > 0;
        if (marked) {
            // Without the reason: it may contain names, and ledger rows are permanent.
            ledger.append(
                    actor, kind.word() + ".retired", name, Map.of("reason_sha256", why.sha256(), "unsafe", unsafe));
        }
        return marked;
    }

    private void markAll(Map<String, Integer> living, boolean withProject, Reason why, List<Gap> gaps, String actor) {
        Map<String, List<Gap>> own = gaps.stream().collect(Collectors.groupingBy(Gap::name));
        String reason = why.sha256().toString();
        List<Subject> told = living.keySet().stream()
                .map(name -> new Subject(name, List.of(reason, told(own.getOrDefault(name, List.of())))))
                .toList();
        jdbc.sql("""
                        update experiment e
                        set retired_at = :now, retired_by = :actor, retired_reason = :reason, retired_unsafe = nullif(m.unsafe, ''),
                            retired_with_project = :withProject
                        from unnest(:ids::integer[], :unsafe::text[]) as m (id, unsafe) where e.experiment_id = m.id
                        """)
                .params(Map.of("now", now(), "actor", actor, "reason", why.text(), "withProject", withProject))
                .param("ids", living.values().toArray(Integer[]::new))
                .param(
                        "unsafe",
                        told.stream().map(each -> each.values().getLast()).toArray(String[]::new))
                .update();
        ledger.appendAll(actor, "experiment.retired", List.of("reason_sha256", "unsafe"), told);
    }

    private Timestamp now() {
        return Timestamp.from(clock.instant());
    }

    /** NB: a replication does not look at the source. What is claimed is being sent. */
    private void cancelUnits(Collection<Integer> experiments) {
        jdbc.sql("""
                        update transfer_unit u set state = 'CANCELLED', reason = 'the experiment was retired'
                        from run r
                        where u.experiment_id = any(:experiments) and r.run_id = u.run_id and r.from_site_id is null
                          and u.state = 'PLANNED' and u.worker_id is null
                        """).param("experiments", experiments.toArray(Integer[]::new)).update();
    }

    /**
     * Brings something back; a project with the experiments that were retired with it. The next run looks at them.
     *
     * @return whether it exists
     * @throws Refusal if it is not retired, or an experiment's project is
     */
    @Transactional
    public boolean unretire(Kind kind, String name, String actor) {
        lockProject(name);
        String project = name.replaceFirst("/.*", "");
        if (kind == Kind.EXPERIMENT && find(Kind.PROJECT, project).isPresent()) {
            throw Projects.retired("project", project);
        }
        boolean own = kind != Kind.EXPERIMENT && unmark(kind, name, actor);
        boolean experiments = kind != Kind.SCANNER && unmarkAll(name, actor);
        if (!own && !experiments && exists(kind, name)) {
            throw Refusal.conflict(kind.word(), "%s is not retired", name);
        }
        return own || experiments;
    }

    private boolean unmark(Kind kind, String name, String actor) {
        boolean was = jdbc.sql("""
                        update %s set %s retired_at = null, retired_by = null, retired_reason = null
                        where code = :name and retired_at is not null
                        """.formatted(kind.word(), kind == Kind.PROJECT ? "retired_unsafe = null," : ""))
                        .param("name", name)
                        .update()
                > 0;
        if (was) {
            ledger.append(actor, kind.word() + ".unretired", name, Map.of());
        }
        return was;
    }

    /** Brings back an experiment, or those of a project that were retired with it; returns whether there is one. */
    private boolean unmarkAll(String name, String actor) {
        List<Subject> back = jdbc.sql("""
                        update experiment e
                        set retired_at = null, retired_by = null, retired_reason = null, retired_unsafe = null, retired_with_project = false
                        from project p
                        where p.project_id = e.project_id and e.retired_at is not null
                          and (p.code || '/' || e.code = :name or p.code = :name and e.retired_with_project)
                        returning p.code || '/' || e.code
                        """)
                .param("name", name)
                .query((row, n) -> new Subject(row.getString(1), List.of(name)))
                .list();
        ledger.appendAll(actor, "experiment.unretired", List.of("with"), back);
        return !back.isEmpty();
    }

    private boolean exists(Kind kind, String name) {
        return jdbc.sql("select exists (select from %s)".formatted(kind.rows))
                .param("name", name)
                .query(Boolean.class)
                .single();
    }

    /** Returns what an experiment, or a project's living experiments, lack at the living sites. */
    private List<Gap> gaps(String name) {
        return jdbc.sql("""
                        select p.code || '/' || e.code as name, s.name as site, t.entries - t.entries_safe as lacks, t.entries
                        from living_experiment e
                        join project p using (project_id)
                        left join site s on s.removed_at is null
                        left join protection t on t.experiment_id = e.experiment_id and t.site_id = s.site_id
                        where t.entries = t.entries_safe is not true and :name in (p.code, p.code || '/' || e.code)
                        order by e.experiment_id, s.name
                        """).param("name", name).query(Rows.of(Gap.class)).list();
    }

    private static String told(List<Gap> gaps) {
        String first = gaps.stream().limit(GAPS_TOLD).map(Gap::told).collect(Collectors.joining("; "));
        return gaps.size() <= GAPS_TOLD ? first : "%s; and %d more".formatted(first, gaps.size() - GAPS_TOLD);
    }
}
