/** Evidence: receipts, where the copies lie, reading them again and the damage found then; the ledger against its anchors. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "remote", "send"})
package dozo.verify;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
