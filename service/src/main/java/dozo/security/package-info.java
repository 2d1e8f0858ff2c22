/** Who may what: one administrator for now; everything that is not opened here is closed. */
@NullMarked
@ApplicationModule(allowedDependencies = "start")
package dozo.security;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
