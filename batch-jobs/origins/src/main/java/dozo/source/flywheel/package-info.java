/** Reads a Flywheel: walks what it holds, brings a session's files into a folder, and tells what it did not deliver. */
@NullMarked
@NamedInterface("flywheel")
package dozo.source.flywheel;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
