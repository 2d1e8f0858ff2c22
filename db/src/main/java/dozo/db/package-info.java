/** The database: its schema, which is Flyway SQL beside this package, and an embedded server if none is given. */
@NullMarked
package dozo.db;

import org.jspecify.annotations.NullMarked;
