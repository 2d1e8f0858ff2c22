/** Finds an experiment's files and facts. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.source;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
