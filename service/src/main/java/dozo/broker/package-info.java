/** Notices between the service and its workers, over a message broker. */
@NullMarked
@ApplicationModule(allowedDependencies = {"run", "setting", "start"})
package dozo.broker;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
