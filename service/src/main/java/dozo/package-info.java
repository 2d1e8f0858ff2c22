/** The program: what its first argument starts. */
@NullMarked
package dozo;

import org.jspecify.annotations.NullMarked;
