/** The transfer units of a run, and the tag files of the bags that they fill. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "content",
            "export",
            "file",
            "ledger",
            "manifest",
            "plan",
            "registry",
            "remote",
            "send",
            "verify"
        })
package dozo.transfer;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
