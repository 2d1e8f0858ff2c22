/**
 * Reads and fills an XNAT: delivers the files and metadata of image sessions into a folder, each file checked by its size
 * and, where the catalogue states one, its digest; writes them back for restores.
 */
@NullMarked
@NamedInterface("xnat")
package dozo.source.xnat;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
