package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;

/** A process that continues the batches of restores until none is left. */
final class BatchProcess {

    private BatchProcess() {}

    static ChildProcess start(Path log, SiteAddress site, HikariDataSource database) throws IOException {
        return new ChildProcess(BatchProcess.class, 256, log, site, TestDatabase.words(database));
    }

    static void main(String[] all) {
        HikariDataSource database = TestDatabase.of(ChildProcess.arguments(all));
        try (Night night = new Night(database, ChildProcess.site(all))) {
            RestoreBatchIT.awaitNone(night);
        }
    }
}
