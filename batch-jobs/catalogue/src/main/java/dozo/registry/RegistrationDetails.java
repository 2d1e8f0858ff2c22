package dozo.registry;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What the ledger keeps of registered experiments. */
final class RegistrationDetails {

    static final String REGISTERED = "experiment.registered";

    /** The details of every registered experiment. */
    static final List<String> NAMES = List.of("source_sha256", "kind", "modality", "scanner", "acquired");

    private RegistrationDetails() {}

    /** Returns the values of {@link #NAMES}, in that order. */
    static List<String> of(Path source, SourceKind kind, Acquisition acquisition) {
        return List.of(
                digest(source),
                kind.word(),
                known(acquisition.modality()),
                known(acquisition.scanner()),
                known(acquisition.day()));
    }

    static Map<String, String> of(Path source, SourceKind kind, Acquisition acquisition, @Nullable SourceList list) {
        Map<String, String> details = new HashMap<>();
        List<String> values = of(source, kind, acquisition);
        for (int i = 0; i < NAMES.size(); i++) {
            details.put(NAMES.get(i), values.get(i));
        }
        if (list != null) {
            details.put("list_sha256", digest(list.file()));
            details.put("list_form", list.form().word());
        }
        return details;
    }

    static String of(Path source) {
        return "folder " + digest(source);
    }

    static String of(@Nullable SourceList list) {
        return list == null
                ? "walked"
                : "list %s by %s".formatted(digest(list.file()), list.form().word());
    }

    /**
     * Returns the digest of a path's bytes: folders may be named after people, and ledger rows are permanent. The
     * experiment has the path itself.
     */
    private static String digest(Path path) {
        return GivenPaths.digest(path).toString();
    }

    private static String known(@Nullable Object attribute) {
        return Objects.toString(attribute, "unknown");
    }
}
