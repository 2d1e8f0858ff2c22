/** Sends units to a site, has them proven there and gives them their final names; reads what lies there. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "remote", "source"})
package dozo.send;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
