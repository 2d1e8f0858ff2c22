package dozo.search;

import dozo.search.Hit.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was found.
 *
 * @param items by kind; within a kind the most useful first
 * @param next the {@code after} of the next page, if one kind was searched; omitted on the last page
 * @param more the kinds of which there is more, or may be more
 * @param partial whether not all that may match was read, of files because the time was up, of findings only if everything is
 *     searched, so that nothing is known of the rest; the next page continues there
 */
public record SearchResult(List<Hit> items, @Nullable String next, List<Kind> more, boolean partial) {}
