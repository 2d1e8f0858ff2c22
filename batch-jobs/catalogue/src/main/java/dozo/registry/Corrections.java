package dozo.registry;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.registry.Experiments.Experiment;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Corrects what was typed of an experiment. Its codes name folders at the sites and stay, and nothing is sent again. */
@Component
public class Corrections {

    private static final int BATCH = 5_000;

    private final JdbcClient jdbc;
    private final Experiments experiments;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * What is corrected of an experiment. Null: it stays. Empty: it is unknown from now on, or there is none.
     *
     * @param title at most 200 characters in one line
     * @param modality as DICOM codes it, such as MR or MEG
     * @param scanner the scanner's code
     * @param acquired a day as 2026-10-01
     * @param subject the pseudonymous code of the person who was examined
     * @param note one line of at most 500 characters
     */
    public record Correction(
            @Nullable String title,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable String acquired,
            @Nullable String subject,
            @Nullable String note) {}

    /** A correction of a locked experiment. */
    record Change(int id, String name, TypedDetails before, TypedDetails after) {}

    Corrections(JdbcClient jdbc, Experiments experiments, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.experiments = experiments;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Corrects an experiment. The ledger gets each changed field with its value before and after.
     *
     * @return the experiment as it is now; empty if there is none
     * @throws Refusal if a field is malformed, or it was acquired in the future
     */
    @Transactional
    public Optional<Experiment> correct(String project, String code, Correction wanted, String actor) {
        experiments.lock(project, code);
        Optional<Experiment> found = experiments.find(project, code);
        if (found.isEmpty()) {
            return found;
        }
        TypedDetails before = TypedDetails.of(found.get());
        TypedDetails after = before.with(wanted, clock);
        if (after.equals(before)) {
            return found;
        }
        write(List.of(new Change(found.get().id(), found.get().name(), before, after)), actor);
        return experiments.find(project, code);
    }

    /** Writes corrections with their ledger rows. The rows come last, because they lock the ledger. */
    void write(List<Change> changes, String actor) {
        for (int from = 0; from < changes.size(); from += BATCH) {
            update(changes.subList(from, Math.min(changes.size(), from + BATCH)));
        }
        // Rows that are appended together have the same fields.
        Map<List<String>, List<Subject>> rows = new LinkedHashMap<>();
        for (Change change : changes) {
            Map<String, String> said = change.before.changes(change.after);
            rows.computeIfAbsent(List.copyOf(said.keySet()), _ -> new ArrayList<>())
                    .add(new Subject(change.name, List.copyOf(said.values())));
        }
        rows.forEach((fields, told) -> {
            for (int from = 0; from < told.size(); from += BATCH) {
                List<Subject> some = told.subList(from, Math.min(told.size(), from + BATCH));
                ledger.appendAll(actor, "experiment.corrected", fields, some);
            }
        });
    }

    private void update(List<Change> changes) {
        jdbc.sql("""
                        update experiment e
                            set title = w.title, modality = w.modality, scanner = w.scanner, acquired_on = w.day, subject = w.subject,
                                note = w.note
                        from unnest(:ids::integer[], :titles::text[], :modalities::text[], :scanners::text[], :days::text[]::date[],
                                    :subjects::text[], :notes::text[]) as w (id, title, modality, scanner, day, subject, note)
                        where e.experiment_id = w.id
                        """)
                .param("ids", changes.stream().map(Change::id).toArray(Integer[]::new))
                .param("titles", texts(changes, "title"))
                .param("modalities", texts(changes, "modality"))
                .param("scanners", texts(changes, "scanner"))
                .param("days", texts(changes, "acquired"))
                .param("subjects", texts(changes, "subject"))
                .param("notes", texts(changes, "note"))
                .update();
    }

    private static String[] texts(List<Change> changes, String field) {
        return changes.stream()
                .map(change -> Objects.toString(change.after.fields().get(field), null))
                .toArray(String[]::new);
    }
}
