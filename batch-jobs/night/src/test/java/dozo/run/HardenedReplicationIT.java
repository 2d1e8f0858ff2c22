package dozo.run;

import dozo.loopback.LoopbackSite;
import dozo.remote.GuardedSite;
import java.io.IOException;
import java.nio.file.Path;

/** The same from a site that offers only SFTP to a hardened one. */
class HardenedReplicationIT extends ReplicationIT {

    @Override
    LoopbackSite serve() throws IOException {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0, "ForceCommand internal-sftp");
    }

    @Override
    LoopbackSite serveSecond(Path state, Path at) throws IOException {
        return GuardedSite.start(state, at);
    }
}
