package dozo.copy;

import dozo.copy.Destination.Refused;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteFacts.Kind;
import java.io.IOException;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;

/** Counts entries that were restored, and what of their facts the folder's file system did not take. Thread-safe. */
final class LostFacts {

    /** setuid, setgid and sticky. */
    private static final int SPECIAL_BITS = 07000;

    /** How many entries whose time is lost are findings of their own; the others are counted. */
    private static final int TIMES_NAMED_MAX = 100;

    private final Tally tally;
    private final Rights rights;
    private final LongAdder tooLong = new LongAdder();
    private final LongAdder unlinked = new LongAdder();
    private final LongAdder bitsLost = new LongAdder();
    private final LongAdder timesLost = new LongAdder();

    LostFacts(Tally tally, Rights rights) {
        this.tally = tally;
        this.rights = rights;
    }

    /** Counts an entry, and facts of it that this file system did not take. Only unusual ones are looked at. */
    void verified(LocalTree local, Found found) throws IOException, Refused {
        long seconds = Retrieval.seconds(found.modifiedNanos());
        if ((found.mode() & SPECIAL_BITS) != 0 || seconds < 0 || seconds > Integer.MAX_VALUE) {
            Facts now = local.facts(found.local());
            if (found.facts().kind() != Kind.LINK && (now.mode() & SPECIAL_BITS) != (found.mode() & SPECIAL_BITS)) {
                bitsLost.increment();
            }
            boolean outOfRange =
                    seconds == Retrieval.seconds(Long.MAX_VALUE) || seconds == Retrieval.seconds(Long.MIN_VALUE);
            if (outOfRange || now.modifiedNanos() != found.modifiedNanos()) {
                timeLost(found, now);
            }
        }
        tally.verified(found);
    }

    private void timeLost(Found found, Facts now) {
        timesLost.increment();
        if (timesLost.sum() <= TIMES_NAMED_MAX) {
            tally.finding(
                    found.path(),
                    Problem.NOT_SET,
                    "%s: its time of modification, %s, cannot be stored here and is %s now"
                            .formatted(found.path(), instant(found.modifiedNanos()), instant(now.modifiedNanos())));
        }
    }

    private static Instant instant(long nanos) {
        return Instant.ofEpochSecond(0, nanos);
    }

    /** Counts an entry that cannot be created here. */
    void refused(LocalTree local, Found found, Refused why) {
        if (local.isTooLong(found.local())) {
            tooLong.increment();
        }
        tally.failed(found, Problem.DESTINATION_REFUSED, String.valueOf(why.getMessage()));
    }

    /** Returns the number of entries whose paths are too long here. */
    long tooLong() {
        return tooLong.sum();
    }

    /** Counts a name of a hard link group that is a file of its own here. */
    void unlinked() {
        unlinked.increment();
    }

    /** Reports them as findings. */
    void report() {
        report(
                unlinked.sum(),
                "%d names of hard links are files of their own: the folder's file system refused the links");
        rights.lost().forEach(lost -> report(lost.entries(), lost.format()));
        report(bitsLost.sum(), "setuid, setgid or sticky could not be set on %d folders or files");
        report(timesLost.sum() - TIMES_NAMED_MAX, "%d more modification times are outside of what can be stored here");
    }

    @SuppressWarnings("AnnotateFormatMethod") // each format has one number
    private void report(long entries, String format) {
        if (entries > 0) {
            tally.finding(FilePath.ROOT, Problem.NOT_SET, format.formatted(entries));
        }
    }
}
