/**
 * Searches for names and numbers of people where none may be: {@code dozo identity scan} (ADR 0092). It only reads.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "registry", "remote", "send"})
package dozo.identity;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
