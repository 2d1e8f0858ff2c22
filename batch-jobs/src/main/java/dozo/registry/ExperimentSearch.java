package dozo.registry;

import dozo.ledger.Sight;
import dozo.registry.Experiments.Experiment;
import java.sql.Types;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Finds experiments by what people remember of them. */
@Component
public class ExperimentSearch {

    /** A text that is searched for has at most so many characters. */
    public static final int TEXT_LENGTH_MAX = 200;

    private final JdbcClient jdbc;

    /** How an experiment stands at a site. */
    public enum State {
        /** Never looked at. */
        UNSEEN,
        /** Every entry of its current manifest has a receipt. */
        SAFE,
        NOT_SAFE,
        /** Nothing is done with it until it is released; of what was known before, it may be safe or not. */
        FROZEN;

        /** Its word in REST. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /**
         * The state of this word.
         *
         * @throws Refusal when there is none
         */
        public static State of(String word) {
            return Arrays.stream(values())
                    .filter(state -> state.word().equals(word))
                    .findFirst()
                    .orElseThrow(() -> new Refusal(
                            "state", "\"%s\": unseen, safe, not-safe and frozen are accepted".formatted(word)));
        }
    }

    /**
     * Which experiments are wanted; null: any.
     *
     * @param text in the code or title, wherever and in any case; or the beginning of the project's code, or of
     *     {@code project/code}
     * @param from acquired on this day or later
     * @param until acquired on this day or earlier
     */
    public record Wanted(
            @Nullable String text,
            @Nullable String project,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable LocalDate from,
            @Nullable LocalDate until,
            @Nullable State state) {

        /** All experiments. */
        public static final Wanted ALL = new Wanted(null, null, null, null, null, null, null);

        /** Refuses a text that is too long ({@link Refusal}). */
        public Wanted {
            if (text != null && (text.length() > TEXT_LENGTH_MAX || !Code.isText(text))) {
                throw new Refusal("q", "a line of at most %d characters is accepted".formatted(TEXT_LENGTH_MAX));
            }
        }
    }

    /**
     * An experiment that was found.
     *
     * @param state {@link State#UNSEEN}, {@link State#SAFE} or {@link State#NOT_SAFE}
     */
    public record Found(Experiment experiment, State state) {}

    public ExperimentSearch(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public List<Found> page(Wanted wanted, int site, int after, int limit) {
        return page(Sight.EVERYTHING, wanted, site, after, limit);
    }

    /**
     * At most {@code limit} of the experiments that are seen and wanted with an id above {@code after}, by id.
     *
     * @param site at which their state counts; at none they are unseen
     */
    public List<Found> page(Sight sight, Wanted wanted, int site, int after, int limit) {
        String text = wanted.text == null ? null : wanted.text.strip().toLowerCase(Locale.ROOT);
        int slash = text == null ? -1 : text.indexOf('/');
        State state = wanted.state;
        return jdbc.sql("""
                        select e.*, p.code as project, t.experiment_id is not null as seen, t.entries = t.entries_safe as safe
                        from experiment e
                        join project p using (project_id)
                        left join protection t on t.experiment_id = e.experiment_id and t.site_id = :site
                        where e.experiment_id > :after
                          and (:seen::text[] is null
                               or e.project_id in (select project_id from project where code = any(:seen::text[])))
                          and (:project::text is null
                               or e.project_id = (select project_id from project where code = :project))
                          and (:modality::text is null or e.modality = :modality)
                          and (:scanner::text is null or e.scanner = :scanner)
                          and (:from::date is null or e.acquired_on >= :from)
                          and (:until::date is null or e.acquired_on <= :until)
                          and (:words::text is null
                               or lower(e.code || ' ' || e.title) like :words
                               or e.project_id = any(:projects)
                               or (e.project_id = any(:named) and lower(e.code) like :code))
                          and case :state::text
                                  when 'UNSEEN' then t.experiment_id is null
                                  when 'SAFE' then t.entries = t.entries_safe is true
                                  when 'NOT_SAFE' then t.entries = t.entries_safe is false
                                  when 'FROZEN' then exists (select from frozen_experiment f
                                                             where f.experiment_id = e.experiment_id
                                                               and f.ended_at is null and f.released_at is null)
                                  else true
                              end
                        order by e.experiment_id
                        limit :limit
                        """)
                .param("seen", sight.seen(), Types.ARRAY)
                .param("site", site)
                .param("after", after)
                .param("project", wanted.project)
                .param("modality", wanted.modality)
                .param("scanner", wanted.scanner)
                .param("from", wanted.from)
                .param("until", wanted.until)
                .param("words", text == null ? null : "%" + literally(text) + "%")
                .param("projects", text == null ? new Integer[0] : projects(literally(text) + "%"))
                .param(
                        "named",
                        text == null || slash < 0 ? new Integer[0] : projects(literally(text.substring(0, slash))))
                .param("code", text == null || slash < 0 ? null : literally(text.substring(slash + 1)) + "%")
                .param("state", state == null ? null : state.name())
                .param("limit", limit)
                .query((row, n) -> new Found(
                        Objects.requireNonNull(Experiments.EXPERIMENT.mapRow(row, n)),
                        row.getBoolean("safe") ? State.SAFE : row.getBoolean("seen") ? State.NOT_SAFE : State.UNSEEN))
                .list();
    }

    /** The projects whose codes are like this. Asked first: a question within the other one would keep it from its indexes. */
    private Integer[] projects(String pattern) {
        return jdbc.sql("select project_id from project where lower(code) like :pattern")
                .param("pattern", pattern)
                .query((row, n) -> row.getInt(1))
                .list()
                .toArray(Integer[]::new);
    }

    /** The text as a pattern that only it is like. */
    private static String literally(String text) {
        return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_");
    }
}
