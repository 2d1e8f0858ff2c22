/** The pages of administration: one's own password and tokens, users, projects with their members, tripwire and source roots. */
@NullMarked
@ApplicationModule(allowedDependencies = {"security", "registry", "ledger", "file", "ui"})
package dozo.administration;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
