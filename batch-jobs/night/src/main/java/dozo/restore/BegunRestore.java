package dozo.restore;

import dozo.copy.Copy.Finding;
import dozo.copy.Restore;
import dozo.restore.Restores.Took;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A restore that this process began. */
final class BegunRestore {

    final long id;
    final boolean drill;
    final Restore restore;
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

    BegunRestore(KeptRestore kept, Restore restore) {
        this.id = kept.id();
        this.drill = kept.drill();
        this.restore = restore;
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
