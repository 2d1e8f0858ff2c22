/** Starts the nightly backup at its time, and goes on with what a dead process left. */
@NullMarked
@ApplicationModule(allowedDependencies = {"run", "registry", "ledger", "start"})
package dozo.schedule;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
