package dozo.remote;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Path;

/** OpenSSH for an account that may only use SFTP. */
class OpenSshSftpOnlySftpIT extends SftpContract {

    @Override
    LoopbackSite serve(Path state, Path root) throws IOException {
        return LoopbackSite.openSsh(state, root, 0, "ForceCommand internal-sftp");
    }

    @Override
    String digestMethod() {
        return "read-back";
    }
}
