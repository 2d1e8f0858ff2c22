package dozo.ui;

import dozo.ledger.Sight;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import java.util.function.Function;

/**
 * Whether somebody whose request is answered for long would still be let in; asked in the thread that answers it.
 *
 * @param now what they may see now; empty: their login is over, or they may not look at this any more
 */
public record Admission(Function<HttpServletRequest, Optional<Sight>> now) {}
