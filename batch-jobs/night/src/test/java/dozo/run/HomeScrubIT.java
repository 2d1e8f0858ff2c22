package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.remote.SlowMount;
import dozo.run.Promises.HomePromise;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/**
 * Source files that have not changed are read again: those whose bytes differ are found and no others, and no night sends what has
 * rotted over what was sent.
 */
class HomeScrubIT extends NightAtSite {

    private static final int MEGABYTE = 1_000_000;

    HomeScrubIT() {
        super("dozo.ingest.patience=10s");
    }

    private Run homeScrub() {
        return homeScrub(request(true, null));
    }

    private Run homeScrub(ScrubRequest request) {
        Run run = night.await(night.operations().startScrub(request, "test"));
        night.awaitIdle();
        return run;
    }

    private static ScrubRequest request(boolean everything, Instant until) {
        return new ScrubRequest(true, null, Duration.ofDays(1), everything, 0, until, true);
    }

    private Path file(int number) {
        return source.resolve("file" + number);
    }

    private static void edit(Path file) throws IOException {
        Files.writeString(file, Files.readString(file).replace("content", "CONTENT"));
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2026-01-02T03:04:05Z")));
    }

    private Set<String> open(Run run, Problem reason) {
        return night.findings(run).stream()
                .filter(finding -> finding.reason() == reason && finding.open())
                .map(finding -> String.valueOf(finding.path()))
                .collect(Collectors.toSet());
    }

    private static Set<String> files(int from, int until) {
        return IntStream.range(from, until).mapToObj(i -> "file" + i).collect(Collectors.toSet());
    }

    @Test
    void whatHasRottedIsFoundAndWhatWasEditedIsNotAccused() throws Exception {
        Night.writeMany(source, 200);
        register(Map.of());
        night.complete();
        for (int i = 0; i < 50; i++) {
            Trees.flip(file(i), i % 9);
            edit(file(50 + i));
        }
        Files.delete(file(100));
        Files.setLastModifiedTime(file(101), FileTime.from(Instant.EPOCH));

        Run scrub = homeScrub();

        assertThat(scrub.kind()).isEqualTo(RunKind.HOME_SCRUB);
        assertThat(scrub.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(scrub)).extracting(KeptFinding::reason).containsOnly(Problem.ROTTEN_AT_HOME);
        assertThat(open(scrub, Problem.ROTTEN_AT_HOME)).isEqualTo(files(0, 50));
        assertThat(night.findings(scrub))
                .filteredOn(finding -> "file0".equals(String.valueOf(finding.path())))
                .singleElement()
                .extracting(KeptFinding::message, InstanceOfAssertFactories.STRING)
                .contains(
                        "SHA-256 is " + Digest.ofContent(Files.readAllBytes(file(0))),
                        "was " + Digest.ofContent("content of 0".getBytes()),
                        "Copies: dr (as it was sent, last read at ",
                        "dozo restore p/E1 --path FILE FOLDER");
        assertThat(night.get(Scrubs.class).find(scrub.id()).orElseThrow())
                .returns(148L, Scrubs.Scrub::copiesRead)
                .returns(50L, Scrubs.Scrub::copiesDamaged);
        assertThat(night.coverage().safe()).as("the copies are not concerned").isTrue();
        assertThat(night.count("select count(*) from damage")).isZero();

        night.complete();

        for (int i = 0; i < 50; i++) {
            assertThat(bag.resolve("data/file" + i)).as("as it was sent").hasContent("content of " + i);
            assertThat(bag.resolve("data/file" + (50 + i))).hasContent("CONTENT of " + (50 + i));
        }
        assertThat(open(scrub, Problem.ROTTEN_AT_HOME))
                .as("a night cures nothing")
                .isEqualTo(files(0, 50));
    }

    @Test
    void aCureEndsTheFinding() throws Exception {
        Night.writeMany(source, 8);
        register(Map.of());
        night.complete();
        for (int i = 0; i < 4; i++) {
            Trees.flip(file(i), 0);
        }
        Run first = homeScrub();
        Trees.flip(file(0), 0);
        edit(file(1));
        Files.delete(file(2));

        Run second = homeScrub(request(false, null));

        assertThat(open(first, Problem.ROTTEN_AT_HOME))
                .as("1 and 2 are left to the night")
                .isEqualTo(files(3, 4));
        assertThat(night.findings(second)).extracting(KeptFinding::lastRun).containsOnly(second.id());
        night.complete();
        Trees.flip(file(3), 0);
        night.assertComplete(homeScrub(request(false, null)));
        assertThat(night.findings(first)).noneMatch(KeptFinding::open);
        assertThat(night.count("select count(*) from home_damage where found_digest is not null"))
                .isEqualTo(5);
    }

    @Test
    void aFurtherSiteDoesNotGetWhatHasRotted() throws Exception {
        register(Map.of("a", "content", "b", "content too"));
        night.complete();
        Trees.flip(source.resolve("a"), 0);
        Path secondRoot = Files.createDirectory(folder.resolve("second"));
        try (LoopbackSite second = LoopbackSite.openSsh(folder.resolve("sshd-2"), secondRoot, 0)) {
            night.get(Sites.class).save("second", second.address(), "test");

            Run run = night.run("second");

            assertThat(night.findings(run))
                    .filteredOn(finding -> finding.path() != null)
                    .extracting(KeptFinding::reason, finding -> String.valueOf(finding.path()))
                    .containsExactly(tuple(Problem.SOURCE_DIFFERS, "a"));
            assertThat(secondRoot.resolve("p/E1/data/a")).doesNotExist();
            assertThat(secondRoot.resolve("p/E1/data/b")).hasContent("content too");
            assertThat(bag.resolve("data/a")).hasContent("content");

            Trees.flip(source.resolve("a"), 0);
            night.assertComplete(night.run("second"));
            Trees.flip(source.resolve("b"), 0);
            Trees.flip(secondRoot.resolve("p/E1/data/b"), 1);
            night.await(night.operations()
                    .startScrub(new ScrubRequest("second", Duration.ofDays(1), true, 0, null, false), "test"));
            night.awaitIdle();

            night.assertOnly(
                    homeScrub(), Problem.ROTTEN_AT_HOME, "dr (as it was sent", "second (damaged, or other bytes");
        }
    }

    @Test
    void withoutACopyAsItWasSentNoSideIsRight() throws Exception {
        register(Map.of("a", "content"));
        night.complete();
        Trees.flip(bag.resolve("data/a"), 0);
        night.scrub();
        night.awaitIdle();
        Trees.flip(source.resolve("a"), 1);

        night.assertOnly(homeScrub(), Problem.ROTTEN_AT_HOME, "No site is known to have what was sent");
    }

    @Test
    void aFileThatIsEditedWhileItIsReadIsNotAccused() throws Exception {
        Path shown = Files.createDirectory(folder.resolve("shown"));
        Files.write(shown.resolve("a"), new byte[MEGABYTE]);
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            register(Map.of());
            night.complete();
            String before = night.texts("select sealed_at::text from manifest").getFirst();
            mount.hangLater();
            Run scrub = night.operations().startScrub(request(true, null), "test");
            Night.until(() -> mount.hanging() > 0);
            Trees.flip(shown.resolve("a"), MEGABYTE - 1);
            mount.comeBack();

            night.assertComplete(night.await(scrub));
            assertThat(night.texts("select last_read_at::text from home_reading"))
                    .as("it was not read")
                    .containsExactly(before);
            night.awaitIdle();
            night.assertOnly(homeScrub(), Problem.ROTTEN_AT_HOME);
        }
    }

    @Test
    void aSourceThatDoesNotAnswerIsUnknownAndReadByTheNextHomeScrub() throws Exception {
        Path shown = Files.createDirectory(folder.resolve("shown"));
        Night.write(shown, Map.of("a", "1", "b", "2"));
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            register(Map.of());
            night.complete();
            mount.hang();

            Run scrub = homeScrub();

            night.assertOnly(scrub, Problem.UNREADABLE, "has not answered");
            assertThat(night.get(Scrubs.class).find(scrub.id()).orElseThrow().copiesRead())
                    .isZero();
            assertThat(night.count("select count(*) from home_damage where found_digest is null"))
                    .isEqualTo(2);
            mount.comeBack();
            night.complete();
            assertThat(night.findings(scrub)).allMatch(KeptFinding::open);
            night.assertComplete(homeScrub(request(false, null)));
            assertThat(night.findings(scrub)).noneMatch(KeptFinding::open);
        }
    }

    @Test
    void itEndsForANightAlsoIfTheSourceDoesNotAnswer() throws Exception {
        Path shown = Files.createDirectory(folder.resolve("shown"));
        Night.write(shown, Map.of("a", "1", "b", "2"));
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            register(Map.of());
            night.complete();
            mount.hang();
            Run scrub = night.operations().startScrub(request(true, null), "test");
            Night.until(() -> mount.hanging() > 0);

            Run next = night.start();

            assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
            assertThat(night.findings(scrub)).isEmpty();
            mount.comeBack();
            night.await(next);
        }
    }

    @Test
    void aHomeScrubThatWasKilledReadsTheRest() throws Exception {
        for (int i = 0; i < 6; i++) {
            Path one = Files.createDirectory(source.resolve("s" + i));
            Files.write(one.resolve("a"), new byte[MEGABYTE]);
            night.register("E" + i, one);
        }
        night.complete();
        ScrubRequest slow = new ScrubRequest(true, null, Duration.ofDays(1), true, MEGABYTE, null, false);
        Run scrub = night.get(Runs.class).openScrub(night.site(), slow, "test");
        NightProcess.start(256, folder.resolve("log"), site.address(), database)
                .killWhen(() -> night.count("select count(*) from home_reading where run_id is not null") > 1);
        assertThat(night.count("select count(*) from home_reading where run_id is null"))
                .isPositive();

        night.operations().recover();

        night.assertComplete(night.await(scrub));
        assertThat(night.get(Scrubs.class).find(scrub.id()).orElseThrow().copiesRead())
                .as("each once")
                .isEqualTo(6);
        assertThat(night.count("select count(*) from home_reading where last_read_at > "
                        + "(select started_at from run where kind = 'homeScrub')"))
                .isEqualTo(6);
    }

    @Test
    void theOldestReadingComesFirstAndWhatIsNotDueIsNotRead() throws Exception {
        for (String code : Set.of("E1", "E2", "E3")) {
            Path one = Files.createDirectory(source.resolve(code));
            Files.writeString(one.resolve("a"), code);
            night.register(code, one);
        }
        night.complete();
        homeScrub();
        night.update("""
                update home_reading h set last_read_at = now() - case code
                    when 'E1' then interval '400 days' when 'E2' then interval '900 days' else interval '1 hour' end
                from experiment e where e.experiment_id = h.experiment_id
                """);
        Promises promises = night.get(Promises.class);
        assertThat(promises.home())
                .returns(false, HomePromise::kept)
                .returns(Duration.ofDays(365).toSeconds(), HomePromise::maxAgeSeconds);

        Run scrub = homeScrub(request(false, null));

        night.assertComplete(scrub);
        assertThat(night.texts("select code from home_reading join experiment using (experiment_id) where run_id = "
                        + scrub.id() + " order by last_read_at"))
                .containsExactly("E2", "E1");
        assertThat(promises.home().kept()).isTrue();
    }

    @Test
    void manyFilesAreReadInBatchesThatCoverEveryEntryOnce() throws Exception {
        int many = ScrubSteps.FILES_MAX + 100;
        Night.writeMany(source, many);
        register(Map.of("sub/in", "1"));
        night.complete();
        Trees.flip(file(7), 0);
        Trees.flip(file(many - 1), 0);

        Run scrub = homeScrub();

        assertThat(open(scrub, Problem.ROTTEN_AT_HOME)).containsExactlyInAnyOrder("file7", "file" + (many - 1));
        assertThat(night.get(Scrubs.class).find(scrub.id()).orElseThrow().copiesRead())
                .isEqualTo(many + 1);
        assertThat(night.count("select sum(last_entry_no - first_entry_no + 1) from home_reading"))
                .isEqualTo(night.count("select max(entry_no) from entry"));
        assertThat(night.count("select count(*) from home_reading where again")).isEqualTo(2);
        Files.writeString(source.resolve("later"), "2");
        night.complete();
        homeScrub(request(false, null));
        assertThat(night.count("select max(last_entry_no) from home_reading"))
                .as("what came since is listed")
                .isEqualTo(night.count("select max(entry_no) from entry"));
    }

    @Test
    void whatHasNoReceiptOrComesAfterTheEndIsNotRead() throws Exception {
        register(Map.of("a", "1"));
        night.complete();
        Files.writeString(source.resolve("b"), "2");
        site.close();
        night.run();

        Run scrub = homeScrub();

        night.assertComplete(scrub);
        assertThat(night.get(Scrubs.class).find(scrub.id()).orElseThrow().copiesRead())
                .as("no site is needed")
                .isEqualTo(1);
        assertThat(homeScrub(request(true, Instant.EPOCH)).state()).isEqualTo(RunState.COMPLETE);
    }
}
