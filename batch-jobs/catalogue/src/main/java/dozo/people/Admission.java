package dozo.people;

import dozo.ledger.Sight;
import java.util.Optional;

/**
 * Checks during a long response whether the user would still be admitted. The thread that writes the response calls it.
 */
public interface Admission {

    /** Returns what the user may see now; empty: the login has ended, or the user may no longer read this. */
    Optional<Sight> now();
}
