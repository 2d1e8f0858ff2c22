/** Describes settings where they are declared, for the code that checks them and the code that prints them. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.setting;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
