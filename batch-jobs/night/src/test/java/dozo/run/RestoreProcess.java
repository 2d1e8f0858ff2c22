package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;

/** A process that continues the open restores until none is left. */
final class RestoreProcess {

    private RestoreProcess() {}

    static ChildProcess start(Path log, SiteAddress site, HikariDataSource database) throws IOException {
        return new ChildProcess(
                RestoreProcess.class,
                256,
                log,
                site,
                database.getJdbcUrl(),
                String.valueOf(database.getUsername()),
                String.valueOf(database.getPassword()));
    }

    static void main(String[] all) {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = new HikariDataSource();
        database.setJdbcUrl(arguments[0]);
        database.setUsername(arguments[1]);
        database.setPassword(arguments[2]);
        try (Night night = new Night(database, ChildProcess.site(all))) {
            RestoreQueueIT.awaitNone(night);
        }
    }
}
