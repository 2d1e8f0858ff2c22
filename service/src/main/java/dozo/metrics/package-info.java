/** What Prometheus reads: one snapshot of the catalogue's answers, however often it is read (ADR 0088). */
@NullMarked
@ApplicationModule(
        allowedDependencies = {"db", "drill", "file", "ledger", "people", "registry", "run", "start", "transfer"})
package dozo.metrics;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
