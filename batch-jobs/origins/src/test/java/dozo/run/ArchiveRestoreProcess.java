package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;

/** A process with origins that continues the open restores until none is left. */
final class ArchiveRestoreProcess {

    private ArchiveRestoreProcess() {}

    static ChildProcess start(Path log, SiteAddress site, HikariDataSource database) throws IOException {
        return new ChildProcess(ArchiveRestoreProcess.class, 256, log, site, TestDatabase.words(database));
    }

    static void main(String[] all) {
        HikariDataSource database = TestDatabase.of(ChildProcess.arguments(all));
        try (Night night = new Night(database, ChildProcess.site(all), OwnModules.ORIGINS)) {
            RestoreQueueIT.awaitNone(night);
        }
    }
}
