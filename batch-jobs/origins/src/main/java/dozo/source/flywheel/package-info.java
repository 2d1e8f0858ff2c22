/**
 * Reads a Flywheel: finds changes and delivers files and metadata of sessions and projects into a folder, each file
 * checked by its size and hash.
 */
@NullMarked
@NamedInterface("flywheel")
package dozo.source.flywheel;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
