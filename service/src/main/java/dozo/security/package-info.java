/** Logins, and the gate: who sent a request, and whether the table of permissions admits it. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {"alert", "db", "file", "start", "setting", "registry", "ledger", "people", "run", "web"})
package dozo.security;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
