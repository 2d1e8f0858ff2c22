package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The contract of every site, whatever server it runs. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
abstract class SftpContract {

    private Path temp;

    private LoopbackSite site;
    private Lanes lanes;
    private Lane lane;
    private Sftp sftp;
    private int tests;

    /** Starts the server to test. */
    abstract LoopbackSite serve(Path state, Path root) throws IOException;

    /** Returns the expected digest method. */
    abstract String digestMethod();

    @BeforeAll
    void startSite(@TempDir Path folder) throws IOException {
        temp = folder;
        site = serve(temp.resolve("state"), temp.resolve("root"));
        lanes = Lanes.to(site.address(), 2, 2);
    }

    @AfterAll
    void stopSite() {
        lanes.close();
        site.close();
    }

    /** Each test has a folder of its own. */
    private FilePath folder;

    @BeforeEach
    void makeFolder() throws Exception {
        lane = lanes.next();
        sftp = lane.sftp();
        folder = FilePath.of("test " + tests++);
        sftp.mkdirs(folder);
    }

    private Path here(FilePath path) {
        return path.under(Path.of(site.address().root()));
    }

    private FilePath put(String name, byte[] content) throws Exception {
        FilePath path = folder.resolve(name);
        put(path, content);
        return path;
    }

    private void put(FilePath path, byte[] content) throws Exception {
        try (RemoteFile file = sftp.create(path)) {
            file.write(0, content, 0, content.length);
            file.finish(0640, 1_600_000_000L, true);
        }
    }

    private byte[] get(FilePath path, long offset, long length) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long n = sftp.read(path, offset, length, bytes::write);
        assertThat(n).isEqualTo(bytes.size());
        return bytes.toByteArray();
    }

    private static Reason reasonOf(Callable<?> deed) {
        try {
            deed.call();
        } catch (RemoteException e) {
            return e.reason();
        } catch (Exception e) {
            throw new AssertionError("failed in another way", e);
        }
        throw new AssertionError("nothing failed");
    }

    @Test
    void anOpenThatFailsLeavesOpenFilesAlone() throws Exception {
        RemoteFile first = sftp.create(folder.resolve("first"));
        RemoteFile second = sftp.create(folder.resolve("second"));
        first.finish(false);
        assertThat(reasonOf(() -> sftp.create(folder.resolve("second")))).isEqualTo(Reason.EXISTS);
        RemoteFile third = sftp.create(folder.resolve("third"));

        third.finish(false);
        second.finish(true);
    }

    @Test
    void whatIsWrittenComesBackWithItsFacts() throws Exception {
        for (int size : new int[] {0, 1, 32_768, 131_072, 131_073, 1_000_003}) {
            byte[] content = Trees.random(size, size);
            FilePath path = put("of " + size, content);

            assertThat(Files.readAllBytes(here(path))).isEqualTo(content);
            assertThat(get(path, 0, Long.MAX_VALUE)).isEqualTo(content);
            RemoteFacts facts = sftp.lstat(path).orElseThrow();
            assertThat(facts.kind()).isEqualTo(Kind.FILE);
            assertThat(facts.sizeBytes()).isEqualTo(size);
            assertThat(facts.mode()).isEqualTo(0640);
            assertThat(facts.modifiedSeconds()).isEqualTo(1_600_000_000L);
        }
    }

    @Test
    void partsOfAFileAreRead() throws Exception {
        byte[] content = Trees.random(700_000, 1);
        FilePath path = put("file", content);

        assertThat(get(path, 300_000, 200_000)).isEqualTo(java.util.Arrays.copyOfRange(content, 300_000, 500_000));
        assertThat(get(path, 699_999, 10)).containsExactly(content[699_999]);
        assertThat(get(path, 700_000, 10)).isEmpty();
        assertThat(get(path, 800_000, 10)).isEmpty();
        assertThat(get(path, 5, 0)).isEmpty();
    }

    @Test
    void rangesAreWrittenOutOfOrderOnSeveralChannels() throws Exception {
        byte[] content = Trees.random(3_000_000, 2);
        FilePath path = folder.resolve("file");
        sftp.create(path).finish(true);
        for (int from : new int[] {2_000_000, 0, 1_000_000}) {
            try (RemoteFile range = lanes.next().sftp().open(path)) {
                range.write(from, content, from, 1_000_000);
                range.finish(true);
            }
        }

        assertThat(get(path, 0, Long.MAX_VALUE)).isEqualTo(content);
    }

    @Test
    void aFreshFileIsForItsOwnerOnly() throws Exception {
        try (RemoteFile file = sftp.create(folder.resolve("file"))) {
            assertThat(sftp.lstat(file.path()).orElseThrow().mode() & 077).isZero();
        }
    }

    @Test
    void anArrayCanBeUsedAgainAtOnce() throws Exception {
        FilePath path = folder.resolve("file");
        byte[] array = new byte[100_000];
        try (RemoteFile file = sftp.create(path)) {
            for (int i = 0; i < 50; i++) {
                java.util.Arrays.fill(array, (byte) i);
                file.write(i * 100_000L, array, 0, array.length);
            }
            java.util.Arrays.fill(array, (byte) -1);
            file.finish(true);
        }
        byte[] back = get(path, 0, Long.MAX_VALUE);
        for (int i = 0; i < 50; i++) {
            assertThat(back[i * 100_000]).isEqualTo((byte) i);
            assertThat(back[i * 100_000 + 99_999]).isEqualTo((byte) i);
        }
    }

    @Test
    void creatingNeverTakesWhatIsThere() throws Exception {
        FilePath path = put("file", Trees.random(10, 3));

        assertThat(reasonOf(() -> sftp.create(path))).isEqualTo(Reason.EXISTS);
        assertThat(sftp.lstat(path).orElseThrow().sizeBytes()).isEqualTo(10);
    }

    @Test
    void creatingNeverFollowsALink() throws Exception {
        Path outside = temp.resolve("outside-" + folder.toString().replace(' ', '-'));
        FilePath dangling = folder.resolve("dangling");
        Files.createSymbolicLink(here(dangling), outside);
        FilePath pointing = folder.resolve("pointing");
        Files.createSymbolicLink(here(pointing), here(put("victim", Trees.random(5, 4))));

        assertThat(reasonOf(() -> sftp.create(dangling))).isEqualTo(Reason.EXISTS);
        assertThat(reasonOf(() -> sftp.create(pointing))).isEqualTo(Reason.EXISTS);
        assertThat(reasonOf(() -> sftp.open(pointing))).isEqualTo(Reason.REFUSED);
        assertThat(reasonOf(() -> sftp.read(pointing, 0, 5, (b, f, n) -> {}))).isEqualTo(Reason.REFUSED);
        assertThat(outside).doesNotExist();
    }

    @Test
    void renamingNeverReplaces() throws Exception {
        FilePath from = put("from", Trees.random(10, 5));
        FilePath to = put("to", Trees.random(20, 6));
        FilePath link = folder.resolve("link");
        Files.createSymbolicLink(here(link), Path.of("nowhere"));

        assertThat(reasonOf(() -> rename(from, to))).isEqualTo(Reason.EXISTS);
        assertThat(reasonOf(() -> rename(from, link))).isEqualTo(Reason.EXISTS);
        assertThat(sftp.lstat(from)).isPresent();
        assertThat(sftp.lstat(to).orElseThrow().sizeBytes()).isEqualTo(20);
        assertThat(sftp.lstat(link).orElseThrow().kind()).isEqualTo(Kind.LINK);

        rename(from, folder.resolve("free"));
        assertThat(sftp.lstat(from)).isEmpty();
        assertThat(get(folder.resolve("free"), 0, Long.MAX_VALUE)).isEqualTo(Trees.random(10, 5));
        assertThat(reasonOf(() -> rename(from, folder.resolve("other")))).isEqualTo(Reason.NO_SUCH_FILE);
    }

    private Object rename(FilePath from, FilePath to) throws Exception {
        sftp.rename(from, to);
        return this;
    }

    @Test
    void namesAreBytes() throws Exception {
        List<byte[]> names = new ArrayList<>();
        names.add("脳画像 7T.nii".getBytes(StandardCharsets.UTF_8));
        names.add("new\nline \\back\"quote'$HOME `x` -rf *".getBytes(StandardCharsets.UTF_8));
        names.add("-n".getBytes(StandardCharsets.UTF_8));
        names.add("脳画像ソ表".getBytes(Charset.forName("windows-31j")));
        names.add("脳画像".getBytes(Charset.forName("EUC-JP")));
        byte[] all = new byte[254];
        for (int b = 1, i = 0; b < 256; b++) {
            if (b != '/') {
                all[i++] = (byte) b;
            }
        }
        names.add(all);
        Map<FilePath, Digest> known = new HashMap<>();
        for (byte[] name : names) {
            byte[] content = Trees.random(100 + name.length, name.length);
            FilePath temporary = put("temporary", content);
            FilePath last = folder.resolve(name);
            sftp.rename(temporary, last);
            known.put(last, Digest.ofContent(content));
            assertThat(get(last, 0, Long.MAX_VALUE)).isEqualTo(content);
            assertThat(Files.readAllBytes(here(last))).isEqualTo(content);
        }
        List<FilePath> listed = new ArrayList<>();
        sftp.list(folder, (path, facts) -> listed.add(path));

        assertThat(listed).containsExactlyInAnyOrderElementsOf(known.keySet());
        RemoteDigest digest = SiteCheck.of(lane).digest();
        assertThat(digest.digests(lane, listed, 1 << 20)).isEqualTo(known);
    }

    @Test
    void linksKeepTheirTextAndReplaceNothing() throws Exception {
        byte[] target = "../somewhere/脳".getBytes(Charset.forName("windows-31j"));
        FilePath link = folder.resolve("link");
        sftp.symlink(target, link);

        assertThat(sftp.readlink(link)).isEqualTo(target);
        assertThat(FilePath.rawText(Files.readSymbolicLink(here(link)))).isEqualTo(target);
        assertThat(sftp.lstat(link).orElseThrow().kind()).isEqualTo(Kind.LINK);
        assertThat(reasonOf(() -> {
                    sftp.symlink(target, link);
                    return this;
                }))
                .isEqualTo(Reason.EXISTS);
        sftp.remove(link);
        assertThat(sftp.lstat(link)).isEmpty();
    }

    @Test
    void foldersAreMadeOnceAndNeverThroughALink() throws Exception {
        FilePath deep = folder.resolve("a/b/c");
        sftp.mkdirs(deep);
        sftp.mkdirs(deep);
        sftp.mkdir(deep, 0700);
        put(deep.resolve("file"), new byte[0]);
        Files.createSymbolicLink(here(folder.resolve("link")), here(folder.resolve("a")));

        assertThat(sftp.lstat(deep).orElseThrow().kind()).isEqualTo(Kind.DIRECTORY);
        for (String taken : List.of("link", "link/b", "link/x", "a/b/c/file")) {
            assertThat(reasonOf(() -> {
                        sftp.mkdirs(folder.resolve(taken));
                        return this;
                    }))
                    .as(taken)
                    .isEqualTo(Reason.EXISTS);
        }
        sftp.setFacts(deep, 0750, 1_500_000_000L);
        assertThat(sftp.lstat(deep).orElseThrow().mode()).isEqualTo(0750);
        assertThat(sftp.lstat(deep).orElseThrow().modifiedSeconds()).isEqualTo(1_500_000_000L);
        sftp.remove(deep.resolve("file"));
        sftp.rmdir(deep);
        assertThat(sftp.lstat(deep)).isEmpty();
    }

    @Test
    void whatIsNotThereIsSaidToBeMissing() throws Exception {
        FilePath none = folder.resolve("none");

        assertThat(sftp.lstat(none)).isEmpty();
        assertThat(sftp.lstat(none.resolve("below"))).isEmpty();
        assertThat(reasonOf(() -> sftp.open(none))).isEqualTo(Reason.NO_SUCH_FILE);
        assertThat(reasonOf(() -> sftp.create(none.resolve("below")))).isEqualTo(Reason.NO_SUCH_FILE);
        assertThat(reasonOf(() -> sftp.readlink(none))).isEqualTo(Reason.NO_SUCH_FILE);
        assertThat(reasonOf(() -> {
                    sftp.list(none, (path, facts) -> {});
                    return this;
                }))
                .isEqualTo(Reason.NO_SUCH_FILE);
    }

    @Test
    void aThousandNamesAreListed() throws Exception {
        List<FilePath> made = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            FilePath path = folder.resolve("file with a somewhat longer name " + i);
            Files.write(here(path), new byte[i % 7]);
            made.add(path);
        }
        Map<FilePath, RemoteFacts> listed = new HashMap<>();
        sftp.list(folder, listed::put);

        assertThat(listed).containsOnlyKeys(made);
        assertThat(listed.get(made.get(13)).sizeBytes()).isEqualTo(13 % 7);
    }

    @Test
    void twoHundredFilesAreInFlightOnOneLane() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 200; i++) {
                int number = i;
                all.add(threads.submit(() -> {
                    byte[] content = Trees.random(100_000 + number, number);
                    FilePath temporary = folder.resolve("t" + number);
                    put(temporary, content);
                    sftp.rename(temporary, folder.resolve("f" + number));
                    return number;
                }));
            }
        }
        for (Future<?> one : all) {
            one.get();
        }
        for (int i = 0; i < 200; i++) {
            assertThat(Files.readAllBytes(here(folder.resolve("f" + i)))).isEqualTo(Trees.random(100_000 + i, i));
        }
    }

    @Test
    void moreFilesAreOpenThanThereIsRoomForHandles() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 1500; i++) {
                int number = i;
                all.add(threads.submit(() -> put("f" + number, new byte[] {(byte) number})));
            }
        }
        for (Future<?> one : all) {
            one.get();
        }
        List<FilePath> listed = new ArrayList<>();
        sftp.list(folder, (path, facts) -> listed.add(path));
        assertThat(listed).hasSize(1500);
    }

    @Test
    void aBigFileArrivesWhole() throws Exception {
        MessageDigest sent = Digest.algorithm();
        FilePath path = folder.resolve("big");
        byte[] piece = new byte[1 << 20];
        Random random = new Random(7);
        try (RemoteFile file = sftp.create(path)) {
            for (int i = 0; i < 50; i++) {
                random.nextBytes(piece);
                sent.update(piece);
                file.write((long) i << 20, piece, 0, piece.length);
            }
            file.finish(0600, 1_600_000_000L, true);
        }
        Digest known = Digest.of(sent.digest());

        assertThat(RemoteDigest.readBack().digests(lane, List.of(path), 1 << 20))
                .containsExactlyEntriesOf(Map.of(path, known));
        RemoteDigest digest = SiteCheck.of(lane).digest();
        assertThat(digest.digests(lane, List.of(path), 1 << 20)).containsExactlyEntriesOf(Map.of(path, known));
    }

    @Test
    void theSiteIsFoundUsableAndItsDigestsRight() throws Exception {
        SiteCheck check = SiteCheck.of(lane);

        assertThat(check.usable()).isTrue();
        assertThat(check.digest().method()).matches(digestMethod());
        assertThat(check.namesAreBytes()).isTrue();
        assertThat(check.findings()).isEmpty();
        assertThat(check.clockAhead().orElseThrow().abs()).isLessThan(java.time.Duration.ofSeconds(5));
        List<FilePath> left = new ArrayList<>();
        sftp.list(FilePath.of(".dozo/incoming"), (path, facts) -> left.add(path));
        assertThat(left).isEmpty();
    }

    @Test
    void aDigestForWhatIsNotAFileIsMissing() throws Exception {
        FilePath there = put("there", Trees.random(10, 8));
        FilePath none = folder.resolve("none");
        FilePath none2 = folder.resolve("none\n");
        FilePath odd = put("odd\n", Trees.random(11, 8));

        for (RemoteDigest way : List.of(SiteCheck.of(lane).digest(), RemoteDigest.readBack())) {
            assertThat(way.digests(lane, List.of(none, there, folder, none2, odd), 1 << 20))
                    .as(way.method())
                    .isEqualTo(Map.of(
                            there, Digest.ofContent(Trees.random(10, 8)),
                            odd, Digest.ofContent(Trees.random(11, 8))));
            assertThat(way.digests(lane, List.of(), 1 << 20)).isEmpty();
        }
    }

    @Test
    void whatALinkOrAFifoStandsForIsNotDigestedNorWaitedFor() throws Exception {
        FilePath there = put("there", Trees.random(10, 8));
        List<FilePath> others = new ArrayList<>();
        for (String name : List.of("link", "odd\nlink")) {
            others.add(folder.resolve(name));
            Files.createSymbolicLink(here(folder.resolve(name)), here(there));
        }
        for (String name : List.of("fifo", "odd\nfifo")) {
            others.add(folder.resolve(name));
            Trees.fifo(here(folder.resolve(name)));
        }
        others.add(there);
        for (RemoteDigest way : List.of(SiteCheck.of(lane).digest(), RemoteDigest.readBack())) {
            assertThat(way.digests(lane, others, 1 << 20))
                    .as(way.method())
                    .isEqualTo(Map.of(there, Digest.ofContent(Trees.random(10, 8))));
        }
    }

    @Test
    void aFileGivenUpCanBeRemovedAndMadeAnew() throws Exception {
        FilePath path = folder.resolve("file");
        try (RemoteFile file = sftp.create(path)) {
            file.write(0, Trees.random(100_000, 9), 0, 100_000);
        }
        sftp.remove(path);
        put(path, Trees.random(5, 9));
        assertThat(get(path, 0, Long.MAX_VALUE)).isEqualTo(Trees.random(5, 9));
    }

    @Test
    void namesThatAreTooLongAreRefusedAndNothingElseBreaks() throws Exception {
        FilePath tooLong = folder.resolve("x".repeat(300));

        assertThatThrownBy(() -> sftp.create(tooLong)).isInstanceOf(RemoteException.class);
        assertThat(lane.isOpen()).isTrue();
    }
}
