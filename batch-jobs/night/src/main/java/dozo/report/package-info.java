/** The morning report: what each night did, how everything stands, and what needs a person (ADR 0090). */
@NullMarked
@ApplicationModule(allowedDependencies = {"alert", "file", "ledger", "manifest", "plan", "registry", "run", "transfer"})
package dozo.report;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
