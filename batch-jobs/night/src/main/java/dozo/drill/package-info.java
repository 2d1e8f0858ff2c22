/**
 * Drills: restores that nobody needs, to show that one would work, and how long it takes. Whether each project is
 * rehearsed in its time, and the forecast of a restore.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "manifest", "plan", "registry", "restore", "setting"})
package dozo.drill;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
