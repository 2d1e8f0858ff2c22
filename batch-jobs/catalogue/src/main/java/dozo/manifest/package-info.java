/** Reads a source once, seals the inventory under a number, keeps earlier ones. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "setting", "source"})
package dozo.manifest;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
