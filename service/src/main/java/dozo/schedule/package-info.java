/** Starts the nightly backup, the scrubs and the drills at their times, and continues what a dead process left. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "db",
            "drill",
            "plan",
            "run",
            "registry",
            "ledger",
            "search",
            "setting",
            "start",
            "verify",
            "worklist"
        })
package dozo.schedule;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
