/** Sends units to a site, has them verified there and gives them their final names; reads stored copies. */
@NullMarked
@ApplicationModule(allowedDependencies = {"content", "file", "remote", "source"})
package dozo.send;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
