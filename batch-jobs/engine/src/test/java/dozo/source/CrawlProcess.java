package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.db.ChildJava;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A crawl in a separate process, for tests that take permissions or resources away from it. It prints what is reported.
 */
final class CrawlProcess {

    private static final int LIMIT_SECONDS = 60;

    /** Its exit code, and what it printed. */
    record Ended(int exitCode, List<String> lines) {}

    private CrawlProcess() {}

    /** Crawls without root's right to read everything. */
    static Ended withoutRootsRights(Path root) throws Exception {
        boolean isRoot = System.getProperty("user.name").equals("root");
        return crawl(
                isRoot ? List.of("setpriv", "--bounding-set", "-dac_override,-dac_read_search") : List.of(), root, "");
    }

    /** Crawls with one thread, which can open no more files after the root is reported. */
    static Ended withFilesUsedUp(Path root) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/prlimit")), "prlimit is not installed");
        return crawl(List.of(), root, "use up");
    }

    private static Ended crawl(List<String> before, Path root, String mode) throws Exception {
        Process process = ChildJava.of(CrawlProcess.class)
                .by(before)
                .options("-Xmx64m")
                .arguments(root.toString(), mode)
                .process()
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        return new Ended(process.exitValue(), output.lines().toList());
    }

    static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);
        boolean useUp = arguments[1].equals("use up");
        try {
            new Crawl(root, 1).into(new Printing(useUp));
        } catch (IOException e) {
            System.out.println(e);
            System.exit(1);
        }
    }

    private static final class Printing implements Listings {

        private final boolean useUp;

        Printing(boolean useUp) {
            this.useUp = useUp;
        }

        @Override
        public Listing folder(FilePath folder) {
            return new Listing() {
                @Override
                public void entry(byte[] name, Facts facts) {
                    System.out.println("entry " + folder.resolve(name));
                }

                @Override
                public void end() throws IOException {
                    System.out.println("end " + folder);
                    if (useUp) {
                        useUpFiles();
                    }
                }
            };
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) {
            System.out.println(problem + " " + path + ": " + message);
        }

        private static void useUpFiles() throws IOException {
            // The classes for the error must be loaded before.
            System.out.println("no more files: " + Errno.of(Errno.EMFILE) + ", " + Errno.reason(Errno.EMFILE));
            String self = String.valueOf(ProcessHandle.current().pid());
            try {
                new ProcessBuilder("prlimit", "--pid", self, "--nofile=3:3")
                        .inheritIO()
                        .start()
                        .waitFor();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }
}
