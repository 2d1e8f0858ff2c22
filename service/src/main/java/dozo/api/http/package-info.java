/** What holds for all of REST: pages, sheets, downloads, ETags, keys for repeated requests, and how errors are shown. */
@NullMarked
@NamedInterface("http")
package dozo.api.http;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
