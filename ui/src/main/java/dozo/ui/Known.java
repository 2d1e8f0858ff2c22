package dozo.ui;

import dozo.ledger.Sight;
import dozo.people.Searches;
import dozo.people.Searches.Search;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What lists of pages show besides their items: what experiments are of which a list has only the names, by one query
 * for the list, and the searches that the reader keeps for it.
 *
 * @param sight of the reader; null: nobody is logged in
 */
record Known(
        Experiments experiments,
        Searches searches,
        @Nullable Sight sight,
        String reader) {

    public List<Search> searches(String list) {
        return searches.of(reader, list);
    }

    /** Returns those of these experiments that the reader sees, by name. */
    public Map<String, Experiment> of(Collection<@Nullable String> names) {
        var given = names.stream().filter(Objects::nonNull).distinct().toList();
        return sight == null || given.isEmpty() ? Map.of() : experiments.named(sight, given);
    }
}
