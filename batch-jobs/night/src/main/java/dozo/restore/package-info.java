/**
 * Brings any manifest of an experiment back into a folder, with every file proven. Also runs such restores in the
 * service on request.
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "copy",
            "db",
            "file",
            "ledger",
            "manifest",
            "picture",
            "plan",
            "registry",
            "remote",
            "send",
            "setting",
            "source",
            "verify"
        })
package dozo.restore;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
