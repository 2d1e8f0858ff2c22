/** The program and the commands that its first argument selects. */
@NullMarked
package dozo;

import org.jspecify.annotations.NullMarked;
