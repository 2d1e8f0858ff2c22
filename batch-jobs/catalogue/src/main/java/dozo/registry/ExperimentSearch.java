package dozo.registry;

import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.ledger.Worded;
import dozo.registry.ExperimentOrder.Place;
import dozo.registry.ExperimentOrder.Sort;
import dozo.registry.Experiments.Experiment;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.SqlParameterValue;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Finds experiments by what people remember about them. */
@Component
@EnableConfigurationProperties(RiskSettings.class)
public class ExperimentSearch {

    /** The maximum length of a search text in characters. */
    public static final int TEXT_LENGTH_MAX = 200;

    private static final int KNOWN_MAX = 200;

    /**
     * The state of an experiment {@code e} with its protection {@code t} at a site and its gravest risk {@code x}: the
     * risk, or the first condition that holds. Units are searched one experiment at a time ({@code limit 1}): most are
     * verified, and PostgreSQL would otherwise read all planned units of a night.
     */
    private static final String STATE = """
            coalesce(
                x.risk,
                case
                    when e.retired_at is not null then 'RETIRED'
                    when exists (select from arrival a where a.experiment_id = e.experiment_id and a.state = 'ARRIVING')
                        then 'ARRIVING'
                    when t.entries = t.entries_safe then 'VERIFIED'
                    when (select true from transfer_unit u join run r using (run_id)
                          where u.experiment_id = e.experiment_id and u.site_id = :site and u.state = 'PLANNED'
                            and r.ended_at is null
                          limit 1)
                        then 'COPYING'
                    when t.experiment_id is not null then 'COMPLETE'
                    else 'PLANNED'
                end)
            """;

    /** The gravest risk {@code x} of one experiment {@code e}: for a page. */
    private static final String ITS_RISK = """
            left join lateral (select min(k.risk)::text as risk from risks(:site, :now, :usual::interval) k
                               where k.experiment_id = e.experiment_id) x on true
            """;

    /** The gravest risk {@code x} of each experiment, computed once: for lists that need the states of all. */
    private static final String RISKS = """
            left join (select k.experiment_id, min(k.risk)::text as risk from risks(:site, :now, :usual::interval) k
                       group by k.experiment_id) x on x.experiment_id = e.experiment_id
            """;

    private static final String PROTECTION = """
            left join protection t on t.experiment_id = e.experiment_id and t.site_id = :site
            """;

    private static final String FIGURES = "t.files, t.bytes, t.bytes_safe, t.entries, t.entries_safe";

    private static final String WANTED = """
            e.experiment_id > :after
              and (:seen::text[] is null
                   or e.project_id in (select project_id from project where code = any(:seen::text[])))
              and (:project::text is null or e.project_id = (select project_id from project where code = :project))
              and (:modality::text is null or e.modality = :modality)
              and (:scanner::text is null or e.scanner = :scanner)
              and (:from::date is null or e.acquired_on >= :from)
              and (:until::date is null or e.acquired_on <= :until)
              and (e.retired_at is null or :words::text is not null or cardinality(:states::text[]) > 0)
              and (:words::text is null
                   or lower(e.code || ' ' || e.title) like :words
                   or lower(e.subject) like :start
                   or e.project_id = any(:projects)
                   or (e.project_id = any(:named) and lower(e.code) like :code)
                   or (encode(e.source_root, 'escape') like any(:pathPatterns::text[]) and has_part(e.source_root, :pathParts::bytea[])))
              and (:sourcePatterns::text[] is null
                   or (encode(e.source_root, 'escape') like any(:sourcePatterns::text[])
                       and has_part(e.source_root, :sourceParts::bytea[])))
            """;

    /** By id and in any state: selects the page first, then computes the states on it. */
    private static final String BY_ID =
            """
            select e.*,\s""" + FIGURES + ",\n" + STATE + """
                as state
            from (select e.*, p.code as project from experiment e join project p using (project_id) where\s""" + WANTED + """
                  order by e.experiment_id limit :limit) e
            """ + PROTECTION + ITS_RISK + """
            order by e.experiment_id
            """;

    private final JdbcClient jdbc;
    private final RiskSettings settings;
    private final InstantSource clock;

    /** The state of an experiment at a site. It is in exactly one of these; the gravest are first. */
    public enum State implements Worded {
        /** No site has an undamaged copy of some of it any more, and its source no longer has it. */
        LOST,
        /** A stored copy is damaged or missing. */
        DAMAGED,
        /** Too much of it vanished or changed at once. It is not processed until it is released. */
        FROZEN,
        /** Its source does not exist any more, or is empty. */
        SOURCE_MISSING,
        /** Some of it has waited too long for its copy. */
        LATE,
        /** A finding that nobody has acknowledged says that some of it gets no copy without help. */
        BLOCKED,
        /** Only a filter: any of the above. */
        AT_RISK,
        /** The current run has yet to send some of it. */
        COPYING,
        /** Its manifest is sealed; some of it waits for its copy. */
        COMPLETE,
        /** An origin lists more than it has delivered so far, even if some of it is verified already. */
        ARRIVING,
        /** Registered, and nothing of it was ever sealed. */
        PLANNED,
        /** Every entry of its current manifest has a receipt. */
        VERIFIED,
        /** It is over: no run looks at its source. As a filter, also those whose copies are at risk. */
        RETIRED;

        /** Returns whether it is one of the states that {@link #AT_RISK} selects. */
        public boolean atRisk() {
            return compareTo(AT_RISK) < 0;
        }

        /**
         * Returns the state with this word.
         *
         * @throws Refusal if there is none
         */
        public static State of(String word) {
            return Worded.of(State.class, word)
                    .orElseThrow(() -> new Refusal(
                            "state",
                            "\"%s\": expected one of %s",
                            word,
                            Arrays.stream(values()).map(State::word).collect(Collectors.joining(", "))));
        }
    }

    /**
     * Selects experiments; null: any. Without a state and a text, only those that are not retired.
     *
     * @param text part of the code or title, in any case; or the beginning of the subject's code, of the project's code, or of
     * {@code project/code}; with a {@code /} also part of the source's path
     * @param from acquired on this day or later
     * @param until acquired on this day or earlier
     * @param source part of the source's path, as it is shown
     */
    public record Filter(
            @Nullable String text,
            @Nullable String project,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable LocalDate from,
            @Nullable LocalDate until,
            @Nullable State state,
            @Nullable String source) {

        public static final Filter ALL = new Filter(null, null, null, null, null, null, null, null);

        /** Refuses a text that is too long or not one line ({@link Refusal}). */
        public Filter {
            checkText("q", text);
            checkText("source", source);
        }

        private static void checkText(String field, @Nullable String text) {
            if (text != null && (text.length() > TEXT_LENGTH_MAX || !Code.isText(text))) {
                throw new Refusal(field, "expected one line of at most %d characters", TEXT_LENGTH_MAX);
            }
        }
    }

    /**
     * What an experiment's current manifest contains, and how much of it is safe at the site.
     *
     * @param safe whether every entry is safe, also empty files, folders and links
     */
    public record Held(long files, long bytes, long bytesSafe, boolean safe) {}

    /**
     * An experiment that was found.
     *
     * @param state never {@link State#AT_RISK}
     * @param held null: nothing was ever sealed
     */
    public record Found(
            Experiment experiment, State state, @Nullable Held held, Place place) {}

    /**
     * The sums over all experiments that a search found.
     *
     * @param experimentsSafe how many are completely safe; those of which nothing was sealed are not
     */
    public record Sums(long experiments, long experimentsSafe, long bytes, long bytesSafe) {}

    /**
     * The experiments in one of the states that are at risk.
     *
     * @param experiments their number
     * @param first the names {@code PROJECT/CODE} of the first of them
     */
    public record Risk(State state, long experiments, List<String> first) {}

    public ExperimentSearch(JdbcClient jdbc, RiskSettings settings, InstantSource clock) {
        this.jdbc = jdbc;
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * Returns the query for one state, by id. It computes the states one by one until the page is full. {@code offset 0}
     * hides the state from the planner, which would expect one in 200 to match and compute it for all experiments
     * first.
     */
    private static String inState(State state) {
        return """
                select e.*, p.code as project,\s""" + FIGURES + """
                , s.state
                from experiment e
                join project p using (project_id)
                left join protection t
                     on t.experiment_id = e.experiment_id and t.site_id = :site and t.experiment_id > :after
                cross join lateral (select\s""" + STATE + """
                    as state
                    from (select (select min(k.risk)::text from risks(:site, :now, :usual::interval) k
                                  where k.experiment_id = e.experiment_id) as risk) x
                    offset 0) s
                where s.state = any(:states) and (""" + atLeast(state) + """
                )
                  and\s""" + WANTED + """
                order by e.experiment_id
                limit :limit
                """;
    }

    /** Returns a necessary condition of a state, by which rare states are found quickly. */
    private static String atLeast(State state) {
        return switch (state) {
            case PLANNED -> """
                    e.experiment_id in (select n.experiment_id from experiment n
                                        where n.experiment_id > :after
                                          and not exists (select from protection o
                                                          where o.experiment_id = n.experiment_id and o.site_id = :site)
                                        offset 0)""";
            case ARRIVING -> "e.experiment_id in (select a.experiment_id from arrival a where a.state = 'ARRIVING')";
            case COMPLETE, COPYING -> "t.entries = t.entries_safe is false";
            case VERIFIED -> "t.entries = t.entries_safe is true";
            case RETIRED -> "e.retired_at is not null";
            case LOST, DAMAGED, FROZEN, SOURCE_MISSING, LATE, BLOCKED, AT_RISK -> """
                    e.experiment_id in (select k.experiment_id from risks(:site, :now, :usual::interval) k
                                        where k.experiment_id > :after and k.risk::text = any(:states))""";
        };
    }

    /**
     * Returns the relation {@code e} of all selected experiments. Their states are only computed if they are needed,
     * for all at once. {@code offset 0} keeps PostgreSQL from computing a state twice.
     */
    private static String found(@Nullable State state, boolean withState) {
        String each = "select e.*, p.code as project, " + FIGURES;
        String from = " from experiment e join project p using (project_id)\n" + PROTECTION;
        if (state == null && !withState) {
            return "(" + each + from + "where " + WANTED + ") e\n";
        }
        String condition = state == null ? "" : " and (" + atLeast(state) + ")\n";
        String all = each + ", " + STATE + " as state" + from + RISKS + "where " + WANTED + condition + "offset 0";
        return state == null ? "(" + all + ") e\n" : "(select * from (" + all + ") e where e.state = any(:states)) e\n";
    }

    /** Returns the query for a page in any order. */
    private static String sorted(@Nullable State state, ExperimentOrder order) {
        boolean withState = state != null || order.by() == Sort.STATE;
        String page = "select e.*, (" + order.by().key() + ") as key from " + found(state, withState)
                + (order.descending() ? order.by().beyond("<") : order.by().beyond(">"))
                + (order.descending() ? "order by key desc, experiment_id desc" : "order by key, experiment_id")
                + " limit :limit";
        return withState
                ? page
                : "select e.*, " + STATE + " as state from (" + page + ") e\n" + PROTECTION + ITS_RISK
                        + (order.descending()
                                ? "order by e.key desc, e.experiment_id desc"
                                : "order by e.key, e.experiment_id");
    }

    /** Returns the state of an experiment at a site. */
    public State state(int experiment, int site) {
        return asked(BY_ID, Sight.EVERYTHING, Filter.ALL, site)
                .params(Map.of("after", experiment - 1, "limit", 1))
                .param("states", selected(State.RETIRED))
                .query((row, n) -> found(row, n, null))
                .single()
                .state();
    }

    /**
     * Returns how many of the visible experiments are at risk at a site, by state, the gravest first.
     *
     * @param shown the number of experiments to name for each state
     */
    public List<Risk> risks(Sight sight, int site, int shown) {
        return jdbc.sql("""
                        select risk as state, experiments, array_agg(name order by experiment_id) as first
                        from (
                            select x.risk, e.experiment_id, p.code || '/' || e.code as name,
                                   count(*) over (partition by x.risk) as experiments,
                                   row_number() over (partition by x.risk order by e.experiment_id) as place
                            from (select experiment_id, min(risk) as risk from risks(:site, :now, :usual::interval)
                                  group by experiment_id) x
                            join experiment e using (experiment_id)
                            join project p using (project_id)
                            where in_sight(:seen, p.code)
                        ) named
                        where place <= :shown
                        group by risk, experiments
                        order by risk
                        """)
                .params(Map.of("now", Timestamp.from(clock.instant()), "usual", settings.interval()))
                .params(Map.of("seen", sight.seen(), "site", site, "shown", shown))
                .query(Rows.of(Risk.class))
                .list();
    }

    /** Returns the names of the states that a state selects as a filter. */
    private static String[] selected(State wanted) {
        return Arrays.stream(State.values())
                .filter(state ->
                        state == wanted || (wanted == State.AT_RISK && state.atRisk()) || wanted == State.RETIRED)
                .map(State::name)
                .toArray(String[]::new);
    }

    /**
     * Returns at most {@code limit} visible, selected experiments with an id above {@code after}, by id.
     *
     * @param site the site of the states; a site that does not exist has no sealed data
     */
    public List<Found> page(Sight sight, Filter wanted, int site, int after, int limit) {
        return asked(wanted.state == null ? BY_ID : inState(wanted.state), sight, wanted, site)
                .params(Map.of("after", after, "limit", limit))
                .query((row, n) -> found(row, n, null))
                .list();
    }

    /**
     * Returns at most {@code limit} visible, selected experiments in an order.
     *
     * @param after the place after which they begin; null: from the first one
     */
    public List<Found> page(
            Sight sight, Filter wanted, int site, ExperimentOrder order, @Nullable Place after, int limit) {
        if (order.equals(ExperimentOrder.REGISTERED)) {
            return page(sight, wanted, site, after == null ? 0 : after.id(), limit);
        }
        return asked(sorted(wanted.state, order), sight, wanted, site)
                .param("after", 0)
                .param("id", after == null ? null : after.id())
                .param("key", after == null ? null : Objects.requireNonNullElse(after.key(), after.id()))
                .param("all", Arrays.stream(State.values()).map(State::name).toArray(String[]::new))
                .param("limit", limit)
                .query((row, n) -> found(row, n, order.by().keyOf(row)))
                .list();
    }

    /** Returns the sums over all visible, selected experiments. */
    public Sums sums(Sight sight, Filter wanted, int site) {
        return asked("""
                        select count(*) as experiments, count(*) filter (where e.entries = e.entries_safe) as experiments_safe,
                               coalesce(sum(e.bytes), 0)::bigint as bytes,
                               coalesce(sum(e.bytes_safe), 0)::bigint as bytes_safe
                        from\s""" + found(wanted.state, false), sight, wanted, site)
                .param("after", 0)
                .query(Sums.class)
                .single();
    }

    /** Returns the scanners of the visible experiments, at most {@value #KNOWN_MAX}, by code. */
    public List<String> scanners(Sight sight) {
        return known("scanner", "true", sight);
    }

    /** Returns those of them that nobody has retired: the choices for a registration. */
    public List<String> scannersInUse(Sight sight) {
        return known(
                "scanner",
                "not exists (select from scanner s where s.code = e.scanner and s.retired_at is not null)",
                sight);
    }

    /** Returns the modalities of the visible experiments, at most {@value #KNOWN_MAX}, by code. */
    public List<String> modalities(Sight sight) {
        return known("modality", "true", sight);
    }

    private List<String> known(String column, String which, Sight sight) {
        return jdbc.sql("""
                        select distinct e.%1$s from experiment e join project p using (project_id)
                        where e.%1$s is not null and in_sight(:seen, p.code) and %2$s
                        order by e.%1$s limit :limit
                        """.formatted(column, which))
                .params(Map.of("seen", sight.seen(), "limit", KNOWN_MAX))
                .query((row, n) -> row.getString(1))
                .list();
    }

    private JdbcClient.StatementSpec asked(String statement, Sight sight, Filter wanted, int site) {
        String text = wanted.text == null ? null : wanted.text.strip().toLowerCase(Locale.ROOT);
        int slash = text == null ? -1 : text.indexOf('/');
        String source = wanted.source == null ? null : wanted.source.strip();
        return jdbc.sql(statement)
                .params(Map.of("now", Timestamp.from(clock.instant()), "usual", settings.interval()))
                .params(Map.of("seen", sight.seen(), "site", site))
                .params(Rows.params(wanted))
                .param("start", text == null ? null : literally(text) + "%")
                .param("words", text == null ? null : "%" + literally(text) + "%")
                .param("projects", text == null ? new Integer[0] : projects(literally(text) + "%"))
                .param(
                        "named",
                        text == null || slash < 0 ? new Integer[0] : projects(literally(text.substring(0, slash))))
                .param("code", text == null || slash < 0 ? null : literally(text.substring(slash + 1)) + "%")
                .params(parts("path", slash < 0 || wanted.text == null ? null : wanted.text.strip()))
                .params(parts("source", source))
                .param("states", wanted.state == null ? new String[0] : selected(wanted.state));
    }

    private static Found found(ResultSet row, int n, @Nullable Object key) throws SQLException {
        Experiment experiment = Objects.requireNonNull(Experiments.EXPERIMENT.mapRow(row, n));
        long files = row.getLong("files");
        Held held = row.wasNull()
                ? null
                : new Held(
                        files,
                        row.getLong("bytes"),
                        row.getLong("bytes_safe"),
                        row.getLong("entries") == row.getLong("entries_safe"));
        return new Found(experiment, State.valueOf(row.getString("state")), held, new Place(experiment.id(), key));
    }

    /**
     * Returns the projects with codes like this. This is a separate query, because a subquery would keep the main query
     * from its indexes.
     */
    private Integer[] projects(String pattern) {
        return jdbc.sql("select project_id from project where lower(code) like :pattern")
                .param("pattern", pattern)
                .query((row, n) -> row.getInt(1))
                .list()
                .toArray(Integer[]::new);
    }

    /** Returns parameters for a part of a path: all bytes that it may be, and their patterns. Null: any path. */
    private static Map<String, SqlParameterValue> parts(String name, @Nullable String text) {
        byte[][] parts = text == null ? null : FilePath.written(text).toArray(byte[][]::new);
        String[] patterns = parts == null
                ? null
                : Arrays.stream(parts).map(ExperimentSearch::pattern).toArray(String[]::new);
        return Map.of(
                name + "Parts", new SqlParameterValue(Types.ARRAY, parts),
                name + "Patterns", new SqlParameterValue(Types.ARRAY, patterns));
    }

    /** Returns a pattern for a part of {@code encode(path, 'escape')}. */
    private static String pattern(byte[] part) {
        StringBuilder written = new StringBuilder();
        for (byte b : part) {
            written.append(b < 0 ? "\\%03o".formatted(b & 0xff) : b == '\\' ? "\\\\" : String.valueOf((char) b));
        }
        return "%" + literally(written.toString()) + "%";
    }

    /** Escapes the text for a pattern that matches only the text. */
    private static String literally(String text) {
        return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_");
    }
}
