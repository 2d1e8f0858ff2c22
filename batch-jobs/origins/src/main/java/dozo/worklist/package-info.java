/** What the booking system plans, what the scanners sent of it, and where the two differ: the gap list. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "setting", "source :: dicom"})
package dozo.worklist;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
