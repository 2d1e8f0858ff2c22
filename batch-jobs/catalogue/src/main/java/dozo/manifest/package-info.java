/** Reads a source once, seals its inventory under a number and keeps earlier manifests. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "setting", "source"})
package dozo.manifest;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
