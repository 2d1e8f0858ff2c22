/** What is registered, and by whom: projects, their experiments, and the sites of the second copy. */
@NullMarked
@ApplicationModule(allowedDependencies = {"db", "file", "ledger", "remote", "setting"})
package dozo.registry;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
