package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The quota of a partner: refused as by a full disk, counted by several processes at once, and counted anew. */
@Timeout(120)
class QuotaIT {

    private static final long QUOTA_BYTES = 4_000_000;
    private static final int ENTRY_BYTES = 4_096;
    private static final FilePath INCOMING = FilePath.of(".dozo/incoming");

    @TempDir
    Path temp;

    private Path root;
    private Path count;
    private LoopbackSite site;
    private Lanes lanes;

    @BeforeEach
    void start() throws Exception {
        root = Files.createDirectory(temp.resolve("root"));
        count = Files.createFile(temp.resolve("count"));
        assertThat(countAnew()).isEmpty();
        site = GuardedSite.withQuota(temp.resolve("sshd"), root, QUOTA_BYTES, count);
        lanes = Lanes.to(site.address(), 2, 1);
        sftp().mkdirs(INCOMING);
    }

    @AfterEach
    void stop() {
        lanes.close();
        site.close();
    }

    private Sftp sftp() throws Exception {
        return lanes.next().sftp();
    }

    /** Counts as root does, and returns what is printed. */
    private String countAnew() throws IOException, InterruptedException {
        Process counting = new ProcessBuilder(
                        "python3",
                        "-IS",
                        GuardedSite.script().toString(),
                        "--count",
                        root.toString(),
                        "" + QUOTA_BYTES,
                        count.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(counting.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(counting.waitFor()).as(said).isZero();
        return said;
    }

    private long used() throws IOException {
        Matcher used = Pattern.compile("used (\\d+) ").matcher(Files.readString(count));
        assertThat(used.find()).isTrue();
        return Long.parseLong(used.group(1));
    }

    /** What the site has, read by this test. */
    private long stored() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            long bytes = 0;
            for (Path each : all.filter(path -> !path.equals(root)).toList()) {
                bytes += ENTRY_BYTES + (Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS) ? Files.size(each) : 0);
            }
            return bytes;
        }
    }

    private static void write(Sftp sftp, String name, int bytes) throws Exception {
        RemoteFile file = sftp.create(INCOMING.resolve(name));
        file.write(0, new byte[bytes], 0, bytes);
        file.finish(true);
    }

    private static void assertFull(ThrowingCall call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.FULL));
    }

    private interface ThrowingCall {
        void run() throws Exception;
    }

    @Test
    void whatIsMoreThanTheQuotaIsRefusedAsByAFullDiskUntilSomethingIsRemoved() throws Exception {
        Sftp sftp = sftp();
        Space before = sftp.space().orElseThrow();
        assertThat(before.totalBytes()).isBetween(QUOTA_BYTES - 65_536, QUOTA_BYTES);
        assertThat(before.freeBytes()).isBetween(QUOTA_BYTES - used() - 65_536, QUOTA_BYTES - used());

        write(sftp, "first", 3_000_000);
        assertThat(used()).isEqualTo(stored());
        assertFull(() -> write(sftp, "second", 2_000_000));
        assertThat(used()).isEqualTo(stored()).isLessThanOrEqualTo(QUOTA_BYTES);
        assertFull(() -> sftp.setFacts(INCOMING.resolve("second"), 9_000_000, 0600, 1));

        sftp.cutOff(INCOMING.resolve("first"), 1_000);
        sftp.remove(INCOMING.resolve("second"));
        write(sftp, "third", 2_000_000);
        assertThat(used()).isEqualTo(stored());
        assertThat(countAnew()).as("nothing was counted wrong").isEmpty();
    }

    @Test
    void allKindsOfNamesCountAndAnAlmostFullSiteStillFinishesWhatIsThere() throws Exception {
        Sftp sftp = sftp();
        sftp.mkdirs(FilePath.of("p/E1/data/sub"));
        write(sftp, "a", 1_000_000);
        sftp.rename(INCOMING.resolve("a"), FilePath.of("p/E1/data/a"));
        sftp.hardLink(FilePath.of("p/E1/data/a"), FilePath.of("p/E1/data/sub/b"));
        sftp.symlink("a".getBytes(StandardCharsets.UTF_8), FilePath.of("p/E1/data/l"));
        assertThat(used()).isEqualTo(stored() - 1_000_000);
        assertThat(countAnew()).as("a file with two names is stored once").isEmpty();

        write(sftp, "fills", (int) (QUOTA_BYTES - used()) - 2 * ENTRY_BYTES);
        write(sftp, "empty", 0);
        assertFull(() -> write(sftp, "none", 0));
        assertFull(() -> sftp.mkdir(FilePath.of("p/E2"), 0700));
        assertThat(sftp.mkdir(FilePath.of("p/E1"), 0700)).as("it is there").isFalse();
        assertThat(sftp.space().orElseThrow().full()).isTrue();
        sftp.rename(INCOMING.resolve("fills"), FilePath.of("p/E1/data/fills"));
        assertThat(countAnew()).isEmpty();
    }

    @Test
    void twoProcessesThatWriteOneFileCountItOnce() throws Exception {
        Sftp one = lanes.next().sftp();
        Sftp other = lanes.next().sftp();
        RemoteFile first = one.create(INCOMING.resolve("large"));
        RemoteFile second = other.open(INCOMING.resolve("large"));
        byte[] half = new byte[1_500_000];
        second.write(half.length, half, 0, half.length);
        first.write(0, half, 0, half.length);
        first.finish(false);
        second.finish(true);

        assertThat(Files.size(root.resolve(".dozo/incoming/large"))).isEqualTo(2 * half.length);
        assertThat(used()).isEqualTo(stored());
        assertThat(countAnew()).isEmpty();
    }

    @Test
    void aCountThatIsWrongIsCorrectedAndOneThatIsMissingStopsWritingOnly() throws Exception {
        Sftp sftp = sftp();
        write(sftp, "kept", 1_000);
        // As a process leaves it that dies between the count and the change.
        Files.writeString(
                count, Files.readString(count).replaceFirst("used \\d{20}", "used %020d".formatted(used() + 5_000)));
        assertThat(countAnew()).contains("bytes were counted", "corrected");
        assertThat(used()).isEqualTo(stored());

        Files.writeString(count, "");
        assertFull(() -> write(sftp, "more", 1));
        assertFull(() -> sftp.remove(INCOMING.resolve("kept")));
        assertThat(sftp.space().orElseThrow().freeBytes()).isZero();
        assertThat(sftp.lstat(INCOMING.resolve("kept"))).isPresent();
        assertThat(countAnew()).isEmpty();
        write(sftp, "more", 1);
        assertThat(used()).isEqualTo(stored());
    }

    @Test
    void loginsAreNotedByKeyOnceEach() throws Exception {
        try (Lanes again = Lanes.to(site.address(), 1, 1)) {
            assertThat(again.next().sftp().lstat(INCOMING)).isPresent();
        }
        assertThat(Files.readAllLines(count)).hasSize(2).last().asString().matches("key SHA256:k{43} \\d{20}");
    }
}
