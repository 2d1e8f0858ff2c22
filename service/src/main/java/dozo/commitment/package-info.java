/**
 * Answers scanners that ask whether they may delete images: DICOM Storage Commitment (ADR 0110). Speaks nothing else of DICOM than
 * C-ECHO, N-ACTION and N-EVENT-REPORT.
 */
@NullMarked
@ApplicationModule(allowedDependencies = {"alert", "db", "ledger", "setting", "start", "verify"})
package dozo.commitment;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
