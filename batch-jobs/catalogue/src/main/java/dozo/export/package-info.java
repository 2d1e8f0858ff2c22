/** Exports tables for other programs: as CSV in which a spreadsheet executes nothing. */
@NullMarked
@ApplicationModule(allowedDependencies = {})
package dozo.export;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
