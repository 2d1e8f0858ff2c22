/** {@code dozo demo}: Dozo on one machine, with synthetic experiments if the user gives no data. */
@NullMarked
package dozo.demo;

import org.jspecify.annotations.NullMarked;
