/** Who may what: users, their roles, projects and tokens, and one table of permissions. What is not in it is closed. */
@NullMarked
@ApplicationModule(allowedDependencies = {"db", "start", "setting", "registry", "ledger", "ui"})
package dozo.security;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
