package dozo.ledger;

import java.util.ArrayList;
import java.util.List;

/** What was found, counted; the first hundred are kept, so that a wrecked ledger does not fill the memory. */
public final class Breaches {

    /** How many are kept. */
    public static final int KEPT_MAX = 100;

    private final List<Breach> kept = new ArrayList<>();
    private long count;

    public void add(Breach breach) {
        count++;
        if (kept.size() < KEPT_MAX) {
            kept.add(breach);
        }
    }

    /** How many there are. */
    public long count() {
        return count;
    }

    /** The first of them, in the order they were found. */
    public List<Breach> kept() {
        return List.copyOf(kept);
    }
}
