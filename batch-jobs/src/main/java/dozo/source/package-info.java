/** Finds an experiment's files and facts. */
@NullMarked
package dozo.source;

import org.jspecify.annotations.NullMarked;
