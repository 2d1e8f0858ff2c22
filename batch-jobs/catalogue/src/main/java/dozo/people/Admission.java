package dozo.people;

import dozo.ledger.Sight;
import java.util.Optional;

/** Whether somebody whose request is answered for long would still be let in; asked in the thread that answers it. */
public interface Admission {

    /** What they may see now; empty: their login is over, or they may not look at this any more. */
    Optional<Sight> now();
}
