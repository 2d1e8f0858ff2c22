package dozo.registry;

import static java.util.Objects.requireNonNullElse;

import dozo.file.Digest;
import dozo.registry.Corrections.Correction;
import dozo.registry.Experiments.Experiment;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What people typed of an experiment.
 *
 * @param subject null: unknown
 * @param note empty: nothing
 */
record TypedDetails(
        String title, Acquisition acquisition, @Nullable String subject, String note) {

    static final TypedDetails NONE = new TypedDetails("", Acquisition.UNKNOWN, null, "");

    private static final int NOTE_LENGTH_MAX = 500;

    /** Texts that may have names. The ledger is permanent, and gets only their digests. */
    private static final Set<String> DIGESTED = Set.of("title", "subject", "note");

    static TypedDetails of(Experiment experiment) {
        return new TypedDetails(experiment.title(), experiment.acquisition(), experiment.subject(), experiment.note());
    }

    /**
     * Returns it with a correction.
     *
     * @throws Refusal with all wrong fields at once
     */
    TypedDetails with(Correction wanted, InstantSource clock) {
        Refusals refusals = new Refusals();
        String corrected = requireNonNullElse(wanted.title(), title).strip();
        refusals.tried(() -> Code.checkedTitle(corrected));
        String written = chosen(wanted.acquired(), null);
        LocalDate day = wanted.acquired() == null
                ? acquisition.day()
                : written == null ? null : refusals.tried(() -> WrittenDay.ofIso("acquired", written));
        Acquisition known = refusals.tried(() -> {
            Acquisition chosen = new Acquisition(
                    chosen(wanted.modality(), acquisition.modality()),
                    chosen(wanted.scanner(), acquisition.scanner()),
                    day);
            Experiments.checkDay(chosen, clock);
            return chosen;
        });
        String person = chosen(wanted.subject(), subject);
        if (person != null) {
            refusals.tried(() -> Code.checked("subject", person));
        }
        String words = requireNonNullElse(wanted.note(), note).strip();
        if (words.length() > NOTE_LENGTH_MAX || !Code.isText(words)) {
            refusals.add(new Refusal("note", "expected a note of at most %d characters in one line", NOTE_LENGTH_MAX));
        }
        refusals.refuse();
        return new TypedDetails(corrected, requireNonNullElse(known, Acquisition.UNKNOWN), person, words);
    }

    private static @Nullable String chosen(@Nullable String wanted, @Nullable String present) {
        return wanted == null ? present : wanted.isBlank() ? null : wanted.strip();
    }

    /** Returns the values by their fields' names in REST, in a fixed order. */
    Map<String, @Nullable String> fields() {
        Map<String, @Nullable String> fields = new LinkedHashMap<>();
        fields.put("title", title);
        fields.put("modality", acquisition.modality());
        fields.put("scanner", acquisition.scanner());
        fields.put("acquired", Objects.toString(acquisition.day(), null));
        fields.put("subject", subject);
        fields.put("note", note);
        return fields;
    }

    /** Returns the fields that are others in {@code after}, as the ledger keeps them: the value before and after. */
    Map<String, String> changes(TypedDetails after) {
        Map<String, String> changes = new LinkedHashMap<>();
        Map<String, @Nullable String> now = after.fields();
        fields().forEach((field, value) -> {
            if (!Objects.equals(value, now.get(field))) {
                changes.put(
                        DIGESTED.contains(field) ? field + "_sha256" : field,
                        "%s → %s".formatted(kept(field, value), kept(field, now.get(field))));
            }
        });
        return changes;
    }

    private static String kept(String field, @Nullable String value) {
        if (value == null) {
            return "unknown";
        }
        return DIGESTED.contains(field) ? Digest.ofText(value).toString() : value;
    }
}
