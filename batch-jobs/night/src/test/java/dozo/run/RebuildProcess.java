package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.rebuild.Rebuild;
import dozo.remote.ChildProcess;

/** A rebuild in its own process. */
final class RebuildProcess {

    private RebuildProcess() {}

    static void main(String[] all) throws Exception {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = new HikariDataSource();
        database.setJdbcUrl(arguments[0]);
        database.setUsername(arguments[1]);
        database.setPassword(arguments[2]);
        try (Night night = Night.without(database)) {
            night.get(Rebuild.class).run("dr", ChildProcess.site(all), null);
        }
    }
}
