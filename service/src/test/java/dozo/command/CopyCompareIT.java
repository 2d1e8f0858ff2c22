package dozo.command;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Compares a tree with its copy at a real server, in both directions, and changes neither. */
class CopyCompareIT {

    private static final FileTime LONG_AGO = FileTime.from(Instant.ofEpochSecond(1_000_000_000));

    @TempDir
    Path folder;

    @AutoClose
    private LoopbackSite site;

    private Path source;
    private Path target;

    @BeforeEach
    void start() throws Exception {
        folder = folder.toRealPath();
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        source = Files.createDirectories(folder.resolve("source/sub")).getParent();
        Files.writeString(source.resolve("a.txt"), "hello");
        Files.writeString(source.resolve("sub/b.txt"), "world!");
        Files.createFile(source.resolve("empty"));
        Files.createFile(FilePath.pathOf((source + "/caf\u00e9 \\ \n").getBytes(ISO_8859_1)));
        Files.createSymbolicLink(source.resolve("link"), Path.of("a.txt"));
        Files.write(source.resolve("large"), new byte[(64 << 20) + 1]);
        copy("-r", source.toString(), at("all")).ends(Exit.WELL);
        target = folder.resolve("dr/all");
    }

    @Test
    void equalTreesAreWellInBothDirections() throws Exception {
        Files.setLastModifiedTime(source.resolve("a.txt"), LONG_AGO);
        Files.writeString(target.resolve("only there"), "is not mentioned");
        Map<Path, String> before = state();

        Ended there = copy("-rnc", "-v", source.toString(), at("all"));
        Ended back = copy("-r", "-n", "--checksum", "--json", at("all"), source.toString());

        assertThat(there.ends(Exit.WELL).out())
                .startsWith("compared, nothing was changed. 8 entries, 67 MB: all equal at 127.0.0.1, ");
        assertThat(there.err().lines()).hasSize(5).contains("a.txt", "sub/b.txt", "empty", "large");
        assertThat(back.ends(Exit.NOT_SAFE).err()).isEqualTo("MISSING  only there  does not exist here\n");
        JsonNode json = Connection.JSON.readTree(back.out());
        assertThat(json.path("compared").toString())
                .isEqualTo("{\"equal\":8,\"different\":0,\"missing\":1,\"unknown\":0}");
        assertThat(json.path("bytesMoved").asLong()).isZero();
        assertThat(json.path("complete").asBoolean()).isFalse();
        assertThat(json.path("dryRun").isNull()).isTrue();
        assertThat(state()).isEqualTo(before);
    }

    @Test
    void everyDifferenceIsAFinding() throws Exception {
        Files.setLastModifiedTime(source.resolve("a.txt"), LONG_AGO);
        Files.writeString(target.resolve("a.txt"), "hullo");
        Files.setLastModifiedTime(target.resolve("a.txt"), LONG_AGO);
        Files.writeString(target.resolve("empty"), "not empty");
        Files.delete(target.resolve("link"));
        Files.createSymbolicLink(target.resolve("link"), Path.of("b.txt"));
        Files.delete(target.resolve("sub/b.txt"));
        Files.delete(target.resolve("sub"));
        Files.writeString(target.resolve("sub"), "a file");
        Files.delete(target.resolve("large"));
        Map<Path, String> before = state();

        Ended ended = copy("-rnc", "--json", source.toString(), at("all"));

        assertThat(ended.ends(Exit.NOT_SAFE).err().lines())
                .containsExactlyInAnyOrder(
                        "MISMATCHED  a.txt  checksum mismatch: %s here, %s at the site"
                                .formatted(sha256("hello"), sha256("hullo")),
                        "MISMATCHED  empty  checksum mismatch: %s here, %s at the site"
                                .formatted(sha256(""), sha256("not empty")),
                        "MISMATCHED  link  is a link with another target at the site",
                        "MISMATCHED  sub  is a folder here, and a file at the site",
                        "MISSING  sub/b.txt  does not exist at the site",
                        "MISSING  large  does not exist at the site");
        assertThat(Connection.JSON.readTree(ended.out()).path("compared").toString())
                .isEqualTo("{\"equal\":2,\"different\":4,\"missing\":2,\"unknown\":0}");
        assertThat(copy("-rnc", source.toString(), at("all")).out())
                .contains("2 equal, 4 different, 2 missing, 0 unknown (see above) at 127.0.0.1");
        assertThat(state()).isEqualTo(before);
    }

    @Test
    void everyDifferenceIsAFindingAlsoHere() throws Exception {
        Files.writeString(source.resolve("a.txt"), "hullo");
        Files.delete(source.resolve("empty"));
        assertThat(new ProcessBuilder("mkfifo", source.resolve("empty").toString())
                        .start()
                        .waitFor())
                .isZero();
        Files.delete(source.resolve("link"));

        assertThat(copy("-rnc", at("all"), source.toString())
                        .ends(Exit.NOT_SAFE)
                        .err()
                        .lines())
                .containsExactlyInAnyOrder(
                        "MISMATCHED  a.txt  checksum mismatch: %s here, %s at the site"
                                .formatted(sha256("hullo"), sha256("hello")),
                        "MISMATCHED  empty  is a socket, device or fifo here",
                        "MISSING  link  does not exist here");
    }

    @Test
    void destinationsAreThoseOfACopy() throws Exception {
        Files.createSymbolicLink(folder.resolve("dr/to all"), Path.of("all"));
        Path here = Files.createSymbolicLink(folder.resolve("here"), source);

        copy("-rnc", source.toString(), at("to all")).ends(Exit.WELL);
        copy("-rnc", at("all"), here.toString()).ends(Exit.WELL);
        copy("-nc", source.resolve("a.txt").toString(), at("all/")).ends(Exit.WELL);
        copy("-nc", at("all/a.txt"), source.resolve("a.txt").toString()).ends(Exit.WELL);
        assertThat(copy("-rnc", source.toString(), at("all/"))
                        .ends(Exit.NOT_SAFE)
                        .out())
                .contains("0 equal, 0 different, 8 missing");
        assertThat(copy("-rnc", source.toString(), at("no/such"))
                        .ends(Exit.NOT_SAFE)
                        .out())
                .contains("0 equal, 0 different, 8 missing");
        assertThat(copy("-rnc", at("all"), folder + "/no/such")
                        .ends(Exit.NOT_SAFE)
                        .out())
                .contains("0 equal, 0 different, 8 missing");
        assertThat(folder.resolve("no")).doesNotExist();
        assertThat(folder.resolve("dr/no")).doesNotExist();
    }

    @Test
    void onlyAPartIsCompared() throws Exception {
        Files.writeString(target.resolve("a.txt"), "hullo");

        copy("-rnc", "--exclude=a.*", source.toString(), at("all")).ends(Exit.WELL);
    }

    @Test
    void withoutADryRunACopyIsMade() throws Exception {
        Files.writeString(target.resolve("a.txt"), "hullo");

        copy("-r", "-c", source.toString(), at("all")).ends(Exit.WELL);

        assertThat(target.resolve("a.txt")).hasContent("hello");
    }

    private static String sha256(String content) {
        return Digest.ofContent(content.getBytes(ISO_8859_1)).toString();
    }

    /** Returns times and modes of all there is on both sides. */
    private Map<Path, String> state() throws IOException {
        Map<Path, String> state = new TreeMap<>();
        try (Stream<Path> all = Stream.concat(Files.walk(source), Files.walk(folder.resolve("dr")))) {
            for (Path path : all.toList()) {
                if (!Files.isSymbolicLink(path)) {
                    state.put(
                            path,
                            Files.getLastModifiedTime(path)
                                    + PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
                }
            }
        }
        return state;
    }

    private String at(String path) {
        return "%s@127.0.0.1:%s/%s".formatted(site.address().user(), folder.resolve("dr"), path);
    }

    private Ended copy(String... arguments) throws IOException {
        SiteAddress address = site.address();
        Path known = Files.writeString(
                folder.resolve("known"), "[127.0.0.1]:%d %s%n".formatted(address.port(), address.hostKey()));
        List<String> all = new ArrayList<>(
                List.of("-q", "-P" + address.port(), "-i" + address.identity(), "-oUserKnownHostsFile=" + known));
        all.addAll(List.of(arguments));
        EarlierCopies earlier = new EarlierCopies(folder.resolve("cache"), Duration.ZERO);
        return Ended.by((out, err) -> CopyCommand.execute(all, out, err, earlier));
    }
}
