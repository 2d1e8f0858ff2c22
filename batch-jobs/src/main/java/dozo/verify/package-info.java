/** Evidence against manifest: receipts, where the copies lie, reading them again, and the damage found then. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.verify;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
