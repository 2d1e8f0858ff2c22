package dozo.ledger;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects and counts breaches. Only the first hundred are kept, so that a badly damaged ledger does not fill the
 * memory.
 */
public final class Breaches {

    public static final int KEPT_MAX = 100;

    private final List<Breach> kept = new ArrayList<>();
    private long count;

    public void add(Breach breach) {
        count++;
        if (kept.size() < KEPT_MAX) {
            kept.add(breach);
        }
    }

    public long count() {
        return count;
    }

    /** Returns the first breaches, in the order they were found. */
    public List<Breach> kept() {
        return List.copyOf(kept);
    }
}
