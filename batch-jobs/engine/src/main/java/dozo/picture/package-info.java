/** Draws what a file shows: small grey pictures of images and recordings, in a process of its own. Knows no site and no database. */
@NullMarked
@ApplicationModule(allowedDependencies = {"content"})
package dozo.picture;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
