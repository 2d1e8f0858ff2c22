/** Copies trees to a site and back, every file proven, with no database: what {@code dozo copy} does. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "plan", "remote", "source", "transfer"})
package dozo.copy;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
