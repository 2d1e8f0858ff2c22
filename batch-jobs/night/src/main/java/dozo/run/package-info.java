/** Operates jobs: start, stop, recover, progress; with the jobs for the nightly backup and the scrub. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "certificate",
            "crypto",
            "db",
            "drill",
            "file",
            "ledger",
            "manifest",
            "plan",
            "record",
            "registry",
            "remote",
            "restore",
            "send",
            "setting",
            "source",
            "transfer",
            "verify"
        })
package dozo.run;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
