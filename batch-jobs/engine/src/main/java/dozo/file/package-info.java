/** Value types shared by all rooms: names as raw bytes, digests, entries. No I/O. */
@NullMarked
@ApplicationModule(allowedDependencies = {"crypto"})
package dozo.file;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
