package dozo.restore;

import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.PathPattern;
import dozo.file.Selection;
import dozo.registry.Refusal;
import java.util.List;
import java.util.function.Supplier;

/** The fields of a request that select what is restored. */
public final class SelectionForm {

    private SelectionForm() {}

    /**
     * Parses the fields {@code paths} and {@code patterns}; both empty: everything.
     *
     * @throws Refusal for the field that is wrong
     */
    public static Selection of(List<byte[]> paths, List<byte[]> patterns) {
        List<FilePath> parsed =
                field("paths", () -> paths.stream().map(Selection::path).toList());
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
