/** Our words for operating jobs: start, stop, recover, progress; and the nightly backup itself. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "collect",
            "db",
            "file",
            "ledger",
            "manifest",
            "plan",
            "registry",
            "remote",
            "setting",
            "transfer",
            "verify",
            "worklist"
        })
package dozo.run;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
