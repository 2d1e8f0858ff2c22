/** Our words for operating jobs: start, stop, recover, progress; and the nightly backup itself. */
@NullMarked
package dozo.run;

import org.jspecify.annotations.NullMarked;
