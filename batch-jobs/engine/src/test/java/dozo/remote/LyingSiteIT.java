package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck.Look;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Wrong digest commands at a real sshd: the site check rejects them, and if a command becomes wrong later, it never
 * verifies a file that differs from what was sent. The commands are shell scripts that precede the real ones in the
 * PATH; {@code real} is the real one.
 */
@Timeout(300)
class LyingSiteIT {

    @TempDir
    Path temp;

    private Path root;
    private LyingTools tools;
    private LoopbackSite site;
    private Lanes lanes;
    private Lane lane;

    @BeforeEach
    void startSite() throws Exception {
        root = Files.createDirectory(temp.resolve("root"));
        tools = new LyingTools(temp);
        lanesTo(tools.serve(root));
    }

    private void lanesTo(LoopbackSite started) throws Exception {
        stopSite();
        site = started;
        lanes = Lanes.to(site.address(), 1);
        lane = lanes.next();
    }

    @AfterEach
    void stopSite() {
        if (site != null) {
            lanes.close();
            site.close();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // for other files
                "real \"$@\" | sed 's,\\./.*,./another file,'",
                "for f; do real /dev/null; done",
                // for other ones of the requested files
                "real \"$@\" | awk '{ digest[NR] = $1; name[NR] = $2 } END { for (i in name) print digest[NR + 1 - i] \"  \" name[i] }'",
                // too few lines, and a successful exit code
                "real \"$@\" | head -n 2",
                "real \"$@\" | head -c 100",
                ":",
                // nothing instead of the digest
                "for f; do echo \"  $f\"; done",
                // valid digests of other content
                "real \"$@\" | sed 's/^[0-7]/8/; t; s/^./0/'",
                "for f; do echo \"$(printf %064d 7)  $f\"; done",
                "for f; do echo \"$(printf %s \"$f\" | real | cut -c1-64)  $f\"; done",
                // two answers for one file
                "for f; do echo \"$(printf %064d 7)  $f\"; done; real \"$@\"",
                // lines that end as on Windows
                "real \"$@\" | sed \"s/$/$(printf '\\r')/\"",
                // all on one line
                "real \"$@\" | tr '\\n' ' '",
                // all lines, and an exit code that reports a failure
                "real \"$@\"; exit 1",
                // earlier digests of files with the same name, or the same size and time
                "for f; do k=$(stat -c %s \"$f\"); [ -e \"$CACHE/$k\" ] || real < \"$f\" > \"$CACHE/$k\"; "
                        + "echo \"$(cut -c1-64 \"$CACHE/$k\")  $f\"; done",
                "for f; do k=$(stat -c '%n %s %Y' \"$f\" | real | cut -c1-64); "
                        + "[ -e \"$CACHE/$k\" ] || real < \"$f\" > \"$CACHE/$k\"; "
                        + "echo \"$(cut -c1-64 \"$CACHE/$k\")  $f\"; done",
            })
    void isNotTakenAndVerifiesNothing(String lie) throws Exception {
        tools.are(lie);
        // Fills what a cache would remember from earlier checks.
        for (int i = 0; i < 2; i++) {
            SiteCheck check = SiteCheck.of(lane);
            assertThat(check.digest().method()).isEqualTo("read-back");
            assertThat(check.usable()).isTrue();
        }
        Map<FilePath, Digest> known = written(20);
        Map<FilePath, Digest> asked = new HashMap<>(known);
        if (lie.contains("CACHE")) {
            ExecDigest.COREUTILS.digests(lane, List.copyOf(known.keySet()), 1 << 20);
            asked = rewritten(known);
        }
        Map<FilePath, Digest> said = ExecDigest.COREUTILS.digests(lane, List.copyOf(asked.keySet()), 1 << 20);
        long right = asked.entrySet().stream()
                .filter(file -> file.getValue().equals(said.get(file.getKey())))
                .count();
        assertThat(right).isEqualTo(lie.contains("head -n 2") ? 2 : lie.contains("head -c 100") ? 1 : 0);
        assertThat(said.keySet()).isSubsetOf(asked.keySet());
    }

    @Test
    void whatIsNotTakenIsSaid() throws Exception {
        tools.are("for f; do echo \"$(printf %064d 7)  $f\"; done");

        assertThat(SiteCheck.of(lane).findings())
                .containsExactlyInAnyOrder(
                        "digests by exec sha256sum at the site are wrong or incomplete, and are not used",
                        "digests by exec openssl dgst -sha256 -r at the site are wrong or incomplete, and are not used",
                        "digests by exec shasum -a 256 at the site are wrong or incomplete, and are not used");
    }

    /** Ambiguous names are matched by order alone: another order gives other digests. */
    @Test
    void anotherOrderOfAnswersForOddNamesVerifiesNothing() throws Exception {
        LyingTools.script(tools.bin().resolve("xargs"), "PATH=${PATH#*:}; xargs \"$@\" | tac");
        Map<FilePath, Digest> known = written(20);
        Map<FilePath, Digest> odd = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            byte[] content = {(byte) i};
            FilePath file = FilePath.of("odd\n" + i);
            Files.write(file.under(root), content);
            odd.put(file, Digest.ofContent(content));
        }

        assertThat(ExecDigest.COREUTILS.digests(lane, List.copyOf(known.keySet()), 1 << 20))
                .as("names tell which is which, in any order")
                .isEqualTo(known);
        Map<FilePath, Digest> said = ExecDigest.COREUTILS.digests(lane, List.copyOf(odd.keySet()), 1 << 20);
        assertThat(odd.entrySet()).noneMatch(file -> file.getValue().equals(said.get(file.getKey())));
    }

    /** Correct answers in any form. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "real \"$@\" | sort",
                "real \"$@\" | tr a-f A-F",
                "echo Welcome; for f; do real \"$f\"; echo \"Have a nice day at ./$f\"; done; echo warning >&2",
                "real \"$@\"; real \"$@\"",
            })
    void theRightDigestsInAnotherFormAreRight(String manner) throws Exception {
        tools.are(manner);
        Map<FilePath, Digest> known = written(20);

        assertThat(ExecDigest.COREUTILS.digests(lane, List.copyOf(known.keySet()), 1 << 20))
                .isEqualTo(known);
    }

    @ParameterizedTest
    @CsvSource({"exec sleep 1000, 2, did not end within 2 s", "exec yes, 30, printed more than"})
    void aCommandWithoutAnEndIsNotTaken(String command, int patienceSeconds, String finding) throws Exception {
        tools.are(command);
        Look impatient = new Look(
                FilePath.of("probes"),
                InstantSource.system(),
                false,
                new Patience(Duration.ofSeconds(patienceSeconds)));
        SiteCheck check = SiteCheck.of(lane, impatient, new SiteCheck.Early());

        assertThat(check.digest().method()).isEqualTo("read-back");
        assertThat(check.usable()).isTrue();
        assertThat(check.findings()).hasSize(3).allMatch(said -> said.contains(finding));
        assertThat(lane.isOpen()).isTrue();
    }

    @Test
    void aLoginShellThatNeverAnswersCostsOneTimeOutAndIsNamedOnce() throws Exception {
        lanesTo(tools.serve(root, "echo 'Menu: 1 mail, 2 end'; while read -r choice; do echo \"no $choice\"; done"));
        long before = System.nanoTime();

        SiteCheck check = SiteCheck.of(lane);

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(55));
        assertThat(check.usable()).isTrue();
        assertThat(check.digest().method()).isEqualTo("read-back");
        assertThat(check.syncsAtOnce()).isFalse();
        assertThat(check.findings())
                .singleElement()
                .asString()
                .contains("did not run a command within 30 s; no commands are used there");
    }

    @Test
    void aCommandThatHangsLaterVerifiesNothingAndTheNextOneRuns() throws Exception {
        Map<FilePath, Digest> known = written(3);
        tools.are("real \"$@\" | head -n 2; exec sleep 1000");
        ExecDigest impatient = ExecDigest.COREUTILS.with(new Patience(Duration.ofMillis(500)));

        assertThatThrownBy(() -> impatient.digests(lane, List.copyOf(known.keySet()), 1 << 20))
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.STUCK));
        tools.are("real \"$@\"");
        assertThat(ExecDigest.COREUTILS.digests(lane, List.copyOf(known.keySet()), 1 << 20))
                .isEqualTo(known);
    }

    @Test
    void anAnswerWithoutAnEndIsCutShortAtOnce() throws Exception {
        tools.are("exec yes");
        FilePath file = written(1).keySet().iterator().next();

        assertThatThrownBy(() -> ExecDigest.COREUTILS.digests(lane, List.of(file), 1 << 20))
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL));
    }

    /** Only a program can be started by another one: shell built-ins do not count. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "alias sha256sum='echo lie' openssl='echo lie'; eval \"$SSH_ORIGINAL_COMMAND\"",
                "sha256sum() { echo lie; }; openssl() { echo lie; }; eval \"$SSH_ORIGINAL_COMMAND\"",
                "exec bash -c 'sha256sum() { echo lie; }; openssl() { echo lie; }; export -f sha256sum openssl; "
                        + "eval \"$SSH_ORIGINAL_COMMAND\"'",
            })
    void aliasesAndFunctionsOfTheLoginShellAreNotAsked(String loginShell) throws Exception {
        lanesTo(tools.serve(root, loginShell));

        assertTakenAndRight();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "echo Welcome to this server; echo Maintenance on Friday >&2; exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
                "printf 'no line feed 0'; sh -c \"$SSH_ORIGINAL_COMMAND\"; echo Good bye",
                "set -f -u; IFS=/; umask 777; exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
            })
    void aTalkativeLoginShellDisturbsNothing(String loginShell) throws Exception {
        lanesTo(tools.serve(root, loginShell));

        assertTakenAndRight();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // fails, or ends at once, or reports an error
                "exit 1",
                "exit 0",
                "cat > /dev/null",
                "real \"$@\"; exit 1",
                "exec sleep 1000",
                "kill -9 $$",
                "echo \"tar: invalid option -- 'o'\" >&2; exit 64",
                // creates files incorrectly
                "real \"$@\" -m",
                "real \"$@\"; chmod 600 tar/empty",
                "real \"$@\"; : > tar/new/odd",
                "real \"$@\"; printf x >> tar/empty",
                // writes through a link of the same name
                "real \"$@\"; cat tar/link > v; ln -sf ../v tar/link",
                "real \"$@\"; printf 1234 > v",
            })
    void aTarThatDoesNotWorkIsNotUsed(String manner) throws Exception {
        tools.tarDoes(manner, manner);
        Look look = new Look(FilePath.of("probes"), InstantSource.system(), false, new Patience(Duration.ofSeconds(3)));

        SiteCheck check = SiteCheck.of(lane, look, new SiteCheck.Early());

        assertThat(check.unpacksTar()).isFalse();
        assertThat(check.usable()).isTrue();
        assertThat(check.findings()).isEmpty();
        assertThat(root.resolve("probes")).isEmptyDirectory();
    }

    private void assertTakenAndRight() throws Exception {
        SiteCheck check = SiteCheck.of(lane);
        assertThat(check.digest().method()).startsWith("exec ");
        assertThat(check.unpacksTar()).isTrue();
        assertThat(check.findings()).isEmpty();
        Map<FilePath, Digest> known = written(20);
        assertThat(check.digest().digests(lane, List.copyOf(known.keySet()), 1 << 20))
                .isEqualTo(known);
    }

    @Test
    void aPathWithoutToolsLeavesReadingBack() throws Exception {
        for (String tool : List.of("sh", "head", "cat", "xargs")) {
            Files.createSymbolicLink(
                    tools.bin().resolve(tool), Path.of("/usr/bin").resolve(tool).toRealPath());
        }
        for (String path : List.of(tools.bin().toString(), "/nonexistent")) {
            lanesTo(tools.serve(
                    root, "PATH=%s; export PATH; exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"".formatted(path)));
            SiteCheck check = SiteCheck.of(lane);

            assertThat(check.digest().method()).as(path).isEqualTo("read-back");
            assertThat(check.usable()).as(path).isTrue();
            assertThat(check.findings()).as(path).isEmpty();
            assertThat(check.cache()).as(path).isEmpty();
            assertThat(check.syncsAtOnce()).as(path).isFalse();
        }
    }

    /** A busy system may have dropped the file from its memory before the count, or keep it a moment longer. */
    @ParameterizedTest
    @CsvSource({"1, true", "2, true", "3, false"})
    void memoryThatIsCountedWrongOnceOrTwiceIsAskedAgain(int times, boolean found) throws Exception {
        LyingTools.script(
                tools.bin().resolve("fincore"), """
                PATH=${PATH#*:}
                for f; do :; done
                touch "%1$s/${f##*/}"
                if [ "$(ls "%1$s" | wc -l)" -le %2$d ]; then echo 0; else exec fincore "$@"; fi
                """.formatted(Files.createDirectory(temp.resolve("times")), times));
        boolean drops = Trees.dropsFromMemory(root);

        assertThat(SiteCheck.of(lane).cache().isPresent()).isEqualTo(found && drops);

        assertThat(temp.resolve("times").toFile().list()).hasSize(drops ? Math.min(times + 1, 3) : 0);
    }

    /** Nothing depends on the site's clock. */
    @ParameterizedTest
    @ValueSource(longs = {-3_600 * 5, 3_600 * 5, -3_600L * 24 * 365 * 30, 3_600L * 24 * 365 * 30})
    void aClockThatIsWrongIsSaidAndNothingElse(long secondsAhead) throws Exception {
        InstantSource ours = InstantSource.offset(InstantSource.system(), Duration.ofSeconds(-secondsAhead));
        SiteCheck check = SiteCheck.of(
                lane,
                new Look(FilePath.of("probes"), ours, true, new Patience(Duration.ofSeconds(30))),
                new SiteCheck.Early());

        assertThat(check.usable()).isTrue();
        assertThat(check.digest().method()).startsWith("exec ");
        assertThat(check.clockAhead().orElseThrow().toSeconds()).isBetween(secondsAhead - 5, secondsAhead + 5);
        assertThat(check.findings()).hasSize(1).allMatch(said -> said.startsWith("the site's clock is off by "));
    }

    private Map<FilePath, Digest> written(int files) throws IOException {
        Map<FilePath, Digest> known = new HashMap<>();
        for (int i = 0; i < files; i++) {
            byte[] content = new byte[1_000 + i];
            content[0] = (byte) i;
            FilePath file = FilePath.of("%03d".formatted(i));
            Files.write(file.under(root), content);
            known.put(file, Digest.ofContent(content));
        }
        return known;
    }

    /** Returns the digests after a change of content without a change of size or time. */
    private Map<FilePath, Digest> rewritten(Map<FilePath, Digest> known) throws IOException {
        Map<FilePath, Digest> now = new HashMap<>();
        for (FilePath file : known.keySet()) {
            Path path = file.under(root);
            byte[] content = Files.readAllBytes(path);
            content[500]++;
            var time = Files.getLastModifiedTime(path);
            Files.write(path, content);
            Files.setLastModifiedTime(path, time);
            now.put(file, Digest.ofContent(content));
        }
        return now;
    }
}
