package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.copy.Trees;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.manifest.Ingest;
import dozo.manifest.Known;
import dozo.manifest.SourceLook;
import dozo.registry.Experiments.Experiment;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.Times;
import dozo.transfer.ClaimedUnits;
import dozo.verify.Receipts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Any manifest is restored as its source was, whatever has happened to the copies since; missing files are reported by
 * name.
 */
class RestoreIT extends RestoredNight {

    @Test
    void everyManifestOfALongHistoryComesBackAsTheSourceWas() throws Exception {
        Path raw = Trees.named(source, "脳画像 表.dat", "windows-31j");
        Night.write(
                source,
                Map.of("same", "s", "changed", "1", "gone", "g", "x", "file", "y/in/side", "deep", "new\nline", "n"));
        Night.write(source, Map.of("before/a", "a", "before/b/c", "c", "x~2", "a name like ours"));
        Files.writeString(raw, "shift-jis");
        Files.createDirectories(source.resolve("empty/folder"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("y/in/../in/side"));
        Files.createSymbolicLink(source.resolve("z"), Path.of("/nowhere"));
        Files.createLink(source.resolve("y/same too"), source.resolve("same"));
        Files.write(source.resolve("large"), Trees.random(5 << 20));
        Files.setLastModifiedTime(
                source.resolve("same"), FileTime.from(1_234_567_890_123_456_789L, TimeUnit.NANOSECONDS));
        Files.setPosixFilePermissions(source.resolve("gone"), PosixFilePermissions.fromString("r---w---x"));
        Files.setPosixFilePermissions(source.resolve("empty"), PosixFilePermissions.fromString("r-x------"));
        night();
        Night.write(source, Map.of("changed", "2", "new", "x", "y/in/side", "another"));
        Files.delete(source.resolve("gone"));
        Files.delete(source.resolve("x"));
        Files.writeString(raw, "euc-jp");
        night(Map.of("x/now", "a folder"));
        Files.move(source.resolve("before"), source.resolve("after"));
        delete("y");
        Night.write(source, Map.of("y", "was a folder", "changed", "1"));
        delete("link");
        night(Map.of("link", "was a link"));
        delete("x");
        delete("y");
        Files.createSymbolicLink(source.resolve("y"), Path.of("x"));
        delete("z");
        night(Map.of("x", "file", "gone", "back again", "z/inside", "was a link"));
        delete("y");
        delete("changed");
        Night.write(source, Map.of("y/in/side", "deep", "changed/a", "3"));
        Files.setLastModifiedTime(source.resolve("same"), FileTime.fromMillis(1));
        night();
        delete("changed");
        Night.write(source, Map.of("changed", "1", "before/a", "a"));
        Files.write(source.resolve("large"), Trees.random(3 << 20));
        night();

        for (int manifest = 1; manifest <= 6; manifest++) {
            assertRestores(manifest);
        }
        assertThat(Files.isSameFile(restored(1).resolve("same"), restored(1).resolve("y/same too")))
                .isTrue();
    }

    @Test
    void aCopyThatADeadRunMovedUnderAnEarlierManifestIsFound() throws Exception {
        night(Map.of("f", "first", "sub/g", "first too"));
        Night.write(source, Map.of("f", "second", "sub/g", "second"));
        // Killed after it had moved aside what it replaces, and before it named anything.
        ingest();
        keep();
        moveAway("f", 2);
        moveAway("sub/g", 2);
        night(Map.of("f", "third", "sub/g", "third"));

        assertRestores(1);
        Progress second = restore(2);
        assertThat(findings)
                .as("what was in no run's hands but the dead one's was never proven")
                .extracting(Finding::path, Finding::problem)
                .containsExactly(
                        tuple(FilePath.of("f"), Problem.UNPROVEN), tuple(FilePath.of("sub/g"), Problem.UNPROVEN));
        assertThat(second.complete()).isFalse();
        findings.clear();
        assertRestores(3);
    }

    @Test
    void aUnitThatWasPlannedUnderAnEarlierManifestMovesCopiesUnderTheOneItIsSentUnder() throws Exception {
        night(Map.of("f", "first", "g", "first"));
        Run run = night.open();
        Night.write(source, Map.of("f", "second"));
        NightFlow flow = night.get(NightFlows.class).of(run.id(), run.siteId());
        night.get(Looking.class).look(flow);
        keep();
        Night.write(source, Map.of("g", "second"));
        ingest();
        keep();
        night.get(Sending.class).send(flow, 0);
        night.get(Senders.class).close(run.id());
        night.get(NightFlows.class).close(run.id());
        night.get(Runs.class).close(run.id(), RunState.STOPPED, "");
        night.complete();

        assertThat(root.resolve(".dozo/versions/p/E1/3/data/f")).hasContent("first");
        for (int manifest = 1; manifest <= 3; manifest++) {
            assertRestores(manifest);
        }
    }

    /**
     * A killed run can leave a copy moved aside with nothing in its place, and soon no reason to send anything there.
     */
    @Test
    void whatARunThatDiedMovedAsideIsPutBackByTheNextNightWhenNothingTakesItsPlace() throws Exception {
        Night.write(source, Map.of("changed", "first", "dir/in/file", "in", "dir/other", "o", "same", "1"));
        Files.createSymbolicLink(source.resolve("dir/link"), Path.of("other"));
        night();
        delete("dir");
        Night.write(source, Map.of("changed", "second", "dir", "is a file"));
        sealAndDie();
        keep();
        moveAway("changed", 2);
        moveAway("dir", 2);
        delete("changed");
        delete("dir");
        keep();

        assertThat(night.findings(night.run())).isEmpty();

        Path data = root.resolve("p/E1/data");
        assertThat(data.resolve("changed")).hasContent("first");
        assertThat(data.resolve("dir/in/file")).hasContent("in");
        assertThat(data.resolve("dir/link")).isSymbolicLink();
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        assertRestores(1);
        assertRestores(3);
        night.run();
        assertThat(night.count("select count(*) from ledger where action = 'experiment.settled'"))
                .as("nothing is settled for nothing")
                .isEqualTo(2);
    }

    @Test
    void whatHasTheNameMeanwhileKeepsIt() throws Exception {
        night(Map.of("f", "first", "g", "g"));
        Night.write(source, Map.of("f", "second"));
        sealAndDie();
        keep();
        moveAway("f", 2);
        Night.write(root, Map.of("p/E1/data/f", "theirs"));
        delete("f");
        keep();

        night.run();

        assertThat(root.resolve("p/E1/data/f")).hasContent("theirs");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/f")).hasContent("first");
        assertRestores(1);
    }

    @Test
    void foreignFilesUnderFinalNamesAndAmongTheVersionsAreToldFromOurs() throws Exception {
        Night.write(root, Map.of("p/E1/data/f", "theirs", ".dozo/versions/p/E1/2/data/f", "theirs too"));
        Night.write(root, Map.of(".dozo/versions/p/E1/2/data/d/theirs", "in a folder of ours"));
        night(Map.of("f", "first", "d/deep/g", "first"));
        Night.write(source, Map.of("f", "second"));
        delete("d");
        night(Map.of("d", "a file now"));

        assertThat(root.resolve(".dozo/versions/p/E1/2/data/f~2")).hasContent("first");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/d~2/deep/g")).hasContent("first");
        assertRestores(1);
        assertRestores(2);
    }

    @Test
    void whatIsMissingOrDamagedIsToldByNameAndComesOnceItIsThereAgain() throws Exception {
        night(Map.of("a", "1", "damaged", "22", "missing", "333", "short", "4444", "folder", "5", "b/c", "6"));
        Path data = root.resolve("p/E1/data");
        Files.writeString(data.resolve("damaged"), "xx");
        Files.move(data.resolve("missing"), folder.resolve("aside"));
        Files.writeString(data.resolve("short"), "44");
        Files.delete(data.resolve("folder"));
        Files.createDirectory(data.resolve("folder"));

        Progress restored = restore(1);

        assertThat(restored.complete()).isFalse();
        assertThat(restored.entries() - restored.entriesVerified()).isEqualTo(4);
        assertThat(findings)
                .extracting(finding -> finding.path().toString(), Finding::problem)
                .containsExactlyInAnyOrder(
                        tuple("damaged", Problem.MISMATCHED),
                        tuple("missing", Problem.VANISHED),
                        tuple("short", Problem.MISMATCHED),
                        tuple("folder", Problem.UNREADABLE));
        assertThat(restored(1).resolve("b/c")).hasContent("6");
        assertThat(restored(1).resolve("damaged")).doesNotExist();
        Object inode = Trees.inode(restored(1).resolve("b/c"));

        Files.writeString(data.resolve("damaged"), "22");
        Files.move(folder.resolve("aside"), data.resolve("missing"));
        Files.writeString(data.resolve("short"), "4444");
        Files.delete(data.resolve("folder"));
        Files.writeString(data.resolve("folder"), "5");
        findings.clear();
        assertRestores(1);
        assertThat(Trees.inode(restored(1).resolve("b/c")))
                .as("what was there already stayed")
                .isEqualTo(inode);
    }

    @Test
    void whatIsCalledLikeTheRestoresOwnFolderComesBack() throws Exception {
        night(Map.of(".dozo-incoming", "a file", ".dozo-incoming-1/x", "in a folder", "f", "1"));
        Path copy = root.resolve("p/E1/data/f");
        Files.writeString(copy, "x");
        assertThat(restore(1).complete()).isFalse();
        findings.clear();
        Files.writeString(copy, "1");
        assertRestores(1);

        Files.delete(source.resolve(".dozo-incoming"));
        night(Map.of(".dozo-incoming/f", "a folder now"));
        assertRestores(2);
    }

    @Test
    void aGroupOfHardLinksComesBackAsOneFileAlsoWhenItsFirstNameIsMissing() throws Exception {
        Night.write(source, Map.of("group", "one"));
        for (String name : List.of("h2", "h3", "h4")) {
            Files.createLink(source.resolve(name), source.resolve("group"));
        }
        night();
        Path data = root.resolve("p/E1/data");
        // In the name's place, because all names have one content at the site, too.
        Files.delete(data.resolve("group"));
        Files.writeString(data.resolve("group"), "damaged");

        restore(1);

        assertThat(findings).extracting(finding -> finding.path().toString()).containsExactly("group");
        assertThat(Trees.inode(restored(1).resolve("h3")))
                .isEqualTo(Trees.inode(restored(1).resolve("h2")))
                .isEqualTo(Trees.inode(restored(1).resolve("h4")));

        Files.writeString(data.resolve("group"), "one");
        findings.clear();
        restore(1);
        assertThat(restored(1).resolve("group")).hasContent("one");
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.NOT_SET);
    }

    @Test
    void timesFarFromNowComeBackAndThoseNobodyCanStoreAreNamed() throws Exception {
        for (String time :
                List.of("1901-12-13T20:45:52.5Z", "1969-12-31T23:59:59.999999999Z", "2107-01-01T00:00:00Z")) {
            Path file = Files.writeString(source.resolve(time), time);
            Instant instant = Instant.parse(time);
            // NB: Files.setLastModifiedTime sets 1970 instead of a fraction of a second before it.
            Times.setModified(file, TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano());
            assertThat(Files.getLastModifiedTime(file).toInstant()).isEqualTo(time);
        }
        Path folder = Files.createDirectory(source.resolve("old"));
        Files.setLastModifiedTime(folder, FileTime.from(Instant.parse("1955-01-01T00:00:00Z")));
        night();
        assertRestores(1);

        Path far = Files.writeString(source.resolve("far"), "far");
        Files.setLastModifiedTime(far, FileTime.from(Instant.parse("2400-01-01T00:00:00Z")));
        night();

        assertThat(restore(2).complete()).isTrue();
        assertThat(findings)
                .singleElement()
                .satisfies(
                        finding -> assertThat(finding.message())
                                .startsWith(
                                        "far: its time of modification, 2262-04-11T23:47:16.854775807Z, cannot be stored here"));
    }

    @Test
    void sparseFilesLieAtTheSiteAndComeBackWithTheirHoles() throws Exception {
        sparse("small", 1_500_000, 700_001);
        sparse("hole", 1_000_000);
        sparse("large", 64 << 20, 1, 30_000_003, 30_900_000);
        sparse("large hole", 64 << 20);
        night();

        assertThat(Trees.room(root.resolve("p/E1/data"))).isCloseTo(Trees.room(source), Percentage.withPercentage(1));
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        assertRestores(1);
        assertThat(Trees.room(restored(1))).isCloseTo(Trees.room(source), Percentage.withPercentage(1));
    }

    /** Writes a file that is a hole, except for some bytes at each of these places. */
    private void sparse(String name, long bytes, long... islands) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(source.resolve(name).toString(), "rw")) {
            file.setLength(bytes);
            for (long island : islands) {
                byte[] content = new byte[100_000];
                new SplittableRandom(island).nextBytes(content);
                file.seek(island);
                file.write(content);
            }
        }
    }

    private void ingest() throws InterruptedException {
        Experiment experiment = night.experiment();
        Ingest ingest = night.get(Ingest.class);
        Known known = ingest.known(new int[] {experiment.id()}).get(experiment.id());
        try (SourceLook look = ingest.look(experiment, known, new LongAdder())) {
            night.get(TransactionTemplate.class).executeWithoutResult(_ -> {
                look.seal();
                night.get(Receipts.class).count(experiment.id());
            });
        }
    }

    /** Seals, plans and claims what is new; then the run dies. */
    private void sealAndDie() throws Exception {
        Run run = night.open();
        NightFlow flow = night.get(NightFlows.class).of(run.id(), run.siteId());
        night.get(Looking.class).look(flow);
        assertThat(night.get(ClaimedUnits.class).claim(run.id(), flow.worker(), 0, 100))
                .isNotEmpty();
        night.get(NightFlows.class).close(run.id());
        night.get(Runs.class).close(run.id(), RunState.FAILED, "killed");
    }

    private void moveAway(String name, int manifest) throws IOException {
        Path to = root.resolve(".dozo/versions/p/E1/" + manifest + "/data").resolve(name);
        Files.createDirectories(to.getParent());
        Files.move(root.resolve("p/E1/data").resolve(name), to);
    }
}
