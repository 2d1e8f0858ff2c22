/** The only room that uses SSH: lanes to a DR site, pipelined SFTP on them, and digests computed at the site. */
@NullMarked
@ApplicationModule(allowedDependencies = {"crypto", "file"})
package dozo.remote;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
