package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Terms;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.LoopbackSite;
import dozo.registry.Projects;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.flywheel.Emulator;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Faults.Planned;
import dozo.source.flywheel.Hierarchy;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Within a promised age a night checks again what a Flywheel still holds: what has rotted under an unchanged hash is found, what was
 * edited is not accused, and what cannot be read is neither.
 */
class OriginRecheckIT {

    private static final String[] SETTINGS = {OwnModules.ORIGINS, "dozo.collect.first-wait=1ms", "dozo.collect.stall=2s"
    };
    private static final String[] PATIENT = {OwnModules.ORIGINS, "dozo.collect.first-wait=1ms", "dozo.collect.stall=5m"
    };

    @TempDir
    Path folder;

    private final Hierarchy hierarchy = Hierarchy.small();
    private final HikariDataSource database = TestDatabase.fresh();
    private Emulator emulator;
    private Path spool;
    private LoopbackSite site;
    private Night night;

    @BeforeEach
    void open() throws IOException {
        emulator = new Emulator(hierarchy);
        spool = Files.createDirectory(folder.resolve("spool"));
        Files.writeString(folder.resolve("key"), emulator.key());
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        night = new Night(database, site.address(), SETTINGS);
        night.get(Projects.class).create("p", "", "test");
        URI address = URI.create("http://localhost:" + emulator.port());
        Terms terms = new Terms(
                OriginKind.FLYWHEEL, address, folder.resolve("key"), List.of(), spool, "p", Map.of(), true, true);
        night.get(Origins.class).save("fw", terms, "test");
        // Items as new as the newest are looked at again.
        hierarchy.tell(Hierarchy.session(7), "modified", Hierarchy.written(Hierarchy.BEGINNING.plusSeconds(3_600)));
    }

    @AfterEach
    void close() {
        night.close();
        site.close();
        emulator.close();
    }

    @Test
    void whatHasRottedIsFoundAndWhatWasEditedIsNotAccused() throws Exception {
        night.complete();
        List<String> rotten = Stream.of(0, 4, 9).map(i -> hierarchy.file(i, 1)).toList();
        byte[] sound = content(rotten.getFirst());
        rotten.forEach(hierarchy::rot);
        // Not told by the list of changes, so that this night's collection does not know of it.
        hierarchy.replace(hierarchy.file(2, 0), "a new version", Hierarchy.BEGINNING);
        hierarchy
                .tell(hierarchy.file(2, 1), "hash", "v0-sha384-" + "0".repeat(96))
                .rot(hierarchy.file(2, 1));
        hierarchy.tell(hierarchy.file(3, 0), "size", 1);
        hierarchy.remove(hierarchy.file(3, 1));
        age(300);

        Run run = night.run();

        assertThat(night.findings(run)).extracting(KeptFinding::reason).containsOnly(Problem.ORIGIN_DIFFERS);
        assertThat(open(run)).containsExactlyInAnyOrder(experiment(0), experiment(2), experiment(4));
        assertThat(night.findings(run))
                .filteredOn(finding -> finding.experiment().equals(experiment(0)))
                .singleElement()
                .satisfies(finding -> assertThat(finding.message())
                        .contains(
                                "origin fw has SHA-256 " + Digest.ofContent(content(rotten.getFirst())),
                                "SHA-256 " + Digest.ofContent(sound) + " was sent",
                                "Copies: dr (as it was sent",
                                "dozo restore " + experiment(0)));
        assertThat(checkedLongAgo()).isZero();
        assertThat(emulator.downloads(rotten.getFirst()))
                .as("twice before it is accused")
                .isEqualTo(3);
        assertThat(emulator.downloads(hierarchy.file(0, 0))).isEqualTo(2);
        assertThat(night.coverage().safe()).as("the copies are not concerned").isTrue();

        assertThat(open(night.run())).as("they are checked every night").hasSize(3);
        assertThat(emulator.downloads(rotten.getFirst())).isEqualTo(5);
        assertThat(emulator.downloads(hierarchy.file(0, 0))).as("not due").isEqualTo(2);

        rotten.forEach(hierarchy::rot);
        night.complete();
        assertThat(open(run)).isEmpty();
    }

    @Test
    void whatCannotBeReadIsNeitherEqualNorRottenAndIsToldWhenThePromiseIsBroken() {
        night.complete();
        emulator.faults.always(path(0, 0), Fault.GONE);
        emulator.faults.always(path(2, 0), Fault.BUSY);
        emulator.faults.always(path(4, 0), Fault.TRUNCATED);
        emulator.faults.always("/acquisitions/" + Hierarchy.acquisition(6), Fault.DENIED);
        emulator.faults.always("/sessions/" + Hierarchy.session(4), Fault.DENIED);
        hierarchy.rot(hierarchy.file(8, 0)).rot(hierarchy.file(12, 0));
        age(300);

        Run run = night.run();

        assertThat(night.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::experiment)
                .containsExactly(tuple(Problem.ORIGIN_DIFFERS, experiment(6)));
        assertThat(night.count("select count(*) from origin_damage where found_digest is null"))
                .isEqualTo(5);
        assertThat(checkedLongAgo()).as("a session that cannot be listed").isEqualTo(1);
        assertThat(emulator.faults.unfired()).isEmpty();

        age(400);
        Run second = night.run();

        assertThat(night.findings(second))
                .filteredOn(finding -> finding.reason() == Problem.ORIGIN_LATE)
                .singleElement()
                .satisfies(finding -> assertThat(finding.message())
                        .contains(
                                "origin fw: not all files were read again within 365 days, the oldest ",
                                "unreadable files: 5, such as p/fw-"));

        emulator.faults.heal();
        Run third = night.run();

        assertThat(night.findings(third))
                .extracting(KeptFinding::reason, KeptFinding::experiment)
                .containsExactlyInAnyOrder(
                        tuple(Problem.ORIGIN_DIFFERS, experiment(4)), tuple(Problem.ORIGIN_DIFFERS, experiment(6)));
        assertThat(night.count("select count(*) from origin_damage where found_digest is null"))
                .isZero();
        assertThat(checkedLongAgo()).isZero();
    }

    @Test
    void aByteFlippedOnTheWayAccusesNobody() {
        night.complete();
        Planned flipped = emulator.faults.at(path(0, 0), Fault.FLIPPED, 1);
        age(300);

        night.complete();

        assertThat(flipped.fired().get()).isEqualTo(1);
        assertThat(checkedLongAgo()).isZero();
        assertThat(night.count("select count(*) from origin_damage")).isZero();
    }

    @Test
    void withoutAHashTheReceiptSaysWhatWasSent() {
        hierarchy.tell(hierarchy.file(0, 0), "hash", "");
        night.complete();
        hierarchy.rot(hierarchy.file(0, 0));
        age(300);

        assertThat(open(night.run())).containsExactly(experiment(0));
    }

    @Test
    void whatWasChangedHereBeforeItWasSentIsNotTheOriginsFault() throws Exception {
        night.complete();
        Path file = spool.resolve(
                Hierarchy.session(0) + "/tree/acquisitions/run-0~~" + Hierarchy.acquisition(0) + "/0_0_scan.dicom.zip");
        byte[] other = Files.readAllBytes(file);
        other[0] ^= 1;
        Files.write(file, other);
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2026-01-02T03:04:05Z")));
        age(300);

        Run run = night.run();

        assertThat(night.findings(run)).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.ORIGIN_DIFFERS);
            assertThat(finding.message())
                    .contains(
                            "origin fw has SHA-256 " + Digest.ofContent(hierarchy.content(0)),
                            "SHA-256 " + Digest.ofContent(other) + " was sent",
                            "The origin has what it delivered");
        });
    }

    @Test
    void anOriginThatFailsIsLeftAloneUntilTheNextNight() {
        night.complete();
        emulator.faults.always("/sessions/" + Hierarchy.session(0), Fault.BROKEN);
        age(300);

        night.complete();

        assertThat(checkedLongAgo()).isEqualTo(8);
        emulator.faults.heal();
        night.complete();
        assertThat(checkedLongAgo()).isZero();
    }

    @Test
    void theBudgetEndsTheCheckAndTheNextNightGoesOn() {
        night.complete();
        night.close();
        night = new Night(
                database,
                site.address(),
                Stream.concat(Stream.of(SETTINGS), Stream.of("dozo.collect.check-bytes=1B"))
                        .toArray(String[]::new));
        age(300);
        List<Long> downloaded = new ArrayList<>();

        for (int i = 0; i < 3; i++) {
            night.complete();
            downloaded.add(downloads());
        }

        long delivered = downloaded.getFirst() - 1;
        assertThat(downloaded).containsExactly(delivered + 1, delivered + 2, delivered + 3);
        assertThat(emulator.downloads(hierarchy.file(0, 0))).isEqualTo(2);
        assertThat(checkedLongAgo()).isEqualTo(8);
        assertThat(night.count("select count(*) from origin_check where after_path is not null"))
                .isEqualTo(1);
    }

    @Test
    void whenTheTimeIsOverTheNightIsComplete() {
        night.complete();
        night.close();
        night = new Night(
                database,
                site.address(),
                Stream.concat(Stream.of(PATIENT), Stream.of("dozo.collect.check-limit=15s"))
                        .toArray(String[]::new));
        Planned stalled = emulator.faults.at(path(0, 0), Fault.STALLED, 1);
        age(300);

        night.complete();

        assertThat(stalled.fired().get()).isEqualTo(1);
        assertThat(checkedLongAgo()).isEqualTo(8);
        night.close();
        night = new Night(database, site.address(), SETTINGS);
        night.complete();
        assertThat(checkedLongAgo()).isZero();
    }

    @Test
    void nothingIsCheckedIfNoAgeIsPromised() {
        night.complete();
        night.close();
        night = new Night(
                database,
                site.address(),
                Stream.concat(Stream.of(SETTINGS), Stream.of("dozo.collect.check-age=0s"))
                        .toArray(String[]::new));
        long before = downloads();
        age(400);

        night.complete();

        assertThat(downloads()).isEqualTo(before);
    }

    @Test
    void aNightThatIsKilledWhileItChecksReadsNothingTwiceThatItHasStored() throws Exception {
        night.complete();
        hierarchy.rot(hierarchy.file(6, 0));
        age(300);
        night.close();
        Planned stalled = emulator.faults.at(path(6, 0), Fault.STALLED, 1);
        NightProcess.start(256, folder.resolve("child.log"), site.address(), database, PATIENT)
                .killWhen(() -> stalled.fired().get() == 1);
        night = new Night(database, site.address(), SETTINGS);
        Run left = night.get(Runs.class).running().orElseThrow();

        night.operations().recover();

        night.assertComplete(night.await(left));
        assertThat(IntStream.range(0, 3).map(i -> i * 2))
                .allSatisfy(acquisition -> assertThat(emulator.downloads(hierarchy.file(acquisition, 0)))
                        .isEqualTo(2));
        assertThat(checkedLongAgo()).as("what it was at comes last").isEqualTo(1);

        assertThat(open(night.run())).containsExactly(experiment(3));
        assertThat(checkedLongAgo()).isZero();
    }

    @Test
    void aRetryChecksNothing() {
        night.complete();
        emulator.faults.at(emulator.downloadPath(hierarchy.file(0, 0)), Fault.GONE, 1);
        hierarchy.replace(hierarchy.file(0, 0), "a new version", Hierarchy.BEGINNING.plusSeconds(7_200));
        Run run = night.run();
        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        age(300);

        night.assertComplete(night.await(night.operations().retry(run.id(), "test")));

        assertThat(checkedLongAgo()).isEqualTo(8);
    }

    private List<String> open(Run run) {
        return night.findings(run).stream()
                .filter(finding -> finding.reason() == Problem.ORIGIN_DIFFERS && finding.open())
                .map(KeptFinding::experiment)
                .toList();
    }

    /** Makes all checks so old. */
    private void age(int days) {
        for (String table : List.of("origin_check", "origin_damage")) {
            night.jdbc()
                    .sql("update %s set checked_at = now() - make_interval(days => :days)".formatted(table))
                    .param("days", days)
                    .update();
        }
    }

    private long checkedLongAgo() {
        return night.count("select count(*) from origin_check where checked_at < now() - interval '200 days'");
    }

    private long downloads() {
        return IntStream.range(0, 16)
                .boxed()
                .flatMap(i -> Stream.of(hierarchy.file(i, 0), hierarchy.file(i, 1)))
                .mapToLong(emulator::downloads)
                .sum();
    }

    private byte[] content(String file) {
        return hierarchy.content(Integer.parseInt(file.substring(8, 16), 16));
    }

    private String path(int acquisition, int number) {
        return emulator.downloadPath(hierarchy.file(acquisition, number));
    }

    private static String experiment(int session) {
        return "p/fw-" + Hierarchy.session(session);
    }
}
