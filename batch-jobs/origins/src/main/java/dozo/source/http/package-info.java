/** One blocking HTTP client for reading from servers, limited in time and size, without retries. */
@NullMarked
package dozo.source.http;

import org.jspecify.annotations.NullMarked;
