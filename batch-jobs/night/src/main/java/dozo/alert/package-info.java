/** Alerts: which conditions need a person now, who is told, and an outbox of what is not told yet (ADR 0087). */
@NullMarked
@ApplicationModule(allowedDependencies = {"drill", "file", "ledger", "registry", "run"})
package dozo.alert;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
