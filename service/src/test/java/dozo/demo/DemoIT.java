package dozo.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.Application;
import dozo.DocShell;
import dozo.Ended;
import dozo.RunningService;
import dozo.db.ChildJava;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.start.StartFailure;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * {@code dozo demo} as a person runs it: its own process, its output and its exit code. Each demonstration has a
 * database and a night.
 */
class DemoIT {

    @TempDir
    Path folder;

    @BeforeEach
    void unpack() throws IOException {
        TestDatabase.unpacked(folder.resolve("demo-work/service/postgres"));
    }

    @AfterEach
    void makeReadable() throws Exception {
        execute(List.of("chmod", "-R", "u+rwX", folder.toString()));
    }

    /** With the commands that the README types meanwhile, and with what it shows. */
    @Test
    void madeUpExperimentsAreAllSafeAndASecondNightSendsNothing() throws Exception {
        Path work = folder.resolve("demo-work");
        Ended first = demo("--work", work.toString());
        assertThat(first.out())
                .contains("DR site: OpenSSH", "脳機能")
                .containsPattern(DocShell.shown("README.md", "./dozo demo --once"));
        assertEndsWell(first);

        try (ServerSocket usual = new ServerSocket()) {
            occupyUsualPort(usual);
            Path printed = folder.resolve("printed");
            Process second = process(java().arguments("demo"), "--work", work.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(printed.toFile())
                    .start();
            try {
                await().atMost(Duration.ofMinutes(5))
                        .failFast("the demonstration has ended", () -> !second.isAlive())
                        .until(() -> Files.readString(printed).contains("\nNext: "));
                assertThat(Files.readString(printed).replace(work.toString(), "demo-work"))
                        .contains("run 2 is complete: nothing to send", "All 4 experiments are safe")
                        .doesNotContain("8080")
                        .containsPattern(DocShell.shown("README.md", "./dozo demo\n"));
                typeTheReadme(work);
            } finally {
                second.destroy();
                second.waitFor();
            }
        }

        assertEveryBagIsAnExperiment();
    }

    private void typeTheReadme(Path work) throws Exception {
        try (RunningService service = RunningService.shared();
                DocShell shell = new DocShell(
                        folder,
                        Map.of("DOZO_PASSWORD_FILE", service.passwordFile().toString()))) {
            shell.instead("(\\$PWD/)?demo-work", work)
                    .instead(" docs ", " " + work.resolve("source/2026-04-17_MR3T_S0123") + " ")
                    .instead("http://127.0.0.1:8081", service.url());
            shell.typeAndCompare("README.md", "sha256sum -c");
            shell.typeAndCompare("README.md", "./dozo copy");
            shell.typeAndCompare("README.md", "./dozo project add");
        }
    }

    @Test
    void onAMachineWithoutAnSshServerAllIsSafeToo() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "hides sshd by a mount, which only root may");
        String hide = "for file in $(which -a sshd) /usr/sbin/sshd /usr/local/sbin/sshd; do"
                + " [ ! -e $file ] || mount --bind /dev/null $file; done; exec \"$@\"";

        Path data = Files.createDirectory(folder.resolve("data"));
        Path experiment = FilePath.of("脳機能").under(data);
        NewTree tree = new NewTree(experiment, Instant.parse("2026-04-19T05:45:00Z"));
        AwkwardNames.write(tree);
        tree.setTimes();

        Ended demo = demo(
                java().by(List.of("unshare", "-m", "sh", "-c", hide, "sh")),
                "--data",
                data.toString(),
                "--work",
                folder.resolve("demo-work").toString());

        assertThat(demo.out()).contains("DR site: embedded MINA", "safe: ");
        assertThat(demo.code()).isZero();
        assertThat(same(experiment, folder.resolve("demo-work/dr-site/demo/E0001/data")))
                .isTrue();
    }

    @Test
    void theSharedCorpusIsSafeByteForByte() throws Exception {
        String shared = System.getenv("DOZO_SHARED_DATA");
        assertThat(shared != null || !"true".equals(System.getenv("DOZO_DEMAND_SHARED_DATA")))
                .as("the shared data are demanded and not there")
                .isTrue();
        assumeTrue(shared != null, "no shared data beside this clone");
        Path corpus = Path.of(shared);

        Ended demo = demo(
                "--data",
                corpus.toString(),
                "--work",
                folder.resolve("demo-work").toString());

        // Some files were cut on purpose, which needs a person.
        assertThat(demo.out()).contains("experiments are safe:", "BROKEN").doesNotContain("UNREADABLE");
        assertThat(demo.code()).isEqualTo(1);
        List<Path> experiments = new ArrayList<>();
        try (var children = Files.newDirectoryStream(corpus, Files::isDirectory)) {
            children.forEach(experiments::add);
        }
        experiments.sort(null);
        for (int i = 0; i < experiments.size(); i++) {
            Path copy = folder.resolve("demo-work/dr-site/demo/E%04d/data".formatted(i + 1));
            assertThat(same(experiments.get(i), copy))
                    .as("%s in %s", experiments.get(i), copy)
                    .isTrue();
        }
    }

    @Test
    void whatCannotBeReadIsNamedAndNeverForgotten() throws Exception {
        Path data = folder.resolve("data");
        write(data, "one/ok", "one/secret", "two/ok", "two/locked/inside");
        Path secret = data.resolve("one/secret");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("---------"));
        String[] arguments = {
            "--data", data.toString(), "--work", folder.resolve("demo-work").toString()
        };

        Ended first = demo(arguments);
        assertThat(first.out()).contains("UNREADABLE", "demo/E0001: secret", "permission denied", "1 of 2 experiments");
        assertThat(first.code()).isEqualTo(1);

        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(data.resolve("two/locked"), PosixFilePermissions.fromString("---------"));
        Ended locked = demo(arguments);
        assertThat(locked.out()).doesNotContain("demo/E0001: secret");
        assertThat(locked.out())
                .as("what is in it is unknown, not gone: its copy still counts")
                .containsPattern("demo/E0002 +yes +2 +2")
                .contains("UNREADABLE", "demo/E0002: locked");
        assertThat(locked.code()).isEqualTo(1);
    }

    @Test
    void badArgumentsAreRefusedBeforeAnythingIsStarted() throws Exception {
        assertThat(refused(folder.resolve("missing"), folder.resolve("w"))).contains("there is no folder", "missing");
        assertThat(refused(Files.createDirectory(folder.resolve("empty")), folder.resolve("w")))
                .contains("contains no folders", "each experiment");
        write(folder.resolve("data"), "e/f");
        assertThat(refused(folder.resolve("data"), folder.resolve("data/w"))).contains("must not contain each other");
    }

    @Test
    void aPortThatWasAskedForAndIsInUseIsSaidInOneLine() throws Exception {
        write(folder.resolve("data"), "e/f");
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(other.getLocalPort());
            Ended demo = demo(
                    "--data", folder.resolve("data").toString(),
                    "--work", folder.resolve("demo-work").toString(),
                    "--port", port);

            assertThat(demo.out())
                    .endsWith("dozo: port %s (DOZO_HTTP_PORT) is in use: stop the other program, or set another port\n"
                            .formatted(port));
            assertThat(demo.code()).isEqualTo(StartFailure.UNAVAILABLE);
        }
    }

    /** Listens at the demonstration's usual port, if no other program does already. */
    private static void occupyUsualPort(ServerSocket usual) throws IOException {
        try {
            usual.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080));
        } catch (BindException inUse) {
            // That is as well.
        }
    }

    private void assertEveryBagIsAnExperiment() throws Exception {
        Path source = folder.resolve("demo-work/source");
        Path data = folder.resolve("demo-work/dr-site/demo");
        List<Path> experiments = new ArrayList<>();
        try (var children = Files.newDirectoryStream(source)) {
            children.forEach(experiments::add);
        }
        assertThat(experiments).hasSize(4);
        try (var bags = Files.newDirectoryStream(data)) {
            for (Path bag : bags) {
                String list = Files.exists(bag.resolve("sha256sums.txt")) ? "sha256sums.txt" : "manifest-sha256.txt";
                Ended check = execute(List.of("sh", "-c", "cd '" + bag + "' && sha256sum --quiet --strict -c " + list));
                assertThat(check.code()).as(check.out()).isZero();
                assertThat(experiments.stream().filter(experiment -> same(experiment, bag.resolve("data"))))
                        .as("the experiment that %s is a copy of", bag)
                        .hasSize(1);
            }
        }
    }

    /**
     * Asserts that everything is safe, that only text for people was printed, and that the last lines give the result,
     * the address and the next step.
     */
    private static void assertEndsWell(Ended demo) throws Exception {
        List<String> lines = demo.out().lines().toList();
        assertThat(lines.subList(lines.size() - 3, lines.size()))
                .as(demo.out())
                .satisfiesExactly(
                        safe -> assertThat(safe).startsWith("All 4 experiments are safe: "),
                        pages -> assertThat(pages).startsWith("Pages: ").contains("http://127.0.0.1:"),
                        next -> assertThat(next).startsWith("Next:  check a copy without Dozo: "));
        assertThat(demo.out()).contains("starting the service …").doesNotContain("[", "  SITE_REFUSED");
        assertThat(demo.code()).isZero();
        assertThat(execute(List.of("sh", "-c", lines.getLast().split("Dozo: ")[1]))
                        .out())
                .isEqualTo("all as listed\n");
    }

    /** Returns the error message for invalid arguments. */
    private static String refused(Path data, Path work) {
        StringWriter said = new StringWriter();
        CommandLine demo = new CommandLine(new Demo(
                        _ -> {
                            throw new AssertionError("started");
                        },
                        _ -> {
                            throw new AssertionError("started");
                        }))
                .setErr(new PrintWriter(said));

        assertThat(demo.execute("--once", "--data", data.toString(), "--work", work.toString()))
                .isEqualTo(2);
        assertThat(work).doesNotExist();
        return said.toString();
    }

    private static void write(Path root, String... paths) throws IOException {
        for (String path : paths) {
            Path file = FilePath.of(path).under(root);
            Files.createDirectories(file.getParent());
            Files.writeString(file, path);
        }
    }

    private static boolean same(Path source, Path copy) {
        try {
            byte[] script = ("exec diff -r --no-dereference \"$0\" \"$1\"").getBytes(StandardCharsets.UTF_8);
            // By a file of NUL-separated names: a name that is not UTF-8 cannot be an argument of a Java process.
            Path names = Files.createTempFile("names", "");
            byte[] a = FilePath.rawBytes(source);
            byte[] b = FilePath.rawBytes(copy);
            byte[] both = new byte[a.length + b.length + 2];
            System.arraycopy(a, 0, both, 0, a.length);
            System.arraycopy(b, 0, both, a.length + 1, b.length);
            Files.write(names, both);
            Ended diff = execute(List.of(
                    "sh",
                    "-c",
                    "xargs -0 sh -c '" + new String(script, StandardCharsets.UTF_8) + "' < " + names + " > /dev/null"));
            Files.delete(names);
            return diff.code() == 0;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Ended demo(String... arguments) throws Exception {
        return demo(java(), arguments);
    }

    private static ChildJava java() {
        return ChildJava.of(Application.class).options("-Xmx512m").fromCache();
    }

    private static Ended demo(ChildJava java, String... arguments) throws Exception {
        return Ended.of(process(java.arguments("demo", "--once"), arguments));
    }

    /** Drops root's right to read everything, because no file would be unreadable. */
    private static ProcessBuilder process(ChildJava java, String... arguments) {
        if (System.getProperty("user.name").equals("root")) {
            java.by(List.of("setpriv", "--bounding-set", "-dac_override,-dac_read_search"));
        }
        return java.arguments(arguments).process();
    }

    private static Ended execute(List<String> command) throws Exception {
        return Ended.of(new ProcessBuilder(command));
    }
}
