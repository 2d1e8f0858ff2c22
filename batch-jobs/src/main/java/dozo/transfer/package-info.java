/** Sends units, has them proven at the site, gives them their final names: the engine, and the units it works through. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {"file", "ledger", "manifest", "plan", "registry", "remote", "source", "verify"})
package dozo.transfer;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
