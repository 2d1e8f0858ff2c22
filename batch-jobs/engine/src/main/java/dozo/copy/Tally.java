package dozo.copy;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.copy.Copy.Proofs;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** Counts what a copy has found and verified, and reports its findings one at a time. */
final class Tally implements Fetch.Outcomes {

    private final LongAdder entries = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder entriesVerified = new LongAdder();
    private final LongAdder bytesVerified = new LongAdder();
    private volatile boolean counted;
    private volatile Consumer<Finding> listener = finding -> {};
    private final Proofs proofs;

    Tally(Proofs proofs) {
        this.proofs = proofs;
    }

    /** Sets the receiver of findings. */
    void tell(Consumer<Finding> findings) {
        listener = findings;
    }

    /** Tells what a dry run has found, and that it would be copied there. */
    synchronized void tellFound(FilePath path) {
        proofs.found(path);
    }

    /** Reports what a copy was to take, and has not found. */
    void tellMissing(Filter filter) {
        filter.missing()
                .forEach(path ->
                        finding(path, Problem.NO_MATCH, "the list names it, but it was not found in the source"));
    }

    /** Counts something to copy. */
    void found(long sizeBytes) {
        entries.increment();
        bytes.add(sizeBytes);
    }

    /** Counts and reports something that cannot be copied. */
    void foundUnfit(FilePath path, Problem problem, String message) {
        entries.increment();
        finding(path, problem, message);
    }

    /** Records that everything has been found. */
    void counted() {
        counted = true;
    }

    /**
     * Records the outcome of an entry sent to a site.
     *
     * @param content where the source is below the destination
     */
    void outcome(FilePath content, Outcome outcome) {
        switch (outcome) {
            case Verified verified -> {
                Entry entry = verified.entry();
                if (entry.facts().kind() == EntryKind.FILE) {
                    proven(content.resolve(entry.path()), verified.digest());
                }
                verified(entry.facts().sizeBytes());
            }
            case Failed failed -> finding(failed.entry().path(), failed.problem(), failed.message());
        }
    }

    @Override
    public void proven(Found file, Digest digest) {
        proven(file.local(), digest);
    }

    synchronized void proven(FilePath path, Digest digest) {
        proofs.file(path, digest);
    }

    @Override
    public void verified(Found found) {
        verified(found.contentBytes());
    }

    @Override
    public void failed(Found found, Problem problem, String message) {
        finding(found.path(), problem, message);
    }

    @Override
    public void resized(long moreBytes) {
        bytes.add(moreBytes);
    }

    void verified(long sizeBytes) {
        entriesVerified.increment();
        bytesVerified.add(sizeBytes);
    }

    /** Reports something; one at a time. */
    synchronized void finding(FilePath path, Problem problem, String message) {
        listener.accept(new Finding(path, problem, message));
    }

    synchronized void finding(Finding finding) {
        listener.accept(finding);
    }

    Progress progress(long bytesMoved, int lanes) {
        return new Progress(
                entries.sum(), bytes.sum(), counted, entriesVerified.sum(), bytesVerified.sum(), bytesMoved, lanes);
    }
}
