package dozo.people;

import dozo.ledger.Worded;
import dozo.registry.Refusal;

/** What a token may be used for. Its roles limit it too. */
public enum Scope implements Worded {
    /** Everything that its roles allow. */
    ALL,

    /** Only to query whether a study may be deleted where it came from: the token is stored at a scanner's console. */
    STUDIES;

    private static final Permissions.Endpoint QUESTION =
            new Permissions.Endpoint("GET", "/api/v1/studies/{studyInstanceUid}");

    /**
     * Returns the scope with this word.
     *
     * @throws Refusal for the field {@code scope} if there is none
     */
    public static Scope of(String word) {
        return Worded.of(Scope.class, word)
                .orElseThrow(() -> new Refusal("scope", "\"%s\": expected all or studies", word));
    }

    /** Returns whether a token of this scope may use an endpoint. */
    public boolean holds(Permissions.Endpoint endpoint) {
        return this == ALL || endpoint.equals(QUESTION);
    }
}
