/** What must be there before the service works: its settings, its folder, its database, and that it is the only one. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {"db", "ledger", "registry", "run", "setting", "source :: dicom", "suggest", "worklist"})
package dozo.start;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
