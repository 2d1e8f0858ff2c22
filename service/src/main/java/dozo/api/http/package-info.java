/** The common rules of REST: pages, sheets, downloads, ETags, keys for repeated requests, and error responses. */
@NullMarked
@NamedInterface("http")
package dozo.api.http;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
