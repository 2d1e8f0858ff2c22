/**
 * Looks into a folder that a user wants to register, and suggests values for it: from headers, sidecars and the
 * tables of BIDS, and only for a title or subject from names.
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "file",
            "ledger",
            "registry",
            "source",
            "source :: dicom",
            "source :: dicomweb",
            "worklist"
        })
package dozo.suggest;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
