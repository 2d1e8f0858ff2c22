/** Brings any manifest of an experiment back into a folder, every file proven. */
@NullMarked
@ApplicationModule(allowedDependencies = {"copy", "file", "manifest", "remote", "verify"})
package dozo.restore;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
