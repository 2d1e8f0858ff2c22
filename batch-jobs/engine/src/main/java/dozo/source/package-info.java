/** Finds an experiment's files and facts: by walking a folder, or from a list that another program made. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.source;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
