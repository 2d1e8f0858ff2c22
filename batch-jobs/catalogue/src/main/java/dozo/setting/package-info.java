/** How a setting is described where it is declared; what checks it and what prints it read that. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.setting;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
