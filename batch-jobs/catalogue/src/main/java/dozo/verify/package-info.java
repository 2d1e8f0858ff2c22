/**
 * Evidence: receipts, the places of the copies, their repeated readings and damages, and the check of the ledger
 * against its anchors.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"content", "file", "ledger", "registry", "remote", "send"})
package dozo.verify;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
