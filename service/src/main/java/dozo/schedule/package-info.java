/** Starts the nightly backup and the scrubs at their times, and continues what a dead process left. */
@NullMarked
@ApplicationModule(allowedDependencies = {"plan", "run", "registry", "ledger", "setting", "start", "worklist"})
package dozo.schedule;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
