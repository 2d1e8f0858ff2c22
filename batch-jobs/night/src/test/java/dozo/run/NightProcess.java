package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/** A night in its own process. */
final class NightProcess {

    private static final int DATABASE_ARGUMENTS = 3;

    private NightProcess() {}

    /** Starts a run, or continues the one that a dead process left, and ends with it. */
    static ChildProcess start(
            int heapMegabytes, Path log, SiteAddress site, HikariDataSource database, String... settings)
            throws IOException {
        String[] arguments = Stream.concat(Stream.of(TestDatabase.words(database)), Stream.of(settings))
                .toArray(String[]::new);
        return new ChildProcess(NightProcess.class, heapMegabytes, log, site, arguments);
    }

    static void main(String[] all) {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = TestDatabase.of(arguments);
        String[] settings = Arrays.copyOfRange(arguments, DATABASE_ARGUMENTS, arguments.length);
        try (Night night = new Night(database, ChildProcess.site(all), settings)) {
            var left = night.get(Runs.class).running();
            if (left.isPresent()) {
                night.operations().recover();
                night.await(left.get());
            } else {
                night.run();
            }
        }
    }
}
