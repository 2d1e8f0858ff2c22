package dozo.remote;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Path;

/** The embedded server. */
class EmbeddedSftpIT extends SftpContract {

    @Override
    LoopbackSite serve(Path state, Path root) throws IOException {
        return LoopbackSite.embedded(state, root, 0);
    }

    @Override
    String digestMethod() {
        return "check-file";
    }
}
