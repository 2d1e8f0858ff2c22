package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
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

    private String at(String path) {
        return "%s@127.0.0.1:%s/%s".formatted(site.address().user(), there, path);
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
