/** The only room that speaks SSH: lanes to a DR site, pipelined SFTP on them, and digests computed over there. */
@NullMarked
@ApplicationModule(allowedDependencies = {"crypto", "file"})
package dozo.remote;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
