package dozo.people;

import dozo.registry.Refusal;
import java.util.Arrays;
import java.util.Locale;

/** What a token may be used for. Its roles limit it too. */
public enum Scope {
    /** Everything that its roles allow. */
    ALL,

    /** Only to query whether a study may be deleted where it came from: the token is stored at a scanner's console. */
    STUDIES;

    private static final Permissions.Endpoint QUESTION =
            new Permissions.Endpoint("GET", "/api/v1/studies/{studyInstanceUid}");

    /** Returns its word in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the scope with this word.
     *
     * @throws Refusal for the field {@code scope} if there is none
     */
    public static Scope of(String word) {
        return Arrays.stream(values())
                .filter(scope -> scope.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new Refusal("scope", "\"%s\": expected all or studies", word));
    }

    /** Returns whether a token of this scope may use an endpoint. */
    public boolean holds(Permissions.Endpoint endpoint) {
        return this == ALL || endpoint.equals(QUESTION);
    }
}
