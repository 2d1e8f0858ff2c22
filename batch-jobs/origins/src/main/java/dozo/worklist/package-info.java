/** Compares what the booking system plans with what the scanners sent: the gap list. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "registry", "setting", "source :: dicom"})
package dozo.worklist;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
