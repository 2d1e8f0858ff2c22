/**
 * Copies trees to a site and back, with every file verified and no database: {@code dozo copy}, and the engine of
 * restores.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "plan", "remote", "send", "source"})
package dozo.copy;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
