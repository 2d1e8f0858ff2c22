/**
 * Records of the catalogue at a site: encrypted to a key that stays here, signed, and enough to fill an empty database
 * (ADR 0069).
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"certificate", "file", "ledger", "registry", "remote", "setting"})
package dozo.record;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
