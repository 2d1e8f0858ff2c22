package dozo.suggest;

import dozo.registry.Guess;
import dozo.registry.Hint;
import dozo.registry.Hint.Kind;
import dozo.registry.Refusal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Cached guesses for the folders of one file or form: a folder whose guess a user has seen is not read again. */
public final class FileGuesses implements Function<Path, Guess> {

    static final int FOLDERS_MAX = 1_000;

    private static final Guess NOT_LOOKED =
            new Guess(null, null, null, null, null, null, List.of(Hint.of(Kind.NOT_LOOKED)));
    private static final Guess NONE = new Guess(null, null, null, null, null, null, List.of());

    private final Function<Path, Suggestion> look;
    private final Duration timeMax;
    private final Map<Path, Guess> known = new HashMap<>();
    private final List<Suggestion> seen = new ArrayList<>();
    private long nanos;

    /** @param timeMax after it, folders are not read any more */
    FileGuesses(Function<Path, Suggestion> look, Duration timeMax) {
        this.look = look;
        this.timeMax = timeMax;
    }

    @Override
    public synchronized Guess apply(Path source) {
        Guess before = known.get(source);
        if (before != null) {
            return before;
        }
        if (known.size() >= FOLDERS_MAX || nanos > timeMax.toNanos()) {
            return NOT_LOOKED;
        }
        long began = System.nanoTime();
        Guess guess = guess(source);
        nanos += System.nanoTime() - began;
        known.put(source, guess);
        return guess;
    }

    synchronized List<Suggestion> seen() {
        return List.copyOf(seen);
    }

    /** Returns no guess for a refused folder: its line's verdict states the reason. */
    private Guess guess(Path source) {
        try {
            Suggestion suggestion = look.apply(source);
            seen.add(suggestion);
            return suggestion.guess();
        } catch (Refusal refused) {
            return NONE;
        }
    }
}
