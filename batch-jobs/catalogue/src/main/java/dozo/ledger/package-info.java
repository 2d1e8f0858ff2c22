/** The record of what happened: the append-only ledger and the findings that need a person. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.ledger;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
