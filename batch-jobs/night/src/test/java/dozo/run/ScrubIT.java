package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.record.Loading;
import dozo.record.RecordFolder;
import dozo.registry.ExperimentSearch;
import dozo.remote.Unreadable;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.verify.Losses;
import dozo.verify.Readings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Stored copies are read again: exactly the damaged ones are found, and the next night repairs what the source still
 * has.
 */
class ScrubIT extends NightAtSite {

    @Test
    void whatIsAsItWasProvenGivesNoFindingAndIsNotDueAgain() throws Exception {
        register(Map.of("a", "1", "sub/b", "2", "new\nline", "3", "sub/deep/c", ""));
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub/b"));
        night.run();
        Night.write(source, Map.of("a", "changed"));
        Files.delete(source.resolve("sub/b"));
        night.run();

        Run scrub = night.scrub();

        night.assertComplete(scrub);
        assertThat(night.count("select count(*) from reading")).isEqualTo(night.count("select count(*) from receipt"));
        assertThat(night.count("select sum(copies) from reading"))
                .as("a, its earlier copy, sub, b, new line, deep, c, link")
                .isEqualTo(8);
        assertThat(night.count("select sum(entries) from run_pace where run_id = " + scrub.id()))
                .as("its speed is kept")
                .isEqualTo(8);
        Run second = night.await(night.operations().startScrub(due(0), "test"));
        assertThat(second.state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select copies_read from scrub order by run_id desc limit 1"))
                .isZero();
    }

    @Test
    void everyKindOfDamageIsFoundAndNothingElse() throws Exception {
        damageOfEveryKind();

        Run scrub = night.scrub();

        assertThat(scrub.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(scrub))
                .extracting(
                        finding -> finding.experiment(), KeptFinding::reason, finding -> String.valueOf(finding.path()))
                .containsExactlyInAnyOrder(
                        tuple("p/E1", Problem.DAMAGED, "flipped"),
                        tuple("p/E1", Problem.DAMAGED, "cut"),
                        tuple("p/E1", Problem.MISSING, "removed"),
                        tuple("p/E1", Problem.DAMAGED, "linked"),
                        tuple("p/E1", Problem.MISSING, "dir"),
                        tuple("p/E1", Problem.MISSING, "dir/in"),
                        tuple("p/E1", Problem.DAMAGED, "link"),
                        tuple("p/E1", Problem.MISSING, "renamed"),
                        tuple("p/E1", Problem.UNEXPECTED, "elsewhere"),
                        tuple("p/E1", Problem.UNEXPECTED, "added"),
                        tuple("p/E1", Problem.UNEXPECTED, "null"),
                        tuple("p/E1", Problem.TAGS_ALTERED, "null"),
                        tuple("p/E1", Problem.TAGS_ALTERED, "null"));
        assertThat(night.texts("select kind from damage"))
                .containsExactlyInAnyOrder(
                        "ALTERED", "TRUNCATED", "MISSING", "MISSING", "MISSING", "MISSING", "REPLACED", "RELINKED");
        assertThat(night.coverage().filesSafe())
                .as("of E1's 7 files one is left, and all of E2's")
                .isEqualTo(3);
        assertThat(night.coverage().safe()).isFalse();
    }

    @Test
    void aListedLinkIsNoCopyOfItsOwn() throws Exception {
        register(Map.of("a", "1", "sub/b", "2"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub/b"));
        night.run();
        assertThat(root.resolve("p/E1/manifest-sha256.txt")).content().contains("  data/link\n");
        assertThat(night.findings(night.scrub())).isEmpty();
        Trees.flip(root.resolve("p/E1/data/sub/b"), 0);

        Run scrub = night.scrub();

        assertThat(night.findings(scrub))
                .extracting(KeptFinding::reason, finding -> String.valueOf(finding.path()))
                .containsExactly(tuple(Problem.DAMAGED, "sub/b"));
    }

    @Test
    void theNextNightRepairsWhatIsDamagedAndKeepsTheDamagedCopy() throws Exception {
        damageOfEveryKind();
        night.scrub();

        Run repair = night.run();

        assertThat(night.findings(repair)).isEmpty();
        assertThat(night.coverage().safe()).isTrue();
        Path kept = root.resolve(".dozo/versions/p/E1/1");
        assertThat(kept.resolve("data/flipped")).hasContent("Flipped");
        assertThat(kept.resolve("data/cut")).hasContent("c");
        assertThat(kept.resolve("data/linked")).isSymbolicLink();
        assertThat(Files.readSymbolicLink(kept.resolve("data/link"))).hasToString("/etc");
        assertThat(kept.resolve("bagit.txt")).hasContent("edited");
        assertThat(root.resolve("p/E1/data/added")).as("nothing is removed").hasContent("x");
        Files.delete(root.resolve("p/E1/data/added"));
        Files.delete(root.resolve("p/E1/data/elsewhere"));
        Files.delete(root.resolve("p/E1/notes.txt"));
        NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        assertThat(night.findings(night.scrub())).isEmpty();
        assertThat(night.count("select count(*) from open_damage")).isZero();
    }

    @Test
    void aSourceThatDiffersFromWhatWasProvenReplacesNothing() throws Exception {
        safe(Map.of("a", "proven", "b", "other"));
        Trees.flip(root.resolve("p/E1/data/a"), 0);
        FileTime time = Files.getLastModifiedTime(source.resolve("a"));
        Files.writeString(source.resolve("a"), "rotten");
        Files.setLastModifiedTime(source.resolve("a"), time);
        night.scrub();

        Run repair = night.run();

        assertThat(night.findings(repair))
                .extracting(KeptFinding::reason, finding -> String.valueOf(finding.path()))
                .containsExactly(tuple(Problem.SOURCE_DIFFERS, "a"));
        assertThat(root.resolve("p/E1/data/a")).hasContent("Proven");
        assertThat(root.resolve(".dozo/versions/p/E1")).doesNotExist();
        assertThat(night.coverage().filesSafe()).isEqualTo(1);
    }

    @Test
    void aDamagedCopyOfAnEarlierManifestIsToldAndCannotBeSentAgain() throws Exception {
        safe(Map.of("a", "first", "b", "stays"));
        Night.write(source, Map.of("a", "second"));
        night.run();
        Trees.flip(root.resolve(".dozo/versions/p/E1/2/data/a"), 0);

        Run scrub = night.scrub();

        night.assertOnly(scrub, Problem.DAMAGED, ".dozo/versions/p/E1/2/data/a", "cannot be sent again");
        assertThat(night.coverage().safe())
                .as("the current manifest is as safe as before")
                .isTrue();
        assertThat(losses()).isEqualTo("1 in 1: p/E1 1");
        night.get(Findings.class)
                .acknowledge(
                        night.findings(scrub).getFirst().id(), new Acknowledgement("test", Instant.EPOCH, "known"));
        assertThat(night.get(ExperimentSearch.class).state(1, 1))
                .as("a loss stays one, whoever knows of it")
                .isEqualTo(ExperimentSearch.State.LOST);
        assertThat(night.findings(night.scrub()))
                .as("it is not forgotten")
                .singleElement()
                .satisfies(
                        finding -> assertThat(finding.message()).startsWith("1 copy was found damaged or missing at "));
    }

    @Test
    void whatIsDamagedAndGoneAtItsSourceIsLostAndNothingElseIs() throws Exception {
        Map<String, String> files = new TreeMap<>();
        for (int i = 0; i < 40; i++) {
            files.put("f" + i, "content " + i);
        }
        register(files);
        night.complete();
        Files.delete(source.resolve("f1"));
        Trees.flip(root.resolve("p/E1/data/f2"), 0);
        night.run();
        assertThat(losses()).isEqualTo("0 in 0:");

        night.scrub();
        assertThat(losses()).as("f2 can be sent again").isEqualTo("0 in 0:");
        Trees.flip(root.resolve("p/E1/data/f1"), 0);
        night.scrub();

        assertThat(losses()).isEqualTo("1 in 1: p/E1 1");
        assertThat(night.get(Losses.class).all(Sight.of(Set.of("q")), 10).files())
                .isZero();
    }

    private String losses() {
        Losses.AllLost total = night.get(Losses.class).all(Sight.EVERYTHING, 10);
        return "%d in %d:%s"
                .formatted(
                        total.files(),
                        total.experiments(),
                        total.first().stream()
                                .map(lost -> " %s %d".formatted(lost.name(), lost.files()))
                                .collect(Collectors.joining()));
    }

    @Test
    void aRemovedDozoFolderIsNoticedByWhatWasInIt() throws Exception {
        safe(Map.of("a", "first"));
        Night.write(source, Map.of("a", "second"));
        night.run();
        Trees.delete(root.resolve(".dozo"));

        assertThat(night.findings(night.scrub()))
                .as("of copies; what Dozo wrote for itself has no path")
                .filteredOn(finding -> finding.path() != null)
                .extracting(KeptFinding::reason, finding -> String.valueOf(finding.path()))
                .containsExactly(tuple(Problem.MISSING, "a"));
    }

    @Test
    void whatDozoWroteForItselfIsReadAgainAndRecordsAreWrittenAnew() throws Exception {
        safe(Map.of("a", "first"));
        complete(Map.of("a", "second"));
        Path base = oldest(".dozo/catalogue");
        Path segment = oldest(".dozo/catalogue/p/E1");
        Path list = root.resolve(".dozo/versions/p/E1/2/manifest-sha256.txt");
        Path anchor = oldest(".dozo/ledger");
        for (Path file : List.of(base, segment, list, anchor)) {
            Trees.flip(file, 0);
        }

        Run scrub = night.scrub();

        assertThat(scrub.state()).isEqualTo(RunState.FINDINGS);
        assertThat(ofOwnFiles(scrub))
                .containsExactlyInAnyOrder(
                        "UNRECORDED " + base, "UNRECORDED " + segment, "TAGS_ALTERED " + list, "UNANCHORED " + anchor);
        assertThat(night.coverage().safe()).as("no copy is damaged").isTrue();

        night.complete();

        assertThat(ofOwnFiles(night.scrub()))
                .as("new records do not need the damaged ones")
                .containsExactlyInAnyOrder("TAGS_ALTERED " + list, "UNANCHORED " + anchor);
        HikariDataSource other = TestDatabase.fresh();
        assertThat(new Loading(new JdbcTemplate(other), new JdbcTransactionManager(other), InstantSource.system())
                        .load(new RecordFolder(root), Files.readString(Night.KEYS.resolve("recovery-key")), Set.of()))
                .satisfies(loaded -> assertThat(loaded.broken()).isEmpty());
    }

    @Test
    void whatDozoWroteForItselfAndIsMissingIsToldAndRecordsAreWrittenAnew() throws Exception {
        safe(Map.of("a", "1"));
        Path base = oldest(".dozo/catalogue");
        Path segment = oldest(".dozo/catalogue/p/E1");
        Path anchor = oldest(".dozo/ledger");
        for (Path file : List.of(base, segment, anchor)) {
            Files.delete(file);
        }

        assertThat(ofOwnFiles(night.scrub()))
                .containsExactlyInAnyOrder("UNRECORDED " + base, "UNRECORDED " + segment, "UNANCHORED " + anchor);

        night.complete();
        assertThat(ofOwnFiles(night.scrub())).containsExactly("UNANCHORED " + anchor);
    }

    @Test
    void whatDozoWroteBeforeItKeptDigestsIsComparedFromItsFirstReadingOn() throws Exception {
        safe(Map.of("a", "1"));
        night.update("delete from own_file");
        assertThat(night.findings(night.scrub())).isEmpty();
        Path segment = oldest(".dozo/catalogue/p/E1");
        try (AutoCloseable _ = Unreadable.make(segment)) {
            assertThat(ofOwnFiles(night.scrub()))
                    .as("neither a pass nor damage")
                    .containsExactly("UNPROVEN " + segment);
        }
        Trees.flip(segment, 0);

        assertThat(ofOwnFiles(night.scrub())).containsExactly("UNRECORDED " + segment);
    }

    /** Returns reason and path of each finding of a scrub; the path is in its message. */
    private List<String> ofOwnFiles(Run scrub) {
        return night.findings(scrub).stream()
                .map(finding -> finding.reason() + " "
                        + root.resolve(finding.message().replaceFirst("^.*?(\\.dozo/[^\\s:]+).*$", "$1")))
                .toList();
    }

    private Path oldest(String there) throws IOException {
        return Trees.files(root.resolve(there)).getFirst();
    }

    @Test
    void aCopyThatWasMovedAsideByANightThatDiedIsNotMissing() throws Exception {
        safe(Map.of("a", "first", "b", "x"));
        Path aside = Files.createDirectories(root.resolve(".dozo/versions/p/E1/1/data"));
        Files.move(root.resolve("p/E1/data/a"), aside.resolve("a"));

        assertThat(night.findings(night.scrub())).isEmpty();
    }

    @Test
    void aSiteWhoseFileSystemIsNotMountedIsNoDamage() throws Exception {
        safe(Map.of("a", "1"));
        Files.move(root.resolve("p"), folder.resolve("p"));

        Run scrub = night.scrub();

        assertThat(scrub.state()).isEqualTo(RunState.FAILED);
        assertThat(scrub.message()).contains("mounted?");
        assertThat(night.count("select count(*) from damage")).isZero();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void aStoppedScrubIsGoneOnWithByTheNextAndReadsNothingTwice() throws Exception {
        for (int i = 0; i < 12; i++) {
            Files.write(source.resolve("file" + i), new byte[1 << 20]);
        }
        night.register("E1", source);
        night.run();
        makeOld();
        Run slow = night.operations().startScrub(due(1 << 20), "test");
        Night.until(() -> night.count("select count(*) from reading") > 0);

        night.operations().stop(slow.id(), "test");

        assertThat(night.await(slow).state()).isEqualTo(RunState.STOPPED);
        long receipts = night.count("select count(*) from receipt");
        assertThat(night.count("select count(*) from reading")).isLessThan(receipts);
        Run rest = night.await(night.operations().startScrub(due(0), "test"));
        assertThat(rest.state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isEqualTo(receipts);
        assertThat(night.count("select count(distinct receipt_id) from reading"))
                .isEqualTo(receipts);
    }

    @Test
    void aScrubThatDiedIsGoneOnWithAsItWasAskedFor() throws Exception {
        safe(Map.of("a", "1", "b", "2"));
        Trees.flip(root.resolve("p/E1/data/a"), 0);
        Run abandoned = night.get(Runs.class).openScrub(night.site(), Night.everything(0), "test");

        night.operations().recover();

        assertThat(night.await(abandoned).state()).isEqualTo(RunState.FINDINGS);
        night.assertOnly(abandoned, Problem.DAMAGED);
    }

    @Test
    void nothingIsBegunBehindItsEnd() throws Exception {
        safe(Map.of("a", "1"));
        ScrubRequest over = new ScrubRequest(null, Duration.ofDays(30), true, 0, Instant.EPOCH, false);

        Run scrub = night.await(night.operations().startScrub(over, "test"));

        assertThat(scrub.state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isZero();
    }

    @Test
    void thePromiseIsToldFromWhatWasRead() throws Exception {
        safe(Map.of("a", "12345", "b", "2"));
        Readings readings = night.get(Readings.class);
        Instant now = Instant.now();
        makeOld();
        assertThat(readings.site(1, now.minus(Duration.ofDays(9))))
                .returns(2L, Readings.Standing::files)
                .returns(6L, Readings.Standing::bytes)
                .returns(0L, Readings.Standing::filesRead);

        night.scrub();

        assertThat(readings.site(1, now)).isEqualTo(readings.site(Sight.of(Set.of("p")), 1, now));
        assertThat(readings.site(1, now).filesRead()).isEqualTo(2);
        try (var ages = readings.ages(1)) {
            assertThat(ages).singleElement().returns(6L, Readings.Age::bytes);
        }
    }

    @Test
    void aSiteWithoutACommandIsReadBack() throws Exception {
        site.close();
        Path other = Files.createDirectory(folder.resolve("other"));
        try (LoopbackSite sftpOnly =
                        LoopbackSite.openSsh(folder.resolve("sftp"), other, 0, "ForceCommand internal-sftp");
                Night second = Night.on(sftpOnly.address())) {
            Night.write(source, Map.of("a", "1", "b", "22"));
            second.register("E1", source);
            second.run();
            Trees.flip(other.resolve("p/E1/data/b"), 0);

            Run scrub = second.scrub();

            second.assertOnly(scrub, Problem.DAMAGED);
            assertThat(second.count("select count(*) from reading where method = 'read-back'"))
                    .isPositive();
        }
    }

    private void damageOfEveryKind() throws Exception {
        register(Map.of(
                "flipped", "flipped", "cut", "cut", "removed", "x", "linked", "same", "same", "same", "dir/in", "y",
                "renamed", "z"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("same"));
        Path untouched = Files.createDirectory(folder.resolve("untouched"));
        Night.write(untouched, Map.of("a", "1", "b/c", "2"));
        night.register("E2", untouched);
        night.run();
        Path data = root.resolve("p/E1/data");
        Trees.flip(data.resolve("flipped"), 0);
        Files.writeString(data.resolve("cut"), "c");
        Files.delete(data.resolve("removed"));
        Files.delete(data.resolve("linked"));
        Files.createSymbolicLink(data.resolve("linked"), Path.of("same"));
        Files.delete(data.resolve("dir/in"));
        Files.delete(data.resolve("dir"));
        Files.delete(data.resolve("link"));
        Files.createSymbolicLink(data.resolve("link"), Path.of("/etc"));
        Files.move(data.resolve("renamed"), data.resolve("elsewhere"));
        Files.writeString(data.resolve("added"), "x");
        Files.writeString(root.resolve("p/E1/notes.txt"), "somebody's");
        Files.writeString(root.resolve("p/E1/bagit.txt"), "edited");
        Files.delete(root.resolve("p/E1/bag-info.txt"));
    }

    private void makeOld() {
        night.update("update stored set last_read_at = now() - interval '10 days'");
    }

    private static ScrubRequest due(long bytesPerSecond) {
        return new ScrubRequest(null, Duration.ofDays(1), false, bytesPerSecond, null, false);
    }
}
