/** Both sides of the witness protocol over HTTP: asks witnesses to cosign the ledger, and answers the logs of others (ADR 0113). */
@NullMarked
@ApplicationModule(
        allowedDependencies = {"alert", "certificate", "db", "file", "ledger", "source :: delivery", "start"})
package dozo.witness;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
