/** Sends what the outbox of alerts contains: by mail, and to webhooks (ADR 0087). */
@NullMarked
@ApplicationModule(allowedDependencies = {"alert", "db", "ledger", "report", "run", "setting", "start"})
package dozo.message;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
