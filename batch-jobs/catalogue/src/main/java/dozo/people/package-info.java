/**
 * Users, their roles, projects and tokens, and the one table of permissions. An endpoint that is not in it is closed.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry"})
package dozo.people;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
