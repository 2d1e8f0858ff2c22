/** Finds experiments among the folders of a file tree, and judges by its content whether one is complete. */
@NullMarked
@NamedInterface("tree")
package dozo.source.tree;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
