/**
 * Copies trees to a site and back, every file proven, with no database: what {@code dozo copy} does, and the engine of restores.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "plan", "remote", "send", "source"})
package dozo.copy;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
