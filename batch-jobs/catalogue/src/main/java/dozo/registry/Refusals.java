package dozo.registry;

import dozo.registry.FileQuestion.Unanswered;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects the refusals of a request, so that a user learns of all wrong fields at once. */
public final class Refusals {

    private final List<Refusal> all = new ArrayList<>();

    /**
     * Returns the value if it is valid; otherwise null, and keeps the refusal.
     *
     * @throws Unanswered if nothing is known about the value
     */
    public <T> @Nullable T tried(Supplier<? extends T> value) {
        try {
            return value.get();
        } catch (Unanswered unknown) {
            throw unknown;
        } catch (Refusal refusal) {
            add(refusal);
            return null;
        }
    }

    /** Keeps a refusal. */
    public void add(Refusal refusal) {
        all.addAll(refusal.all());
    }

    /** Returns what was refused so far. */
    public List<Refusal> all() {
        return List.copyOf(all);
    }

    /**
     * Ends the checks.
     *
     * @throws Refusal if anything was refused; it contains all refusals
     */
    public void refuse() {
        if (!all.isEmpty()) {
            throw Refusal.of(all);
        }
    }
}
