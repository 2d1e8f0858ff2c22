package dozo.restore;

import dozo.copy.Copy;
import dozo.copy.Copy.Finding;
import dozo.copy.Restore;
import dozo.restore.ArchiveRestore.Counts;
import dozo.restore.Restores.Took;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A restore that this process began. */
final class BegunRestore {

    final long id;
    final boolean drill;
    final Copy copy;
    final Thread thread = Thread.currentThread();
    final List<Finding> findings = new ArrayList<>();
    volatile long found;
    volatile boolean stopped;

    /** Whether a person's restore goes first. */
    volatile boolean putBack;

    volatile @Nullable Took took;

    /** Whether it was in place, and everything that it put aside is gone: nothing was. */
    volatile boolean nothingAside;

    /** Whether it is no longer worked on. */
    volatile boolean over;

    /** Whether it has a result, which may not be recorded yet. */
    volatile boolean ended;

    BegunRestore(KeptRestore kept, Copy copy) {
        this.id = kept.id();
        this.drill = kept.drill();
        this.copy = copy;
    }

    /** Returns what a restore into an archive has counted. */
    Counts counts() {
        return copy instanceof ArchiveRestore archive ? archive.counts() : Counts.NONE;
    }

    /** Returns whether content has arrived. */
    boolean hasBrought() {
        return copy instanceof Restore restore
                ? restore.firstByteAt() != null
                : copy.progress().bytesMoved() > 0;
    }

    /** Adds a finding. Only one thread calls it at a time. */
    void add(Finding finding) {
        synchronized (findings) {
            if (findings.size() < Restores.FINDINGS_MAX) {
                findings.add(finding);
            }
            found++;
        }
    }
}
