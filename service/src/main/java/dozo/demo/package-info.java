/** {@code dozo demo}: the whole of Dozo on one machine, with synthetic experiments where nobody gives it data. */
@NullMarked
package dozo.demo;

import org.jspecify.annotations.NullMarked;
