/** Who may what: users, their roles, projects and tokens, and one table of permissions. What is not in it is closed. */
@NullMarked
@ApplicationModule(allowedDependencies = {"ledger", "registry"})
package dozo.people;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
