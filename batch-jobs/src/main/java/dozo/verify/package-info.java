/** Evidence: receipts against manifests, and the ledger against its anchors at the sites. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "remote"})
package dozo.verify;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
