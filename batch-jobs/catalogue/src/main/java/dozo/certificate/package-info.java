/**
 * Signed statements that people can check without Dozo: certificates of what is verified at a site, and checkpoints of the ledger
 * with the cosignatures of witnesses.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"content", "file", "ledger", "manifest", "registry"})
package dozo.certificate;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
