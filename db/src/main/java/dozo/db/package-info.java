/** The database: its schema, which is Flyway SQL beside this package, and a server of our own where none is given. */
@NullMarked
package dozo.db;

import org.jspecify.annotations.NullMarked;
