package dozo.copy;

import dozo.copy.Copy.Options;
import dozo.file.FilePath;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A copy in a process of its own, for tests that kill it or give it little memory. */
final class CopyProcess {

    private CopyProcess() {}

    /** Copies a source to the folder {@code to} below the site's root; ends with 0 if all is proven. */
    static Process start(int heapMegabytes, SiteAddress site, Path source, long limitBytesPerSecond, Path log)
            throws IOException {
        List<String> command = List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx%dm".formatted(heapMegabytes),
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                CopyProcess.class.getName(),
                String.valueOf(site.port()),
                site.user(),
                site.root(),
                site.identity().toString(),
                site.hostKey(),
                source.toString(),
                String.valueOf(limitBytesPerSecond));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    static void main(String[] arguments) throws Exception {
        SiteAddress site = new SiteAddress(
                "127.0.0.1",
                Integer.parseInt(arguments[0]),
                arguments[1],
                arguments[2],
                Path.of(arguments[3]),
                arguments[4]);
        boolean complete;
        try (Copy copy = new CopyToSite(
                site,
                List.of(Path.of(arguments[5])),
                FilePath.of("to"),
                false,
                new Options(0, Long.parseLong(arguments[6]), false))) {
            complete = copy.run(System.out::println).complete();
        }
        System.exit(complete ? 0 : 1);
    }
}
