/** How a run's work is divided: transfer units and partitions. Pure arithmetic. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.plan;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
