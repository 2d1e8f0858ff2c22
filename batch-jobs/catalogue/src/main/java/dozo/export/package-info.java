/** Tables for other programs: as CSV of which no spreadsheet runs anything. */
@NullMarked
@ApplicationModule(allowedDependencies = {})
package dozo.export;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
