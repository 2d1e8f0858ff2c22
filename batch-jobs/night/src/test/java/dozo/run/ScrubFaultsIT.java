package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.registry.Refusal;
import dozo.remote.ChildProcess;
import dozo.remote.LyingTools;
import dozo.remote.Tmpfs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Failures of a site or of Dozo while stored copies are read are not reported as damage, and lose no reading. */
class ScrubFaultsIT extends NightAtSite {

    private static final int MEGABYTE = 1 << 20;

    private LyingTools tools;

    ScrubFaultsIT() {
        super("dozo.transfer.partitions=1");
    }

    @Override
    LoopbackSite serve() throws IOException {
        tools = new LyingTools(folder);
        tools.are("real \"$@\"");
        return tools.serve(root);
    }

    @BeforeEach
    void open() throws IOException {
        night.register("E1", source);
    }

    @Test
    void aScrubThatIsKilledIsGoneOnWithAndReadsNothingTwice() throws Exception {
        writeMegabytes(16);
        protect();
        long receipts = night.count("select count(*) from receipt");
        Run scrub = night.get(Runs.class).openScrub(night.site(), request(2 * MEGABYTE, false), "test");
        NightProcess.start(256, folder.resolve("log"), site.address(), database)
                .killWhen(() -> night.count("select count(*) from reading") > 0);
        long before = night.count("select count(*) from reading");
        assertThat(before).isBetween(1L, receipts - 1);

        night.operations().recover();

        assertThat(night.await(scrub).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isEqualTo(receipts);
        assertThat(night.count("select count(distinct receipt_id) from reading"))
                .isEqualTo(receipts);
    }

    /** Otherwise its claims would be skipped, and the scrub would end without them. */
    @Test
    void aScrubWhoseProcessHangsIsNotGoneOnWithBeforeItIsDead() throws Exception {
        writeMegabytes(4);
        protect();
        long receipts = night.count("select count(*) from receipt");
        Run scrub = night.get(Runs.class).openScrub(night.site(), request(MEGABYTE, false), "test");
        Path answer = folder.resolve("answer");
        Path asked = folder.resolve("asked");
        tools.are(
                "case \"$*\" in *probe-*) ;; *) touch %1$s; while [ -e %1$s ] && [ ! -e %2$s ]; do sleep 0.1; done ;; esac; real \"$@\""
                        .formatted(asked, answer));
        try (ChildProcess child = NightProcess.start(256, folder.resolve("log"), site.address(), database)) {
            child.awaitInWork(() -> Files.exists(asked));

            night.operations().recover();

            assertThat(night.get(Runs.class).running()).map(Run::id).contains(scrub.id());
            assertThat(night.count("select count(*) from ledger where action = 'run.recovered'"))
                    .isZero();
        }
        Files.createFile(answer);
        night.operations().recover();

        assertThat(night.await(scrub).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isEqualTo(receipts);
    }

    @Test
    void ofTwoServicesThatStartAScrubAtOnceOneIsRefused() throws Exception {
        writeMegabytes(4);
        protect();
        try (Night other = new Night(database, site.address());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int round = 0; round < 3; round++) {
                CyclicBarrier together = new CyclicBarrier(2);
                List<Callable<Run>> starts = Stream.of(night, other)
                        .<Callable<Run>>map(service -> () -> {
                            together.await();
                            return service.operations().startScrub(request(MEGABYTE, false), "test");
                        })
                        .toList();
                List<Future<Run>> started = threads.invokeAll(starts);

                List<Future<Run>> refused = started.stream()
                        .filter(one -> one.state() == Future.State.FAILED)
                        .toList();
                assertThat(refused).hasSize(1);
                assertThat(refused.getFirst().exceptionNow())
                        .isInstanceOf(Refusal.class)
                        .hasMessageContaining("only one can run at a time");
                Night winner = started.getFirst() == refused.getFirst() ? other : night;
                long run = night.get(Runs.class).running().orElseThrow().id();
                winner.operations().stop(run, "test");
                night.await(run);
            }
        }
        assertThat(night.count("select count(*) from scrub")).isEqualTo(3);
    }

    @Test
    void aFileSystemThatGoesAwayMeanwhileIsNoDamage() throws Exception {
        Night.write(source, Map.of("a", "1", "sub/b", "2"));
        protect();
        tools.are("case \"$*\" in *probe-*) ;; *) mv %s/p %s/away ;; esac; real \"$@\"".formatted(root, root));

        Run scrub = scrub(false);

        assertThat(scrub.state()).isEqualTo(RunState.FAILED);
        assertThat(scrub.message()).contains("mounted?");
        assertThat(night.count("select count(*) from damage")).isZero();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void aRootThatIsGoneIsOneFinding() throws Exception {
        Night.write(source, Map.of("a", "1", "sub/b", "2"));
        protect();
        Files.move(root, folder.resolve("elsewhere"));

        Run scrub = scrub(false);

        assertThat(scrub.state()).isEqualTo(RunState.FAILED);
        night.assertOnly(scrub, Problem.SITE_UNUSABLE);
        assertThat(night.count("select count(*) from damage")).isZero();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void thousandsThatAreMissingAreAllDamageAndNotAllFindings() throws Exception {
        int files = 1_100;
        for (int i = 0; i < files; i++) {
            Files.writeString(source.resolve("file" + i), "");
        }
        protect();
        Files.move(root.resolve("p/E1/data"), folder.resolve("data"));

        Run scrub = scrub(false);

        assertThat(night.count("select count(*) from damage")).isEqualTo(files);
        assertThat(night.coverage().filesSafe()).isZero();
        assertThat(night.count("select count(*) from finding where reason = 'MISSING' and run_id = " + scrub.id()))
                .as("a thousand, and that there are more")
                .isEqualTo(1_001);
        assertThat(night.count("select count(*) from finding where message like 'there are more than 1,000 %'"))
                .isEqualTo(1);
    }

    @Test
    void thousandsOfUnexpectedFilesAreNotAllFindings() throws Exception {
        Night.write(source, Map.of("a", "1"));
        protect();
        for (int i = 0; i < 1_100; i++) {
            Files.writeString(root.resolve("p/E1/data/stranger" + i), "");
        }

        Run scrub = scrub(false);

        assertThat(night.count("select count(*) from finding where reason = 'UNEXPECTED' and run_id = " + scrub.id()))
                .as("a thousand, and that there are more")
                .isEqualTo(1_001);
        assertThat(night.count("select count(*) from finding where message like 'there are more than 1,000 %'"))
                .isEqualTo(1);
    }

    @Test
    void timesAtTheSiteThatAreDecadesOffSayNothing() throws Exception {
        Night.write(source, Map.of("a", "1", "sub/b", "2"));
        protect();
        int decade = 0;
        for (Path path : Trees.all(root)) {
            if (!Files.isSymbolicLink(path)) {
                Instant wrong = Instant.parse(decade++ % 2 == 0 ? "1981-01-01T00:00:00Z" : "2069-01-01T00:00:00Z");
                Files.setLastModifiedTime(path, FileTime.from(wrong));
            }
        }

        Run scrub = scrub(false);

        night.assertComplete(scrub);
    }

    @Test
    void aReadingIsColdOnlyWhereAllOfItWasDropped() throws Exception {
        Night.write(source, Map.of("a", "1", "b", "22"));
        protect();
        long receipts = night.count("select count(*) from receipt");

        scrub(false);
        assertThat(coldReadings()).isZero();
        scrub(true);
        boolean drops = Trees.dropsFromMemory(root);
        assertThat(coldReadings()).isEqualTo(drops ? receipts : 0);
        try (FileChannel file = FileChannel.open(root.resolve("p/E1/data/a"))) {
            var held = file.map(MapMode.READ_ONLY, 0, file.size()).load();
            scrub(true);
            assertThat(held.get(0)).isEqualTo((byte) '1');
        }
        assertThat(coldReadings()).as("somebody held one of them in memory").isEqualTo(drops ? receipts : 0);
    }

    @Test
    void aFileSystemInMemoryIsNeverReadCold() throws Exception {
        try (Tmpfs memory = new Tmpfs(root, "size=16m")) {
            Night.write(source, Map.of("a", "1", "b", "22"));
            protect();

            assertThat(scrub(true).state()).isEqualTo(RunState.COMPLETE);

            assertThat(night.count("select count(*) from reading")).isPositive();
            assertThat(coldReadings()).isZero();
        }
    }

    @Test
    void theVersionsThatSomebodyRemovedWithOurFolderAreMissedByName() throws Exception {
        Night.write(source, Map.of("a", "first", "b", "first", "c", "stays"));
        protect();
        Night.write(source, Map.of("a", "second"));
        Files.delete(source.resolve("b"));
        Night.write(source, Map.of("b/in", "a folder now"));
        protect();
        Files.move(root.resolve(".dozo"), folder.resolve("removed"));

        assertThat(night.findings(scrub(false)))
                .as("of copies; what Dozo wrote for itself has no path")
                .filteredOn(finding -> finding.path() != null)
                .extracting(finding -> finding.reason() + " " + finding.path())
                .containsExactlyInAnyOrder("MISSING a", "MISSING b");
        assertThat(night.coverage().safe())
                .as("what is current is as safe as before")
                .isTrue();
        assertThat(Files.exists(root.resolve("p/E1/data/b/in"), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
        Night.write(source, Map.of("a", "third"));
        assertThat(night.run().state()).as("the folder is made again").isEqualTo(RunState.COMPLETE);
    }

    private void protect() {
        night.complete();
    }

    private void writeMegabytes(int files) throws IOException {
        for (int i = 0; i < files; i++) {
            Files.write(source.resolve("file" + i), Trees.random(MEGABYTE, i));
        }
    }

    private long coldReadings() {
        return night.count("select count(*) from reading where cold");
    }

    private static ScrubRequest request(long bytesPerSecond, boolean cold) {
        return new ScrubRequest(null, Duration.ofDays(1), true, bytesPerSecond, null, cold);
    }

    private Run scrub(boolean cold) {
        return night.await(night.operations().startScrub(request(0, cold), "test"));
    }
}
