package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.rebuild.Rebuild;
import dozo.remote.ChildProcess;

/** A rebuild in its own process. */
final class RebuildProcess {

    private RebuildProcess() {}

    static void main(String[] all) throws Exception {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = TestDatabase.of(arguments);
        try (Night night = Night.without(database)) {
            night.get(Rebuild.class).run("dr", ChildProcess.site(all), null);
        }
    }
}
