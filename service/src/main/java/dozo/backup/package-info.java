/** Backups of Dozo itself: its database, keys and settings (ADR 0100). */
@NullMarked
package dozo.backup;

import org.jspecify.annotations.NullMarked;
