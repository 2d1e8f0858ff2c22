package dozo.run;

import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/** A night in a process of its own, for tests that kill it or give it little memory. */
final class NightProcess {

    private static final int OWN_ARGUMENTS = 8;

    private NightProcess() {}

    /**
     * Begins a run, or goes on with the one that a dead process left, and ends with it; out of memory, it ends at once.
     *
     * @param log gets all that the process prints
     */
    static Process start(int heapMegabytes, PGSimpleDataSource database, SiteAddress site, Path log, String... settings)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx%dm".formatted(heapMegabytes),
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                NightProcess.class.getName(),
                database.getUrl(),
                String.valueOf(database.getUser()),
                String.valueOf(database.getPassword()),
                String.valueOf(site.port()),
                site.user(),
                site.root(),
                site.identity().toString(),
                site.hostKey()));
        command.addAll(List.of(settings));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    static void main(String[] arguments) {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(arguments[0]);
        database.setUser(arguments[1]);
        database.setPassword(arguments[2]);
        SiteAddress site = new SiteAddress(
                "127.0.0.1",
                Integer.parseInt(arguments[3]),
                arguments[4],
                arguments[5],
                Path.of(arguments[6]),
                arguments[7]);
        String[] settings = Arrays.copyOfRange(arguments, OWN_ARGUMENTS, arguments.length);
        try (Night night = new Night(database, site, settings)) {
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
