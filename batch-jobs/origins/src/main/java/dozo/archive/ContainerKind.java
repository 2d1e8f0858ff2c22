package dozo.archive;

import dozo.source.flywheel.Writes;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The kinds of a Flywheel's containers, with the fields that its API lets a client set. */
enum ContainerKind {
    GROUP("label"),
    PROJECT("label", "description"),
    SUBJECT("label", "code", "sex", "type", "species", "strain", "cohort", "race", "ethnicity"),
    SESSION("label", "uid", "timestamp", "timezone", "age", "weight", "operator"),
    ACQUISITION("label", "uid", "timestamp", "timezone"),
    ANALYSIS("label", "description");

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    final List<String> fields;

    ContainerKind(String... fields) {
        this.fields = List.of(fields);
    }

    /** Returns the kind with this {@code container_type}; empty if it is not restored. */
    static Optional<ContainerKind> of(String word) {
        return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the path of a container below {@code /api}. */
    String path(String id) {
        return "/%s/%s".formatted(plural(), Writes.segment(id));
    }

    String plural() {
        return this == ANALYSIS ? "analyses" : word() + "s";
    }
}
