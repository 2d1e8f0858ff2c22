package dozo.people;

import dozo.registry.Refusal;
import java.util.Arrays;
import java.util.Locale;

/** What a token is for. Its roles limit it besides. */
public enum Scope {
    /** All that its roles may. */
    ALL,

    /** To ask whether a study may be deleted where it came from, and nothing else: it lies at a scanner's console. */
    STUDIES;

    private static final Permissions.Endpoint QUESTION =
            new Permissions.Endpoint("GET", "/api/v1/studies/{studyInstanceUid}");

    /** As it is written in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The scope of this word.
     *
     * @throws Refusal of the field {@code scope} when there is no such
     */
    public static Scope of(String word) {
        return Arrays.stream(values())
                .filter(scope -> scope.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new Refusal("scope", "\"%s\": expected all or studies", word));
    }

    /** Whether a token of this scope may ask this. */
    public boolean holds(Permissions.Endpoint endpoint) {
        return this == ALL || endpoint.equals(QUESTION);
    }
}
