package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;

/** A process that continues the open restores until none is left. */
final class RestoreProcess {

    private RestoreProcess() {}

    static ChildProcess start(Path log, SiteAddress site, HikariDataSource database) throws IOException {
        return new ChildProcess(RestoreProcess.class, 256, log, site, TestDatabase.words(database));
    }

    static void main(String[] all) {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = TestDatabase.of(arguments);
        try (Night night = new Night(database, ChildProcess.site(all))) {
            RestoreQueueIT.awaitNone(night);
        }
    }
}
