package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A night in its own process. */
final class NightProcess {

    private static final int DATABASE_ARGUMENTS = 3;

    private NightProcess() {}

    /** Starts a run, or continues the one that a dead process left, and ends with it. */
    static ChildProcess start(
            int heapMegabytes, Path log, SiteAddress site, HikariDataSource database, String... settings)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                database.getJdbcUrl(), String.valueOf(database.getUsername()), String.valueOf(database.getPassword())));
        arguments.addAll(List.of(settings));
        return new ChildProcess(NightProcess.class, heapMegabytes, log, site, arguments.toArray(String[]::new));
    }

    static void main(String[] all) {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = new HikariDataSource();
        database.setJdbcUrl(arguments[0]);
        database.setUsername(arguments[1]);
        database.setPassword(arguments[2]);
        String[] settings = Arrays.copyOfRange(arguments, DATABASE_ARGUMENTS, arguments.length);
        try (Night night = new Night(database, ChildProcess.site(all), settings)) {
            var left = night.get(Runs.class).running();
            if (left.isPresent()) {
                night.get(Operations.class).recover();
                night.await(left.get().id());
            } else {
                night.run();
            }
        }
    }
}
