package dozo.registry;

import static java.util.Objects.requireNonNullElse;

import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.registry.Experiments.Experiment;
import java.sql.Types;
import java.time.InstantSource;
import java.util.LinkedHashMap;
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

    private static final int NOTE_LENGTH_MAX = 500;

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

    /** What people say of an experiment. */
    private record Said(
            String title, Acquisition acquisition, @Nullable String subject, String note) {

        static Said of(Experiment experiment) {
            return new Said(experiment.title(), experiment.acquisition(), experiment.subject(), experiment.note());
        }

        /** Returns it with the correction; refuses all wrong fields at once. */
        Said with(Correction wanted) {
            Refusals refusals = new Refusals();
            String corrected = requireNonNullElse(wanted.title, title).strip();
            refusals.tried(() -> Code.checkedTitle(corrected));
            Acquisition known = requireNonNullElse(
                    refusals.tried(() -> new Acquisition(
                            chosen(wanted.modality, acquisition.modality()),
                            chosen(wanted.scanner, acquisition.scanner()),
                            wanted.acquired == null
                                    ? acquisition.day()
                                    : wanted.acquired.isBlank()
                                            ? null
                                            : WrittenDay.ofIso("acquired", wanted.acquired.strip()))),
                    Acquisition.UNKNOWN);
            String person = chosen(wanted.subject, subject);
            if (person != null) {
                refusals.tried(() -> Code.checked("subject", person));
            }
            String words = requireNonNullElse(wanted.note, note).strip();
            if (words.length() > NOTE_LENGTH_MAX || !Code.isText(words)) {
                refusals.add(
                        new Refusal("note", "expected a note of at most %d characters in one line", NOTE_LENGTH_MAX));
            }
            refusals.refuse();
            return new Said(corrected, known, person, words);
        }

        private static @Nullable String chosen(@Nullable String wanted, @Nullable String present) {
            return wanted == null ? present : wanted.isBlank() ? null : wanted.strip();
        }

        /** Returns it for the ledger, which is permanent: of texts that may have names, only the digest. */
        Map<String, String> facts() {
            Map<String, String> facts = new LinkedHashMap<>();
            facts.put("title_sha256", Digest.ofText(title).toString());
            facts.put("modality", requireNonNullElse(acquisition.modality(), "unknown"));
            facts.put("scanner", requireNonNullElse(acquisition.scanner(), "unknown"));
            facts.put("acquired", Objects.toString(acquisition.day(), "unknown"));
            facts.put(
                    "subject_sha256",
                    subject == null ? "unknown" : Digest.ofText(subject).toString());
            facts.put("note_sha256", Digest.ofText(note).toString());
            return facts;
        }
    }

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
        Said before = Said.of(found.get());
        Said after = before.with(wanted);
        Experiments.checkDay(after.acquisition, clock);
        if (after.equals(before)) {
            return found;
        }
        jdbc.sql("""
                        update experiment
                            set title = :title, modality = :modality, scanner = :scanner, acquired_on = :day, subject = :subject, note = :note
                        where experiment_id = :id
                        """)
                .param("title", after.title)
                .param("modality", after.acquisition.modality(), Types.VARCHAR)
                .param("scanner", after.acquisition.scanner(), Types.VARCHAR)
                .param("day", after.acquisition.day(), Types.DATE)
                .param("subject", after.subject, Types.VARCHAR)
                .param("note", after.note)
                .param("id", found.get().id())
                .update();
        Map<String, String> changes = new LinkedHashMap<>();
        Map<String, String> now = after.facts();
        before.facts().forEach((field, value) -> {
            if (!value.equals(now.get(field))) {
                changes.put(field, "%s → %s".formatted(value, now.get(field)));
            }
        });
        ledger.append(actor, "experiment.corrected", found.get().name(), changes);
        return experiments.find(project, code);
    }
}
