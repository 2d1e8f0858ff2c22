/**
 * Delivers files from an origin's server into a folder of a spool: requests, retries, checks and names them, and counts
 * what is missing.
 */
@NullMarked
@NamedInterface("delivery")
package dozo.source.delivery;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
