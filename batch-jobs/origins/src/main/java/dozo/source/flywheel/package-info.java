/** Reads a Flywheel: finds changes and delivers a session's files into a folder, each checked by its size and hash. */
@NullMarked
@NamedInterface("flywheel")
package dozo.source.flywheel;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
