package dozo.worklist;

import com.fasterxml.jackson.annotation.JsonValue;
import dozo.registry.Refusal;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The kinds of differences between planned and arrived data. */
public enum GapKind {
    /** It is due, and nothing has arrived. */
    NEVER_SCANNED,
    /** The first data arrived after it was due. */
    LATE,
    /** It is due, and has fewer series than expected, or a series has fewer instances than expected. */
    PARTLY,
    /** It arrived under several StudyInstanceUIDs. */
    SPLIT,
    /** Another visit has arrived under its StudyInstanceUID: another accession number, subject or day. */
    SAME_UID_TWICE,
    /** It was acquired on another scanner than booked. */
    WRONG_STATION,
    /** Some of its data was acquired from another subject than booked. */
    WRONG_SUBJECT,
    /** It was acquired on another day than booked. */
    WRONG_DAY,
    /** A study that belongs to no booking. */
    UNPLANNED;

    /** Returns its name in REST and on the command line. */
    @JsonValue
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Returns the kind with this name.
     *
     * @throws Refusal if there is none
     */
    public static GapKind of(String word) {
        return Arrays.stream(values())
                .filter(kind -> kind.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new Refusal(
                        "kind",
                        "\"%s\": expected %s",
                        word,
                        Arrays.stream(values()).map(GapKind::word).collect(Collectors.joining(", "))));
    }
}
