/** Our words for operating jobs: start, stop, recover, progress; and the nightly backup itself. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "crypto",
            "db",
            "file",
            "ledger",
            "manifest",
            "plan",
            "registry",
            "remote",
            "send",
            "setting",
            "transfer",
            "verify"
        })
package dozo.run;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
