/** What pages and REST share in their responses. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.web;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
