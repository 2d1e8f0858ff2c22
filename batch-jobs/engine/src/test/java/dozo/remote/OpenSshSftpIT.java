package dozo.remote;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Path;

/** OpenSSH with a shell. */
class OpenSshSftpIT extends SftpContract {

    @Override
    LoopbackSite serve(Path state, Path root) throws IOException {
        return LoopbackSite.openSsh(state, root, 0);
    }

    @Override
    String digestMethod() {
        return "exec (openssl dgst -sha256 -r|sha256sum)";
    }
}
