package dozo.registry;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Labels of experiments: words by which people find and group them. They change nothing about copies. */
@Component
public class Labels {

    /** NB: what an address cannot have in a segment cannot be in a label. */
    private static final Pattern FORM = Pattern.compile("[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N} ._:-]{0,49}");

    private static final String SELECT = """
            select p.code as project, e.code as experiment, l.label, l.labelled_by, l.labelled_at
            from experiment_label l join experiment e using (experiment_id) join project p using (project_id)
            """;

    private static final RowMapper<Label> LABEL = Rows.of(Label.class);

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * A label of an experiment.
     *
     * @param project its project's code
     * @param experiment its code
     */
    public record Label(String project, String experiment, String label, String labelledBy, Instant labelledAt) {

        /** Returns {@code PROJECT/EXPERIMENT/LABEL}, by which lists are sorted. */
        public String key() {
            return "%s/%s/%s".formatted(project, experiment, label);
        }
    }

    public Labels(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Returns at most {@code limit} visible labels after one, by experiment.
     *
     * @param project only of this project; null: of all
     * @param label only this one; null: all
     * @param after the key of a label; empty: from the first on
     */
    public List<Label> page(Sight sight, @Nullable String project, @Nullable String label, String after, int limit) {
        return jdbc.sql(SELECT + """
                        where in_sight(:seen, p.code) and (:project::text is null or p.code = :project)
                          and (:label::text is null or l.label = :label)
                          and concat_ws('/', p.code, e.code, l.label) collate "C" > :after
                        order by concat_ws('/', p.code, e.code, l.label) collate "C" limit :limit
                        """)
                .param("seen", sight.seen())
                .param("project", project)
                .param("label", label)
                .param("after", after)
                .param("limit", limit)
                .query(LABEL)
                .list();
    }

    /**
     * Labels an experiment; if it has the label, nothing changes.
     *
     * @return the label; empty: the experiment does not exist
     * @throws Refusal if the label is none
     */
    @Transactional
    public Optional<Label> add(String project, String code, String typed, String actor) {
        String label = typed.strip();
        if (!FORM.matcher(label).matches()) {
            throw new Refusal(
                    "label",
                    "expected a label of 1 to 50 letters, digits, spaces, . _ : and -, starting with a letter or digit");
        }
        int added = jdbc.sql("""
                        insert into experiment_label (experiment_id, label, labelled_by, labelled_at)
                        select experiment_id, :label, :actor, :now from experiment join project p using (project_id)
                        where p.code = :project and experiment.code = :code
                        on conflict do nothing
                        """)
                .param("project", project)
                .param("code", code)
                .param("label", label)
                .param("actor", actor)
                .param("now", Timestamp.from(clock.instant()))
                .update();
        if (added > 0) {
            append(actor, "label.added", project, code, label);
        }
        return find(project, code, label);
    }

    /** Takes a label from an experiment. Returns it as it was; empty: the experiment does not have it. */
    @Transactional
    public Optional<Label> remove(String project, String code, String label, String actor) {
        Optional<Label> found = find(project, code, label);
        if (found.isPresent()) {
            jdbc.sql("""
                            delete from experiment_label l using experiment e, project p
                            where e.experiment_id = l.experiment_id and p.project_id = e.project_id
                              and p.code = :project and e.code = :code and l.label = :label
                            """)
                    .param("project", project)
                    .param("code", code)
                    .param("label", label)
                    .update();
            append(actor, "label.removed", project, code, label);
        }
        return found;
    }

    /** Returns the labels of an experiment. */
    public List<Label> of(String project, String code) {
        return jdbc.sql(SELECT + "where p.code = :project and e.code = :code order by l.label")
                .param("project", project)
                .param("code", code)
                .query(LABEL)
                .list();
    }

    private Optional<Label> find(String project, String code, String label) {
        return jdbc.sql(SELECT + "where p.code = :project and e.code = :code and l.label = :label")
                .param("project", project)
                .param("code", code)
                .param("label", label)
                .query(LABEL)
                .optional();
    }

    /** The label may be a name, so the ledger gets only its digest. */
    private void append(String actor, String action, String project, String code, String label) {
        ledger.append(actor, action, project + "/" + code, Map.of("label_sha256", new Reason(label).sha256()));
    }
}
