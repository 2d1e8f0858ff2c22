/** The conditions for the service to work: settings, work folder, database, and sole use of the database. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "certificate",
            "db",
            "file",
            "ledger",
            "record",
            "registry",
            "remote",
            "run",
            "setting",
            "source :: dicom",
            "suggest",
            "worklist"
        })
package dozo.start;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
