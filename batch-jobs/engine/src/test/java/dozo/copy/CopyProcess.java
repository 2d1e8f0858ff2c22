package dozo.copy;

import dozo.copy.Copy.Options;
import dozo.file.FilePath;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A copy in a separate process. */
final class CopyProcess {

    private CopyProcess() {}

    /** Copies a source to the folder {@code to} below the site's root. Exits with 0 if everything is verified. */
    static ChildProcess start(int heapMegabytes, Path log, SiteAddress site, Path source, long limitBytesPerSecond)
            throws IOException {
        return new ChildProcess(
                CopyProcess.class, heapMegabytes, log, site, source.toString(), String.valueOf(limitBytesPerSecond));
    }

    static void main(String[] all) throws Exception {
        String[] arguments = ChildProcess.arguments(all);
        Path source = Path.of(arguments[0]);
        Options options = new Options(0, Long.parseLong(arguments[1]), false);
        boolean complete;
        try (Copy copy = new CopyToSite(ChildProcess.site(all), List.of(source), FilePath.of("to"), false, options)) {
            complete = copy.run(System.out::println).complete();
        }
        System.exit(complete ? 0 : 1);
    }
}
