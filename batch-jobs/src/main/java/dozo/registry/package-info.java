/** What is registered, and by whom: projects, their experiments, and the sites that hold the second copy. */
@NullMarked
package dozo.registry;

import org.jspecify.annotations.NullMarked;
