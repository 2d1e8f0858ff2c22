package dozo.archive;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.restore.ArchiveRestore.Counts;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** What a restore into an archive has done so far, and whom it tells what it could not do. Safe for use by several threads. */
final class Tally {

    private final LongAdder entries = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder bytesVerified = new LongAdder();
    private final LongAdder bytesMoved = new LongAdder();
    private volatile Counts counts = new Counts(0, 0, 0, 0, 0, 0);
    private volatile boolean counted;
    private Consumer<Finding> findings = finding -> {};

    /** Tells findings to this consumer from now on. */
    void tell(Consumer<Finding> told) {
        findings = told;
    }

    /** Counts a file that is to be restored. */
    void take(long sizeBytes) {
        entries.increment();
        bytes.add(sizeBytes);
    }

    /** All files have been counted. */
    void allTaken() {
        counted = true;
    }

    void moved(long sizeBytes) {
        bytesMoved.add(sizeBytes);
    }

    /** Counts a file whose bytes the archive has. */
    void verified(long sizeBytes, boolean sent) {
        bytesVerified.add(sizeBytes);
        count(sent ? 1 : 0, sent ? 0 : 1, 0, 0);
    }

    void differing() {
        count(0, 0, 1, 0);
    }

    void notSent(FilePath path, Problem problem, String why) {
        count(0, 0, 0, 1);
        finding(path, problem, why);
    }

    synchronized void found(long studies, long series) {
        Counts now = counts;
        counts = new Counts(
                now.studies() + studies,
                now.series() + series,
                now.sent(),
                now.foundEqual(),
                now.differing(),
                now.notSent());
    }

    private synchronized void count(long sent, long equal, long differing, long notSent) {
        Counts now = counts;
        counts = new Counts(
                now.studies(),
                now.series(),
                now.sent() + sent,
                now.foundEqual() + equal,
                now.differing() + differing,
                now.notSent() + notSent);
    }

    synchronized void finding(FilePath path, Problem problem, String why) {
        findings.accept(new Finding(path, problem, "%s: %s".formatted(path, why)));
    }

    Counts counts() {
        return counts;
    }

    Progress progress() {
        Counts now = counts;
        return new Progress(
                entries.sum(),
                bytes.sum(),
                counted,
                now.sent() + now.foundEqual(),
                bytesVerified.sum(),
                bytesMoved.sum(),
                1);
    }
}
