/** What {@code dozo demo} backs up when nobody gives it data: synthetic experiments. */
@NullMarked
package dozo.demo;

import org.jspecify.annotations.NullMarked;
