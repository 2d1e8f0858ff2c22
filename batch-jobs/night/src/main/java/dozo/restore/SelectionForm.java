package dozo.restore;

import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.PathPattern;
import dozo.file.Selection;
import dozo.registry.Refusal;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The fields of a request that select what is restored. */
public final class SelectionForm {

    private SelectionForm() {}

    /**
     * Parses the fields {@code paths} and {@code patterns}; all empty: everything.
     *
     * @param series the paths of the field {@code series}
     * @throws Refusal for the field that is wrong
     */
    public static Selection of(List<byte[]> paths, List<byte[]> patterns, List<FilePath> series) {
        List<FilePath> parsed = field(
                "paths",
                () -> Stream.concat(paths.stream().map(Selection::path), series.stream())
                        .toList());
        List<PathPattern> compiled =
                field("patterns", () -> patterns.stream().map(PathPattern::of).toList());
        return field("paths", () -> new Selection(parsed, compiled));
    }

    private static <T> T field(String field, Supplier<T> parse) {
        try {
            return parse.get();
        } catch (Malformed e) {
            throw new Refusal(field, e.message());
        }
    }
}
