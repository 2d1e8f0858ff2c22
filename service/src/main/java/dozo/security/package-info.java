/** Logins, and the gate: who a request is from, and whether the table of permissions lets it in. */
@NullMarked
@ApplicationModule(allowedDependencies = {"db", "file", "start", "setting", "registry", "ledger", "people", "run"})
package dozo.security;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
