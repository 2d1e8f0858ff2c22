package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.db.Program;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.manifest.Freezes;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.registry.Sites;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.junit.jupiter.api.Test;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobInstance;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.dao.OptimisticLockingFailureException;

/** A night from registration to coverage, against a real sshd and a real PostgreSQL. */
class NightlyBackupIT extends NightAtSite {

    @Test
    void aFirstNightMakesEverythingSafe() throws Exception {
        Night.write(source, Map.of("a.txt", "alpha", "sub/b.txt", "beta", "sub/deep/er/c.txt", "", "new\nline", "x"));
        Files.createDirectories(source.resolve("empty/folder"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub/b.txt"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("../nowhere"));
        byte[] japanese = "脳画像 表.dat".getBytes(Charset.forName("windows-31j"));
        Files.writeString(FilePath.ROOT.resolve(japanese).under(source), "shift-jis");
        byte[] large = Trees.random(5 << 20);
        Files.write(source.resolve("large.raw"), large);
        Files.setPosixFilePermissions(source.resolve("a.txt"), PosixFilePermissions.fromString("rw-r-----"));
        Files.setLastModifiedTime(source.resolve("a.txt"), FileTime.from(Instant.parse("2020-02-29T12:34:56Z")));
        night.register("E1", source);

        night.complete();
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().filesSafe()).isEqualTo(6);
        Path data = bag.resolve("data");
        assertSame(source, data);
        assertThat(Files.readString(FilePath.ROOT.resolve(japanese).under(data)))
                .isEqualTo("shift-jis");
        assertThat(Files.readSymbolicLink(data.resolve("dangling"))).hasToString("../nowhere");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("a.txt"))))
                .isEqualTo("rw-r-----");
        assertThat(Files.getLastModifiedTime(data.resolve("a.txt")).toInstant()).isEqualTo("2020-02-29T12:34:56Z");
        assertChecks(root.resolve("p/E1"));
        assertThat(root.resolve(".dozo/incoming/p/E1")).doesNotExist();
    }

    @Test
    void whatItsConsoleDeletesFirstIsSentFirst() throws Exception {
        night.get(Scanners.class).put(new Scanner("WEEK", List.of(), 7), "test");
        night.get(Scanners.class).put(new Scanner("MONTH", List.of(), 30), "test");
        for (String code : List.of("E1", "E2", "E3", "E4")) {
            Path visit = Files.createDirectory(source.resolve(code));
            Files.writeString(visit.resolve("image"), code);
            night.register(code, visit);
        }
        // Deleted on the 31st, on the 10th, never as far as known, on the 8th.
        acquired("E1", "MONTH", "2026-11-01");
        acquired("E2", "WEEK", "2026-11-03");
        acquired("E4", "WEEK", "2026-11-01");

        night.complete();

        assertThat(night
                        .jdbc()
                        .sql("""
                                select distinct on (e.code) e.code, u.turn from transfer_unit u join experiment e using (experiment_id)
                                order by e.code, u.turn
                                """)
                        .query((row, n) -> Map.entry(row.getLong("turn"), row.getString("code")))
                        .list()
                        .stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(Map.Entry::getValue))
                .containsExactly("E4", "E2", "E1", "E3");
    }

    private void acquired(String code, String scanner, String day) {
        night.jdbc()
                .sql("update experiment set scanner = :scanner, acquired_on = :day::text::date where code = :code")
                .param("scanner", scanner)
                .param("day", day)
                .param("code", code)
                .update();
    }

    /** Linux reports sizes of 0 and of a page there; and new times when it has forgotten a file, which then has changed. */
    @Test
    void aFileWhoseSizeIsNotWhatReadingGivesIsAFinding() throws Exception {
        Path zero = Path.of("/proc/sys/kernel/random");
        Path page = Path.of("/sys/kernel/mm/ksm");
        night.register("E1", zero);
        night.register("E2", page);

        Run run = night.run();

        assertThat(run.state()).isNotEqualTo(RunState.COMPLETE);
        assertThat(night.findings(run))
                .hasSize(zero.toFile().list().length + page.toFile().list().length)
                .extracting(KeptFinding::reason)
                .isSubsetOf(Problem.UNREADABLE, Problem.CHANGED);
        assertThat(night.coverage().filesSafe()).isZero();
        assertThat(Trees.all(root))
                .filteredOn(Files::isRegularFile)
                .noneMatch(file -> file.toString().contains("/data/"));
    }

    @Test
    void aSecondNightSendsOnlyWhatIsNewAndKeepsWhatItReplaces() throws Exception {
        safe(Map.of("same", "same", "changed", "before", "gone", "gone", "sub/same", "x"));
        long receipts = night.count("select sum(cardinality(entry_nos)) from receipt");
        Night.write(source, Map.of("changed", "after", "sub/new", "new"));
        Files.delete(source.resolve("gone"));

        night.complete();

        assertThat(night.count("select sum(cardinality(entry_nos)) from receipt") - receipts)
                .as("the changed file, the new one and its folder's changed time are no content")
                .isEqualTo(3);
        assertThat(bag.resolve("data/changed")).hasContent("after");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/changed")).hasContent("before");
        assertThat(bag.resolve("data/gone")).as("deletions do not travel").hasContent("gone");
        assertThat(root.resolve(".dozo/versions/p/E1/2/manifest-sha256.txt")).exists();
        assertChecks(bag);
        assertThat(night.coverage().filesSafe()).isEqualTo(4);
    }

    @Test
    void aNightWithoutNewsSendsNothingAndSealsNothing() throws Exception {
        safe(Map.of("a", "1", "b/c", "2"));

        Run second = night.run();

        assertThat(second.state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from manifest")).isEqualTo(1);
        assertThat(night.get(Runs.class).progress(Sight.EVERYTHING, second.id()).units())
                .isZero();
    }

    @Test
    void aFileBecomesAFolderAndAFolderAFileWithoutLoss() throws Exception {
        Night.write(source, Map.of("x", "file", "y/inside", "in a folder"));
        Files.createSymbolicLink(source.resolve("z"), Path.of("/etc"));
        night.register("E1", source);
        night.run();
        Files.delete(source.resolve("x"));
        Files.delete(source.resolve("y/inside"));
        Files.delete(source.resolve("y"));
        Files.delete(source.resolve("z"));
        Night.write(source, Map.of("x/inside", "now a folder", "y", "now a file", "z/inside", "was a link"));

        Run second = night.run();

        assertThat(night.findings(second)).isEmpty();
        Path data = bag.resolve("data");
        assertSame(source, data);
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/x")).hasContent("file");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/y/inside")).hasContent("in a folder");
        assertThat(Files.readSymbolicLink(root.resolve(".dozo/versions/p/E1/2/data/z")))
                .hasToString("/etc");
        assertChecks(root.resolve("p/E1"));
    }

    @Test
    void aSourceThatIsNotThereIsAFindingAndNothingOfItIsForgotten() throws Exception {
        safe(Map.of("a", "1"));
        Files.move(source, folder.resolve("elsewhere"));

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .singleElement()
                .satisfies(finding -> assertThat(finding.message()).contains(source.toString(), "mounted?"))
                .extracting(finding -> finding.reason())
                .isEqualTo(Problem.SOURCE_MISSING);
        assertThat(night.coverage().filesSafe()).isEqualTo(1);
    }

    @Test
    void anEmptiedSourceIsAFindingAndSealsNothing() throws Exception {
        safe(Map.of("a", "1"));
        Files.delete(source.resolve("a"));

        Run run = night.run();

        night.assertOnly(run, Problem.SOURCE_EMPTY);
        assertThat(night.count("select max(manifest_no) from manifest")).isEqualTo(1);
    }

    @Test
    void anEncryptingSweepIsFrozenUntilAnOperatorReleasesIt() throws Exception {
        for (int i = 0; i < 20; i++) {
            Night.write(source, Map.of("scan-" + i, "content of " + i));
        }
        night.register("E1", source);
        night.run();
        for (int i = 0; i < 20; i++) {
            Files.delete(source.resolve("scan-" + i));
            Night.write(source, Map.of("scan-" + i + ".locked", "no longer readable"));
        }

        Run swept = night.run();

        assertThat(swept.state()).isEqualTo(RunState.FINDINGS);
        night.assertOnly(swept, Problem.FROZEN, "20 of 20 files and links", "dozo release p/E1");
        assertThat(night.get(Runs.class).progress(Sight.EVERYTHING, swept.id()).units())
                .isZero();
        assertThat(root.resolve("p/E1/data/scan-7")).hasContent("content of 7");
        assertThat(root.resolve("p/E1/data/scan-7.locked")).doesNotExist();
        assertThat(root.resolve(".dozo/versions")).doesNotExist();

        night.get(Freezes.class).release(night.experiment(), "operator", null);
        Run released = night.run();

        assertThat(released.state()).isEqualTo(RunState.COMPLETE);
        assertThat(root.resolve("p/E1/data/scan-7.locked")).hasContent("no longer readable");
        assertThat(root.resolve("p/E1/data/scan-7"))
                .as("deletions do not travel")
                .hasContent("content of 7");
    }

    @Test
    void socketsAndFifosAreFindings() throws Exception {
        Night.write(source, Map.of("a", "1"));
        Trees.fifo(source.resolve("pipe"));
        night.register("E1", source);

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        night.assertOnly(run, Problem.SPECIAL);
        assertThat(night.coverage().filesSafe()).isEqualTo(1);
    }

    @Test
    void aSourceOfNothingButFifosIsEmptyAndEachOfThemIsNamed() throws Exception {
        Trees.fifo(source.resolve("one"));
        Trees.fifo(source.resolve("two"));
        night.register("E1", source);

        Run run = night.run();

        assertThat(night.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::path)
                .containsExactlyInAnyOrder(
                        tuple(Problem.SOURCE_EMPTY, null),
                        tuple(Problem.SPECIAL, FilePath.of("one")),
                        tuple(Problem.SPECIAL, FilePath.of("two")));
        assertThat(night.count("select count(*) from manifest")).isZero();
    }

    @Test
    void aForeignFileUnderAFinalNameIsKeptAside() throws Exception {
        Night.write(source, Map.of("a", "ours"));
        Night.write(root, Map.of("p/E1/data/a", "them"));
        night.register("E1", source);

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(root.resolve("p/E1/data/a")).hasContent("ours");
        assertThat(root.resolve(".dozo/versions/p/E1/1/data/a")).hasContent("them");
    }

    @Test
    void anExperimentThatIsEmptyAtItsFirstLookIsNotSafe() throws Exception {
        night.register("E1", source);

        Run run = night.run();

        night.assertOnly(run, Problem.SOURCE_EMPTY);
        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.coverage().experimentsSafe()).isZero();
    }

    @Test
    void whatIsSafeAtOneSiteIsNotTakenToBeSafeAtAnother() throws Exception {
        register(Map.of("changed", "before", "gone", "x", "same", "y"));
        Path otherRoot = Files.createDirectory(folder.resolve("dr2"));
        try (LoopbackSite other = LoopbackSite.openSsh(folder.resolve("sshd2"), otherRoot, 0)) {
            night.get(Sites.class).save("other", other.address(), "test");
            night.run("dr");
            night.run("other");
            // The same number of entries as before, so that only counting distinguishes the manifests.
            Night.write(source, Map.of("changed", "after", "new", "z"));
            Files.delete(source.resolve("gone"));
            night.run("dr");

            assertThat(night.get(Coverage.class).all(1).safe()).isTrue();
            assertThat(night.get(Coverage.class).all(2).safe()).isFalse();
            assertThat(night.run("other").state()).isEqualTo(RunState.COMPLETE);
            assertThat(otherRoot.resolve("p/E1/data/changed")).hasContent("after");
            assertThat(otherRoot.resolve("p/E1/data/new")).hasContent("z");
            assertChecks(otherRoot.resolve("p/E1"));
        }
    }

    @Test
    void aFolderThatSomebodyRemovedAtTheSiteIsAFindingOfWhoSetsAllFoldersFactsAndStopsNobodyElse() throws Exception {
        Path second = Files.createDirectory(folder.resolve("second"));
        Night.write(source, Map.of("sub/a", "1"));
        Night.write(second, Map.of("b", "2"));
        night.register("E1", source);
        night.register("E2", second);
        night.run();
        Files.delete(root.resolve("p/E1/data/sub/a"));
        Files.delete(root.resolve("p/E1/data/sub"));
        // As left by a run that dies while it settles: the next one repeats what may be half done.
        night.update("update protection set tags_unknown = true");
        Night.write(source, Map.of("new", "3"));
        Night.write(second, Map.of("new", "4"));

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run)).singleElement().satisfies(finding -> {
            assertThat(finding.experiment()).isEqualTo("p/E1");
            assertThat(finding.path()).isEqualTo(FilePath.of("sub"));
        });
        assertChecks(root.resolve("p/E2"));
    }

    @Test
    void aFolderThatWasAFileInBetweenHasOnlyItsOwnFilesInTheBag() throws Exception {
        safe(Map.of("x/first", "1", "stays", "s"));
        Files.delete(source.resolve("x/first"));
        Files.delete(source.resolve("x"));
        Night.write(source, Map.of("x", "a file"));
        night.run();
        Files.delete(source.resolve("x"));
        Night.write(source, Map.of("x/second", "2"));

        Run third = night.run();

        assertThat(night.findings(third)).isEmpty();
        assertSame(source, root.resolve("p/E1/data"));
        assertChecks(root.resolve("p/E1"));
        assertThat(root.resolve("p/E1/manifest-sha256.txt")).content().doesNotContain("x/first");
    }

    @Test
    void aChangeOfModeOrTimeAloneReachesTheSite() throws Exception {
        safe(Map.of("a", "same", "b", "same"));
        Files.setPosixFilePermissions(source.resolve("a"), PosixFilePermissions.fromString("rw-rw----"));
        Files.setLastModifiedTime(source.resolve("b"), FileTime.from(Instant.parse("2021-01-01T00:00:00Z")));

        night.complete();

        Path data = bag.resolve("data");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("a"))))
                .isEqualTo("rw-rw----");
        assertThat(Files.getLastModifiedTime(data.resolve("b")).toInstant()).isEqualTo("2021-01-01T00:00:00Z");
    }

    @Test
    void aJobThatStumblesOverTheWordToStopIsStoppedAndOverAnythingElseFailed() {
        assertThat(endedBy(
                        new OptimisticLockingFailureException("wrong version (0), where current version is 1"), true))
                .isEqualTo(RunState.STOPPED);
        assertThat(endedBy(new IllegalStateException("a defect"), true)).isEqualTo(RunState.FAILED);
        assertThat(endedBy(new IllegalStateException("a defect"), false)).isEqualTo(RunState.FAILED);
    }

    private RunState endedBy(RuntimeException failure, boolean stopped) {
        Runs runs = night.get(Runs.class);
        RunEnd end = night.get(RunEnd.class);
        Run run = runs.open(RunKind.NIGHTLY_BACKUP, night.site(), "test");
        JobExecution job = new JobExecution(
                1,
                new JobInstance(1, NightlyBackupJob.NAME),
                new JobParametersBuilder()
                        .addLong(NightlyBackupJob.RUN, run.id())
                        .toJobParameters());
        job.setStatus(BatchStatus.FAILED);
        job.addFailureException(failure);
        if (stopped) {
            runs.stop(run.id(), "test");
        }
        end.afterJob(job);
        return runs.find(run.id()).orElseThrow().state();
    }

    @Test
    void aRunThatIsAskedToStopEndsAndTheNextOneDoesTheRest() throws Exception {
        register(Map.of("a", "1"));
        // Locked until it was asked to stop, so that the run cannot end before.
        Run run = night.whileHolding("lock table manifest", () -> {
            Run started = night.start();
            night.operations().stop(started.id(), "test");
            return started;
        });

        assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
        night.complete();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void aSiteThatDoesNotKeepBytesGetsOnlyNamesItKeeps() throws Exception {
        byte[] japanese = "脳".getBytes(Charset.forName("windows-31j"));
        Files.writeString(FilePath.ROOT.resolve(japanese).under(source), "x");
        Night.write(source, Map.of("plain", "y", "utf-8 脳", "z"));
        Path otherRoot = Files.createDirectory(folder.resolve("dr2"));
        try (LoopbackSite embedded = LoopbackSite.embedded(
                        folder.resolve("sshd2"), otherRoot, 0, new SftpSubsystemFactory.Builder().build());
                Night other = Night.on(embedded.address())) {
            other.register("E1", source);

            Run run = other.run();

            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            assertThat(other.findings(run))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.path()).isEqualTo(FilePath.of(japanese)))
                    .extracting(finding -> finding.reason())
                    .isEqualTo(Problem.SITE_REFUSED);
            assertThat(other.coverage().filesSafe()).isEqualTo(2);
            assertThat(otherRoot.resolve("p/E1/data")).isDirectoryContaining("glob:**/plain");
        }
    }

    static void assertSame(Path source, Path copy) throws Exception {
        Program.succeed("diff", "-r", "--no-dereference", source.toString(), copy.toString());
    }

    static void assertChecks(Path bag) throws Exception {
        String payload = Files.exists(bag.resolve("sha256sums.txt")) ? "sha256sums.txt" : "manifest-sha256.txt";
        for (String list : List.of(payload, "tagmanifest-sha256.txt")) {
            Program.run(new ProcessBuilder("sha256sum", "--strict", "-c", list).directory(bag.toFile()))
                    .succeeded();
        }
        assertThat(Files.exists(bag.resolve("bagit.txt"), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
    }
}
