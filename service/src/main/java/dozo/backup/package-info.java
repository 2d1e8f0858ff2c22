/** Backups of Dozo itself: its database, keys and settings (ADR 0101). */
@NullMarked
package dozo.backup;

import org.jspecify.annotations.NullMarked;
