/** Brings any manifest of an experiment back into a folder, every file proven; and does so in the service for whoever asks. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {"copy", "file", "ledger", "manifest", "registry", "remote", "send", "source", "verify"})
package dozo.restore;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
