/**
 * Collects experiments from the systems that hold them: what an origin lists, what of it is here, and what is missing.
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "db",
            "file",
            "ledger",
            "registry",
            "run",
            "setting",
            "source :: dicom",
            "source :: delivery",
            "source :: dicomweb",
            "source :: flywheel",
            "source :: tree",
            "source :: xnat",
            "suggest",
            "verify",
            "worklist"
        })
package dozo.collect;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
