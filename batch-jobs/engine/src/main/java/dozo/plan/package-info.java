/** How a run's work is shared out: transfer units and partitions. Pure arithmetic. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.plan;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
