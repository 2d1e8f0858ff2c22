package dozo.worklist;

import dozo.registry.Refusal;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How what arrived differs from what was planned. */
public enum GapKind {
    /** It is due, and nothing of it has arrived. */
    NEVER_SCANNED,
    /** The first of it arrived after it was due. */
    LATE,
    /** It is due, and has fewer series than are expected, or a series has fewer instances. */
    PARTLY,
    /** It arrived under several StudyInstanceUIDs. */
    SPLIT,
    /** Under its StudyInstanceUID another visit arrived: another accession number, subject or day. */
    SAME_UID_TWICE,
    /** It came from another scanner than it is booked at. */
    WRONG_STATION,
    /** Something of it was acquired of another subject than it is booked for. */
    WRONG_SUBJECT,
    /** It was acquired on another day than it is booked for. */
    WRONG_DAY,
    /** A study that belongs to no booking. */
    UNPLANNED;

    /** Its word in REST and on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The kind of this word.
     *
     * @throws Refusal when there is none
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
