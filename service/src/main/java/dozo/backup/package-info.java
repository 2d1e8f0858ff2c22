/** Backups of Dozo itself: its database, keys and settings (ADR 0101). */
@NullMarked
@ApplicationModule(allowedDependencies = {"alert", "db", "file", "ledger", "setting", "start"})
package dozo.backup;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
