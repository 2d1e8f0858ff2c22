/** Finds experiments among the folders of a file tree, and judges by what lies in one whether all of it is there. */
@NullMarked
@NamedInterface("tree")
package dozo.source.tree;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
