/**
 * Drills: restores that nobody needs, to show that one would work, and how long it takes. Whether each project is
 * rehearsed in its time, and the forecast of a restore. Drills of the loss of everything but a site (ADR 0112).
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "copy",
            "db",
            "file",
            "ledger",
            "manifest",
            "plan",
            "record",
            "registry",
            "remote",
            "restore",
            "send",
            "setting",
            "source",
            "verify"
        })
package dozo.drill;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
