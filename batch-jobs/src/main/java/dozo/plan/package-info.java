/** How a run's work is shared out: transfer units and partitions. Pure arithmetic. */
@NullMarked
package dozo.plan;

import org.jspecify.annotations.NullMarked;
