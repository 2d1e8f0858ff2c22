package dozo.command;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import dozo.db.ChildJava;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Copies to a real server and back: the destinations, the output, and repeated copies. */
class CopyCommandIT {

    private static final FileTime LONG_AGO = FileTime.from(Instant.ofEpochSecond(1_000_000_000));

    @TempDir
    Path folder;

    private EarlierCopies earlier;

    @AutoClose
    private LoopbackSite site;

    private Path there;
    private Path source;
    private final List<String> known = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        earlier = new EarlierCopies(folder.resolve("cache"), Duration.ZERO);
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        there = folder.resolve("dr").toRealPath();
        source = Files.createDirectories(folder.resolve("source/sub")).getParent();
        Files.setLastModifiedTime(Files.writeString(source.resolve("a.txt"), "hello"), LONG_AGO);
        Files.writeString(source.resolve("sub/b.txt"), "world!");
    }

    @Test
    void aFolderBecomesTheDestination() throws IOException {
        Ended ended = copy("-r", source.toString(), at("all"));

        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).contains(", 11 B: all verified at 127.0.0.1, ");
        ended.ends(0);
        assertThat(there.resolve("all/a.txt")).hasContent("hello");
        assertThat(there.resolve("all/sub/b.txt")).hasContent("world!");
        assertThat(Files.getLastModifiedTime(there.resolve("all/a.txt"))).isEqualTo(LONG_AGO);
    }

    @Test
    void theSameCommandAgainMovesNothing() {
        assertThat(copy("-r", source.toString(), at("all")).code()).isZero();

        Ended again = copy("-r", "--json", source.toString(), at("all"));

        JsonNode json = Connection.JSON.readTree(again.out());
        again.ends(0);
        assertThat(json.path("bytesMoved").asLong()).isZero();
        assertThat(json.path("bytesVerified").asLong()).isEqualTo(11);
        assertThat(json.path("complete").asBoolean()).isTrue();
        assertThat(json.path("startSeconds").asDouble())
                .isPositive()
                .isLessThanOrEqualTo(json.path("seconds").asDouble());
        assertThat(there.resolve("all/source")).doesNotExist();
    }

    @Test
    void aSlashPutsItIntoTheDestination() {
        assertThat(copy("-r", source.toString(), at("all/")).code()).isZero();
        assertThat(copy(source.resolve("a.txt").toString(), at("one")).code()).isZero();
        assertThat(copy("-r", source.resolve("a.txt").toString(), source + "/sub/", at("two"))
                        .code())
                .isZero();

        assertThat(there.resolve("all/source/sub/b.txt")).hasContent("world!");
        assertThat(there.resolve("one")).hasContent("hello");
        assertThat(there.resolve("two/a.txt")).hasContent("hello");
        assertThat(there.resolve("two/sub/b.txt")).hasContent("world!");
    }

    @Test
    void andBack() {
        assertThat(copy("-r", source.toString(), at("all")).code()).isZero();

        Ended folders = copy("-r", at("all"), folder.resolve("back").toString());
        Ended file = copy(at("all/a.txt"), folder.resolve("single").toString());

        assertThat(folders.out()).contains("all verified here, from 127.0.0.1");
        folders.ends(0);
        assertThat(folder.resolve("back/sub/b.txt")).hasContent("world!");
        file.ends(0);
        assertThat(folder.resolve("single")).hasContent("hello");
    }

    @Test
    void whatIsNotCopiedIsAFindingAndEndsWithOne() throws Exception {
        assertThat(new ProcessBuilder("mkfifo", source.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();

        Ended ended = copy("-r", source.toString(), at("all"));
        JsonNode json = Connection.JSON.readTree(
                copy("-r", "--json", source.toString(), at("all")).out());

        ended.ends(Exit.NOT_SAFE);
        assertThat(ended.err()).startsWith("SPECIAL  pipe  ");
        assertThat(ended.out()).contains("not (see above)");
        assertThat(json.path("complete").asBoolean()).isFalse();
        assertThat(json.path("findings").get(0).path("path").asString()).isEqualTo("pipe");
        assertThat(there.resolve("all/a.txt")).hasContent("hello");
    }

    @Test
    void aDryRunChangesNothing() {
        assertThat(copy("-r", "--dry-run", source.toString(), at("all")).ends(0).out())
                .contains("11 B would be copied")
                .contains("Copying all of it takes at least 1 s at 1 Gbit/s, 1 s at 10 Gbit/s");
        assertThat(copy("-r", "--dry-run", "--limit=1000", source.toString(), at("all"))
                        .out())
                .endsWith("at least 1 s at that limit; no earlier copy of this kind was measured%n".formatted());
        assertThat(there).isEmptyDirectory();
    }

    @Test
    void aDryRunJudgesByEarlierCopies() {
        assertThat(copy("-r", "--limit=1GB", source.toString(), at("limited")).code())
                .isZero();
        assertThat(dryRun("--json").path("earlierCopies").asInt())
                .as("a limited copy is no measurement of the link")
                .isZero();

        assertThat(copy("-r", source.toString(), at("all")).code()).isZero();
        assertThat(copy("-r", source.toString(), at("all")).code())
                .as("nothing is left to move")
                .isZero();

        JsonNode dry = dryRun("--json");
        assertThat(dry.path("earlierCopies").asInt()).isEqualTo(1);
        assertThat(dry.path("seconds").asDouble())
                .isGreaterThan(dry.path("secondsLow").asDouble())
                .isLessThan(dry.path("secondsHigh").asDouble());
        assertThat(copy("-r", "--dry-run", source.toString(), at("more")).out())
                .contains("Copying all of it takes about ")
                .contains(", judging by an earlier copy of this kind");
        assertThat(dryRun("--json", "--lanes=1").path("earlierCopies").asInt())
                .as("with other lanes")
                .isZero();
        assertThat(Connection.JSON
                        .readTree(copy("-r", "--dry-run", "--json", at("all"), folder + "/back")
                                .out())
                        .path("dryRun")
                        .path("earlierCopies")
                        .asInt())
                .as("the other direction")
                .isZero();
    }

    private JsonNode dryRun(String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.addAll(List.of("-r", "--dry-run", source.toString(), at("more")));
        return Connection.JSON.readTree(copy(all.toArray(String[]::new)).out()).path("dryRun");
    }

    @Test
    void aSiteBehindAJumpHost() throws IOException {
        try (LoopbackSite jump = LoopbackSite.openSsh(folder.resolve("jump"), folder.resolve("jump-root"), 0)) {
            // The same key for both hosts, as for a user who types the command.
            Files.copy(
                    folder.resolve("keys/authorized_keys"),
                    folder.resolve("jump/authorized_keys"),
                    StandardCopyOption.REPLACE_EXISTING);
            SiteAddress address = jump.address();
            String host = "%s@127.0.0.1:%d".formatted(address.user(), address.port());

            assertThat(copy("-J", host, "-r", source.toString(), at("all"))
                            .ends(Exit.NOT_ALLOWED)
                            .err())
                    .contains("no valid host key of 127.0.0.1 port " + address.port() + " in ");

            known.add("[127.0.0.1]:%d %s".formatted(address.port(), address.hostKey()));
            assertThat(copy("-J", host, "-oIPQoS=cs1", "-r", source.toString(), at("all"))
                            .out())
                    .contains("all verified");
            assertThat(copy("-oProxyJump=" + host, "-r", source.toString(), at("all"))
                            .out())
                    .contains("all verified");
        }
        assertThat(copy("-J", "127.0.0.1:1", "-r", source.toString(), at("all")).code())
                .as("its key is not known either")
                .isEqualTo(Exit.NOT_ALLOWED);
    }

    @Test
    void wildcardsAtTheSiteAreThoseOfAShell() throws IOException {
        for (String name : List.of(
                "scan1.dat", "scan2.dat", "scan10.dat", ".scan3.dat", "run-1/x.nii", "run-2/x.nii", "scan[1].dat")) {
            Files.writeString(
                    Files.createDirectories(there.resolve(name).getParent())
                            .resolve(Path.of(name).getFileName()),
                    name);
        }
        Path here = folder.resolve("here");

        copy(at("scan?.dat"), here.toString()).ends(0);
        assertThat(here).isDirectory();
        assertThat(names(here)).containsExactly("scan1.dat", "scan2.dat");
        copy(at("scan*.dat"), here.toString()).ends(0);
        assertThat(names(here)).containsExactly("scan1.dat", "scan10.dat", "scan2.dat", "scan[1].dat");
        copy("-r", at("run-[!2]"), at("s*n1.dat"), folder.resolve("more").toString())
                .ends(0);
        assertThat(names(folder.resolve("more"))).containsExactly("run-1", "scan1.dat");
        assertThat(folder.resolve("more/run-1/x.nii")).hasContent("run-1/x.nii");
        copy(at("scan[1].dat"), folder.resolve("one").toString()).ends(0);
        assertThat(folder.resolve("one")).as("a name that exists is no pattern").hasContent("scan[1].dat");
        copy(at("scan\\[1\\].dat"), folder.resolve("escaped").toString()).ends(0);
        assertThat(names(folder.resolve("escaped"))).containsExactly("scan[1].dat");

        assertThat(copy(at("nothing*"), here.toString()).ends(Exit.REFUSED).err())
                .contains("nothing matches /", "nothing*");
        assertThat(copy(at("scan[1*"), here.toString()).ends(Exit.USAGE).err()).contains("the ] of a class is missing");
        assertThat(copy(at("run-*"), here.toString()).ends(Exit.REFUSED).err()).contains("use -r");
        assertThat(copy(at("run-*/x.nii"), here.toString()).ends(Exit.REFUSED).err())
                .contains("two sources have the name x.nii");
    }

    @Test
    void theConfigurationOfSshSaysHowToLogIn() throws IOException {
        SiteAddress address = site.address();
        Path knownHosts = Files.writeString(
                folder.resolve("known"), "[127.0.0.1]:%d %s%n".formatted(address.port(), address.hostKey()));
        Path config = Files.writeString(folder.resolve("config"), """
                Host backup
                  HostName 127.0.0.1
                  Port %d
                  User %s
                  IdentityFile %s
                  UserKnownHostsFile %s
                """.formatted(
                        address.port(), address.user(), address.identity(), knownHosts));
        String target = "backup:%s/by-config".formatted(there);

        Ended.by((out, err) -> CopyCommand.execute(
                        List.of("-q", "-F", config.toString(), "-r", source.toString(), target), out, err, earlier))
                .ends(0);

        assertThat(there.resolve("by-config/a.txt")).hasContent("hello");
        assertThat(Ended.by((out, err) -> CopyCommand.execute(
                                List.of("-q", "-F", config.toString(), "-P", "1", "-r", source.toString(), target),
                                out,
                                err,
                                earlier))
                        .ends(Exit.NOT_ALLOWED)
                        .err())
                .as("what is typed comes first")
                .contains("no valid host key of 127.0.0.1 port 1 in");
    }

    @Test
    void theManifestIsWhatSha256sumReads() throws Exception {
        Files.writeString(source.resolve("sub/back\\slash\nnewline"), "odd");
        Files.createSymbolicLink(source.resolve("link"), Path.of("a.txt"));
        Path there = folder.resolve("there.sha256");
        Path here = folder.resolve("here.sha256");
        Path single = folder.resolve("single.sha256");

        copy("-r", "--manifest", there.toString(), source.toString(), at("all")).ends(0);
        copy(
                        "-r",
                        "--manifest",
                        here.toString(),
                        at("all"),
                        folder.resolve("back").toString())
                .ends(0);
        copy("--manifest=" + single, source.resolve("a.txt").toString(), at("renamed"))
                .ends(0);

        assertThat(Files.readAllLines(there)).hasSize(3).hasSameElementsAs(Files.readAllLines(here));
        check(there, this.there.resolve("all"));
        check(here, folder.resolve("back"));
        check(single, this.there);
        assertThat(single).content().endsWith("  renamed\n");

        // Each write to it fails: the disk is full.
        Files.createSymbolicLink(folder.resolve("full.part"), Path.of("/dev/full"));
        assertThat(copy(
                                "--manifest",
                                folder.resolve("full").toString(),
                                source.resolve("a.txt").toString(),
                                at("y"))
                        .ends(Exit.UNAVAILABLE)
                        .err())
                .contains("No space left on device");
        assertThat(folder.resolve("full")).doesNotExist();
    }

    @Test
    void thereIsNoManifestOfWhatIsNotVerified() throws IOException {
        Path manifest = Files.writeString(folder.resolve("list"), "earlier");
        Files.createDirectories(there.resolve("all/a.txt"));

        Ended ended = copy("-r", "--manifest", manifest.toString(), source.toString(), at("all"));

        assertThat(ended.ends(Exit.NOT_SAFE).err()).contains("no manifest was written");
        assertThat(manifest).hasContent("earlier");
        assertThat(folder.resolve("list.part")).doesNotExist();
        assertThat(copy("--manifest", folder.toString(), source.resolve("a.txt").toString(), at("x"))
                        .ends(Exit.USAGE)
                        .err())
                .contains("--manifest", "it is a folder");
        assertThat(copy("--manifest", "x", "--dry-run", source.resolve("a.txt").toString(), at("x"))
                        .ends(Exit.USAGE)
                        .err())
                .contains("a dry run verifies nothing");
    }

    @Test
    void twoSitesWithTheirOwnPortsAndKeysAreCopiedBetween() throws Exception {
        Files.writeString(source.resolve("sub/scratch.tmp"), "no");
        Files.createDirectory(there.resolve("other"));
        try (LoopbackSite from = LoopbackSite.openSsh(folder.resolve("keys-of-a"), source, 0)) {
            String config = Files.writeString(folder.resolve("config"), host("a", from) + host("b", site))
                    .toString();
            String all = "b:%s/all".formatted(there);
            String[] part = {"-3qrv", "-F", config, "--exclude=*.tmp", "a:" + source};
            Path manifest = folder.resolve("manifest");

            Ended dry = between(with(part, "-n", all));
            assertThat(there).isDirectoryNotContaining("glob:**/all");
            Ended first = between(with(part, "--manifest=" + manifest, "--limit=1GB", all));
            JsonNode again = Connection.JSON.readTree(
                    between(with(part, "--json", all)).ends(0).out());

            assertThat(dry.ends(0).out()).contains("11 B would be copied", "no earlier copy of this kind");
            assertThat(dry.err().lines()).containsExactlyInAnyOrder("a.txt", "sub/b.txt");
            assertThat(first.ends(0).out()).contains("all verified at b, from a, ");
            assertThat(first.err().lines()).containsExactlyInAnyOrder("a.txt", "sub/b.txt");
            check(manifest, there.resolve("all"));
            assertThat(again.path("bytesVerified").asLong()).isEqualTo(11);
            assertThat(again.path("bytesMoved").asLong()).isZero();
            assertThat(Files.getLastModifiedTime(there.resolve("all/a.txt"))).isEqualTo(LONG_AGO);

            between("-q", "-F", config, "a:%s/*.txt".formatted(source), "b:%s/other/new".formatted(there))
                    .ends(0);
            assertThat(names(there.resolve("other/new"))).containsExactly("a.txt");
            assertThat(between("-q", "-F", config, "a:%s/sub".formatted(source), all)
                            .ends(Exit.REFUSED)
                            .err())
                    .contains("use -r to copy folders");
            assertThat(between("-q", "-F", config, "a:%s/none".formatted(source), all)
                            .ends(Exit.REFUSED)
                            .err())
                    .contains("source/none");
        }
    }

    private static String host(String name, LoopbackSite site) throws IOException {
        SiteAddress address = site.address();
        Path known = Files.writeString(
                address.identity().resolveSibling("known-to-" + name),
                "[127.0.0.1]:%d %s%n".formatted(address.port(), address.hostKey()));
        return """
                Host %s
                  HostName 127.0.0.1
                  Port %d
                  User %s
                  IdentityFile %s
                  UserKnownHostsFile %s
                """.formatted(name, address.port(), address.user(), address.identity(), known);
    }

    private Ended between(String... arguments) {
        return Ended.by((out, err) -> CopyCommand.execute(List.of(arguments), out, err, earlier));
    }

    private static void check(Path list, Path at) throws Exception {
        Process sha256sum = new ProcessBuilder("sha256sum", "-c", "--strict", list.toString())
                .directory(at.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(sha256sum.getInputStream().readAllBytes());
        assertThat(sha256sum.waitFor()).as(said).isZero();
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    private String at(String path) {
        return "%s@127.0.0.1:%s/%s".formatted(site.address().user(), there, path);
    }

    @Test
    void onlyAPartIsCopiedThereAndBack() throws IOException {
        Files.writeString(source.resolve("sub/scratch.tmp"), "no");
        Files.writeString(Files.createDirectory(source.resolve("raw")).resolve("big.dat"), "no");
        String[] part = {"-r", "--exclude", "*.tmp", "--exclude=/raw/"};

        Ended dry = copy(with(part, "-n", "-v", source.toString(), at("all")));
        Ended there = copy(with(part, "--progress", source.toString(), at("all")));
        Files.writeString(this.there.resolve("all/sub/scratch.tmp"), "no");
        Ended back = copy(with(part, "-v", at("all"), folder.resolve("back").toString()));

        assertThat(dry.ends(0).err().lines()).containsExactlyInAnyOrder("a.txt", "sub/b.txt");
        assertThat(there.ends(0).err().lines()).containsExactlyInAnyOrder("a.txt", "sub/b.txt");
        assertThat(this.there.resolve("all/raw")).doesNotExist();
        assertThat(back.ends(0).err().lines()).containsExactlyInAnyOrder("a.txt", "sub/b.txt");
        assertThat(folder.resolve("back/sub/scratch.tmp")).doesNotExist();
    }

    @Test
    void filesOfPatternsAreThoseOfRsync() throws IOException {
        for (String name : List.of("x.tmp", "keep.tmp", "#hash", "; odd")) {
            Files.writeString(source.resolve(name), name);
        }
        Files.write(FilePath.pathOf(name(source, "caf\u00e9.raw")), new byte[1]);
        Path patterns = folder.resolve("patterns");
        Files.write(
                patterns,
                "*\n!\n# all but one\n\n; odd\r\n+ keep.tmp\n*.tmp\ncaf\u00e9.raw\n- /sub/".getBytes(ISO_8859_1));

        Ended from = copy("-r", "-n", "-v", "--exclude-from", patterns.toString(), source.toString(), at("all"));
        Ended before = copy(
                "-rnv", "--include=x.*", "--exclude-from=" + patterns, "--include=/sub", source.toString(), at("all"));
        Path some = Files.writeString(folder.resolve("some"), "*.txt\n*/\n");
        Ended only = copy("-rnv", "--include-from=" + some, "--exclude=*", source.toString(), at("all"));

        assertThat(from.ends(0).err().lines()).containsExactlyInAnyOrder("a.txt", "keep.tmp", "#hash", "; odd");
        assertThat(before.ends(0).err()).as("! forgets earlier patterns").isEqualTo(from.err());
        assertThat(only.ends(0).err().lines()).containsExactlyInAnyOrder("a.txt", "sub/b.txt");
    }

    @Test
    void patternsComeFromStandardInput() throws Exception {
        SiteAddress address = site.address();
        copy("--version").ends(0);
        ProcessBuilder child = ChildJava.of(CopyCommand.class)
                .arguments(
                        "-rnv",
                        "-q",
                        "-Fnone",
                        "-P" + address.port(),
                        "-i" + address.identity(),
                        "-oUserKnownHostsFile=" + folder.resolve("known"),
                        "--exclude-from=-",
                        source.toString(),
                        at("all"))
                .process()
                .redirectInput(
                        Files.writeString(folder.resolve("typed"), "/sub\n").toFile());

        assertThat(Ended.of(child).ends(0).out().lines()).hasSize(2).contains("a.txt");
    }

    private static byte[] name(Path folder, String latin1) {
        return (folder + "/" + latin1).getBytes(ISO_8859_1);
    }

    @Test
    void aListSaysWhatIsCopied() throws IOException {
        Files.writeString(source.resolve("sub/c.txt"), "c");
        Path list = Files.writeString(folder.resolve("list"), "./sub/b.txt\nnot/here\n");

        Ended there = copy("-r", "--files-from", list.toString(), source.toString(), at("all"));
        Ended back = copy(
                "-r", "--files-from=" + list, at("all"), folder.resolve("back").toString());

        assertThat(there.ends(Exit.NOT_SAFE).err())
                .isEqualTo("NO_MATCH  not/here  the list names it, but it was not found in the source\n");
        assertThat(this.there.resolve("all/sub/b.txt")).hasContent("world!");
        assertThat(this.there.resolve("all/sub/c.txt")).doesNotExist();
        assertThat(this.there.resolve("all/a.txt")).doesNotExist();
        assertThat(back.ends(Exit.NOT_SAFE).err()).startsWith("NO_MATCH  not/here");
        assertThat(folder.resolve("back/sub/b.txt")).hasContent("world!");
    }

    private static String[] with(String[] some, String... more) {
        return Stream.concat(Stream.of(some), Stream.of(more)).toArray(String[]::new);
    }

    private Ended copy(String... arguments) {
        SiteAddress address = site.address();
        List<String> all = new ArrayList<>(List.of("-q", "-P" + address.port(), "-i" + address.identity()));
        try {
            Path file = Files.writeString(
                    folder.resolve("known"),
                    "[127.0.0.1]:%d %s%n".formatted(address.port(), address.hostKey()) + String.join("\n", known));
            all.add("-oUserKnownHostsFile=" + file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        all.addAll(List.of(arguments));
        return Ended.by((out, err) -> CopyCommand.execute(all, out, err, earlier));
    }
}
