package dozo.identity;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The places where names were found, and how much was searched. The names themselves are not kept. */
public final class Places {

    private final SortedMap<String, Found> found = new TreeMap<>();
    private final List<String> searched = new ArrayList<>();

    /**
     * A place with names.
     *
     * @param where a column of the database, an experiment's folder at a site, or a file
     * @param hits how many values, paths or files contain at least one
     * @param lines of the list: whose names they are
     */
    public record Found(String where, long hits, SortedSet<Integer> lines) {}

    void add(String where, SortedSet<Integer> lines) {
        if (!lines.isEmpty()) {
            found.merge(where, new Found(where, 1, lines), Places::sum);
        }
    }

    private static Found sum(Found one, Found other) {
        SortedSet<Integer> lines = new TreeSet<>(one.lines);
        lines.addAll(other.lines);
        return new Found(one.where, one.hits + other.hits, lines);
    }

    void searched(String what) {
        searched.add(what);
    }

    /** Returns the places, in their order. */
    public List<Found> found() {
        return List.copyOf(found.values());
    }

    /** Returns what was searched, in words. */
    public List<String> searched() {
        return List.copyOf(searched);
    }
}
