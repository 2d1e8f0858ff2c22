package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import dozo.crypto.Libcrypto;
import dozo.db.ChildJava;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a copy refuses before it does anything, and its exit codes. */
class CopyCommandTest {

    private static final String HOST_KEY =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN7MVD4mFKB5ATmpT+uC+nBuCHGWCv79nu0/57anDYeJ";

    @TempDir
    Path folder;

    private Path file;
    private Path key;
    private Path knownHosts;

    @BeforeEach
    void makeFiles() throws IOException {
        file = Files.writeString(folder.resolve("file"), "x");
        key = Files.writeString(folder.resolve("key"), "no key, but not encrypted");
        knownHosts = Files.writeString(folder.resolve("known_hosts"), "dr " + HOST_KEY);
    }

    @Test
    void helpSaysAll() {
        Ended help = copy("--help");

        help.ends(0);
        assertThat(help.out()).contains("--limit").contains("130").contains("Unlike with scp");
        assertThat(help.out().lines()).allMatch(line -> line.length() <= 80);
    }

    @Test
    void versionSaysWhatEncryptsAndDigests() {
        Ended version = copy("--version");

        version.ends(0);
        assertThat(version.out()).startsWith("dozo ").contains("crypto: " + Libcrypto.note());
        assertThat(copy("-V").out()).isEqualTo(version.out());
    }

    @Test
    void aCopyThatCountsOnALibcryptoThatIsNotThereSaysThatItTakesLong() throws Exception {
        Process process = ChildJava.of(CopyCommand.class)
                .options("-Dcrypto.library=none", "-Dcopy.crypto=/the/note")
                .arguments(file.toString(), "no-such-folder/file")
                .process()
                .redirectErrorStream(true)
                .start();

        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("this copy is slow")
                .contains("Java's own crypto")
                .contains("Remove /the/note");
        assertThat(process.waitFor()).isEqualTo(Exit.USAGE);
    }

    @Test
    void wrongUsageEndsWithTwo() {
        assertRefused(Exit.USAGE, "SRC and DST", "only-one");
        assertRefused(Exit.USAGE, "unknown option --frob", "--frob", "a", "h:/b");
        assertRefused(Exit.USAGE, "unknown option -y", "-ry", "a", "h:/b");
        assertRefused(Exit.USAGE, "-P requires a value", "a", "h:/b", "-P");
        assertRefused(Exit.USAGE, "--json takes no value", "--json=1", "a", "h:/b");
        assertRefused(Exit.USAGE, "1 to 64", "--lanes", "65", "a", "h:/b");
        assertRefused(Exit.USAGE, "1 to 64", "--lanes=none", "a", "h:/b");
        assertRefused(Exit.USAGE, "10MB", "--limit", "fast", "a", "h:/b");
        assertRefused(Exit.USAGE, "1 to 65535", "-P0", file.toString(), "h:/b");
        assertRefused(Exit.USAGE, "1 to 65535", "-oPort=ssh", file.toString(), "h:/b");
        for (String jump : List.of("", "u@", "h:port", "a@b@c", "gate,", "h:1:2")) {
            assertRefused(Exit.USAGE, "expected [USER@]HOST[:PORT]", "-J", jump, file.toString(), "h:/b");
        }
        assertRefused(Exit.USAGE, "1 to 65535", "-Jgate:70000", file.toString(), "h:/b");
    }

    @Test
    void optionsOfSshThatAreNotUnderstoodAreNamed() {
        assertRefused(
                Exit.USAGE,
                "-o ProxyCommand=x is not supported; expected one of UserKnownHostsFile",
                "-oProxyCommand=x",
                "a",
                "h:/b");
        assertRefused(Exit.USAGE, "expected yes", "-o", "StrictHostKeyChecking=accept-new", "a", "h:/b");
        assertRefused(Exit.USAGE, "OPTION=VALUE", "-oPort", "a", "h:/b");
    }

    @Test
    void optionsOfScpAndRsyncThatAreNotThereAreNamedWithWhatDoesItHere() {
        assertRefused(Exit.USAGE, "-l is not supported: use --limit", "-l", "8000", "a", "h:/b");
        assertRefused(Exit.USAGE, "-z is not supported: content is sent as it is", "-az", "a", "h:/b");
        assertRefused(Exit.USAGE, "--delete-after is not supported: dozo copy never", "--delete-after", "a", "h:/b");
        assertRefused(Exit.USAGE, "--rsh is not supported: use -i", "--rsh=ssh -p 2", "a", "h:/b");
    }

    @Test
    void aPartIsChosenByPatternsAndAList() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty"), "\n");

        assertRefused(Exit.USAGE, "--exclude: ", "--exclude", "a/../b", file.toString(), "dr:/b");
        assertRefused(Exit.USAGE, "--include: ", "--include=[a", file.toString(), "dr:/b");
        assertRefused(
                Exit.USAGE, "expected one SRC", "-r", "--files-from", "-", file.toString(), folder.toString(), "dr:/");
        assertRefusedKnown("the list contains no path", "--files-from=" + empty, file.toString(), "dr:/b");
        Path endless = Path.of("/dev/zero");
        assertRefusedKnown("expected at most 16777216 bytes", "--files-from=" + endless, file.toString(), "dr:/b");
        assertRefusedKnown("cannot be read", "--files-from", folder + "/none", file.toString(), "dr:/b");
        assertRefused(
                Exit.USAGE, "--exclude-from: " + folder + "/none cannot be read", "--exclude-from", folder + "/none");
        assertRefused(Exit.USAGE, "--include-from: " + folder + " cannot be read", "--include-from=" + folder);
        assertRefused(Exit.USAGE, "expected at most 262144 bytes", "--exclude-from=" + endless);
        Path wrong = Files.writeString(folder.resolve("wrong"), "# a comment\n*.tmp\n+ [a\n");
        assertRefused(Exit.USAGE, "--exclude-from: \"[a\": the ] of a class is missing", "--exclude-from=" + wrong);
        assertRefused(Exit.USAGE, "standard input can be read only once", "--files-from=-", "--include-from", "-");
    }

    /** Refused when the host is known and the key exists. */
    private void assertRefusedKnown(String why, String... arguments) {
        List<String> all = new ArrayList<>(List.of("-i" + key, "-oUserKnownHostsFile=" + knownHosts));
        all.addAll(List.of(arguments));
        assertRefused(Exit.USAGE, why, all.toArray(String[]::new));
    }

    @Test
    void oneEndIsASite() {
        assertRefused(Exit.USAGE, "SRC or DST must be at a site", "a", "b");
        assertRefused(Exit.USAGE, "at the same site", "h:/a", "i:/b", "c");
        assertRefused(Exit.USAGE, "at the same site", "h:/a", "b", "c");
        assertRefused(Exit.USAGE, "at the same site", "me@h:/a", "you@h:/a", "c");
        assertRefused(Exit.USAGE, "at the same site", "h:/a", "i:/b", "k:/c");
        assertRefused(Exit.USAGE, "at the same site", "h:/a", "b", "k:/c");
    }

    @Test
    void whatCannotBeCopiedIsRefusedBeforeAnythingIsDone() throws IOException {
        Path other =
                Files.writeString(Files.createDirectory(folder.resolve("other")).resolve("file"), "y");

        assertRefused(Exit.REFUSED, "use -r to copy folders", folder.toString(), "h:/b");
        assertRefused(Exit.REFUSED, "/missing does not exist", folder + "/missing", "h:/b");
        assertRefused(Exit.REFUSED, "two sources have the name file", file.toString(), other.toString(), "h:/b");
        assertRefused(Exit.REFUSED, "two sources have the name file", "h:/a/file", "h:/b/file", "c");
        assertRefused(Exit.REFUSED, "the root folder has no name", "-r", "/", "h:/b/");
        assertRefused(Exit.REFUSED, "two sources have the name file", "h:/a/file", "h:/b/file", "i:/c");
        assertRefused(Exit.REFUSED, "without ..", "h:/a/../b", "c");
    }

    @Test
    void nothingIsCopiedOntoItselfOrIntoItselfAtOneHost() {
        for (String target : List.of("dr:/a", "dr:/a/b/c/d", "you@dr:/a/b/c", "dr:/a/b/", "dr:/a/b/c/")) {
            assertRefused(
                    Exit.REFUSED,
                    "and SRC: /a/b/c overlap at the same host",
                    "-r",
                    "-i" + key,
                    "-oUserKnownHostsFile=" + knownHosts,
                    "dr:/a/b/c",
                    target);
        }
    }

    @Test
    void twoSitesAreNotOnlyCompared() {
        assertRefused(
                Exit.USAGE,
                "not two sites",
                "-rnc",
                "-i" + key,
                "-oUserKnownHostsFile=" + knownHosts,
                "dr:/a",
                "dr:/b");
    }

    @Test
    void anUnknownHostIsRefusedWithTheWayToKnowIt() {
        Ended ended =
                copy("-i" + key, "-oUserKnownHostsFile=" + knownHosts, "-P2222", file.toString(), "me@unknown:/b");

        ended.ends(Exit.NOT_ALLOWED);
        assertThat(ended.err())
                .contains("ssh-keyscan -p 2222 unknown >> " + knownHosts)
                .contains("fingerprint");
    }

    @Test
    void aKeyThatCannotBeUsedIsNamed() throws IOException {
        Path encrypted = Files.writeString(folder.resolve("encrypted"), "-----BEGIN ENCRYPTED PRIVATE KEY-----\n");

        assertRefused(Exit.NOT_ALLOWED, "does not exist", "-i", folder + "/none", file.toString(), "dr:/b");
        assertRefused(Exit.NOT_ALLOWED, "is encrypted", "-oIdentityFile=" + encrypted, file.toString(), "dr:/b");
        assertRefused(
                Exit.NOT_ALLOWED,
                "no unencrypted private key",
                "-i" + key,
                "-oUserKnownHostsFile=" + knownHosts,
                "dr:/a",
                "b");
    }

    @Test
    void aFolderOfTheSiteWantsRToo() throws IOException {
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            Files.createDirectories(folder.resolve("dr/sub"));

            Ended ended = copy(to(
                    site, site.address().root() + "/sub", folder.resolve("back").toString()));

            ended.ends(Exit.REFUSED);
            assertThat(ended.err()).contains("dr/sub is a folder: use -r to copy folders");
            assertThat(folder.resolve("back")).doesNotExist();
        }
    }

    @Test
    void aSiteThatIsNotThereOrIsAnotherEndsSo() throws IOException {
        String[] arguments;
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            arguments = to(site, "/a", folder.resolve("back").toString());
            Files.writeString(
                    folder.resolve("known"),
                    "[127.0.0.1]:%d %s".formatted(site.address().port(), HOST_KEY));
            assertThat(copy(arguments).ends(Exit.NOT_ALLOWED).err()).contains("differs from the pinned one");
        }

        assertThat(copy(arguments).code()).isEqualTo(Exit.UNAVAILABLE);
    }

    private void assertRefused(int code, String why, String... arguments) {
        Ended ended = copy(arguments);
        assertThat(ended.err()).startsWith("dozo: ").contains(why);
        assertThat(ended).extracting(Ended::code, Ended::out).containsExactly(code, "");
    }

    private String[] to(LoopbackSite site, String source, String destination) throws IOException {
        SiteAddress at = site.address();
        Path known =
                Files.writeString(folder.resolve("known"), "[%s]:%d %s".formatted(at.host(), at.port(), at.hostKey()));
        List<String> arguments = new ArrayList<>(List.of("-i" + at.identity(), "-oUserKnownHostsFile=" + known, "-q"));
        arguments.add("scp://%s@%s:%d/%s".formatted(at.user(), at.host(), at.port(), source));
        arguments.add(destination);
        return arguments.toArray(String[]::new);
    }

    private static Ended copy(String... arguments) {
        return Ended.by((out, err) -> CopyCommand.execute(List.of(arguments), out, err));
    }
}
