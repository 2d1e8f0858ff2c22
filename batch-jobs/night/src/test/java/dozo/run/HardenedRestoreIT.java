package dozo.run;

import dozo.loopback.LoopbackSite;
import dozo.remote.GuardedSite;
import java.io.IOException;

/** At a hardened site, nights keep what they keep anywhere, and all of it is restored. */
class HardenedRestoreIT extends RestoreIT {

    @Override
    LoopbackSite serve() throws IOException {
        return GuardedSite.start(folder.resolve("sshd"), root);
    }
}
