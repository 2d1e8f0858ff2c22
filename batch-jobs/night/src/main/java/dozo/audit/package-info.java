/** Reports for auditors: what was safe at a moment, the evidence for it, and what was open (ADR 0091). */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "run"})
package dozo.audit;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
