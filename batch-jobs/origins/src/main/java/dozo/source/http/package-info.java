/** One HTTP client for all that is read from servers: blocking, limited in time and size, and trying nothing twice. */
@NullMarked
package dozo.source.http;

import org.jspecify.annotations.NullMarked;
