/** A site on this machine, for the demonstration and for tests. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "remote"})
package dozo.loopback;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
