package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Copy;
import dozo.copy.Copy.Options;
import dozo.copy.Restore;
import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Findings.KeptFinding;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.rebuild.Rebuild;
import dozo.rebuild.Rebuild.RecordKey;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.SourceKind;
import dozo.remote.ChildProcess;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.Unreadable;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** From a site alone, an empty database becomes a catalogue of what is there: claimed first, and then verified. */
class RebuildIT extends NightAtSite {

    private static final Options OPTIONS = new Options(2, 0, false);

    private final HikariDataSource other = TestDatabase.fresh();
    private Night rebuilt;

    @AfterEach
    void close() {
        if (rebuilt != null) {
            rebuilt.close();
        }
    }

    private void register(String code, Map<String, String> files) throws IOException {
        Path one = Files.createDirectory(folder.resolve(code));
        Night.write(one, files);
        night.register(code, one);
    }

    /** Rebuilds into the other database, as often as it is called. */
    private Run rebuild() throws Exception {
        return rebuild(null);
    }

    /** Rebuilds from the records of the catalogue that are at the site. */
    private Run rebuildFromRecords() throws Exception {
        return rebuild(new RecordKey(Files.readString(Night.KEYS.resolve("recovery-key")), Set.of()));
    }

    private Run rebuild(@Nullable RecordKey key) throws Exception {
        if (rebuilt == null) {
            rebuilt = Night.without(other);
        }
        return rebuilt.get(Rebuild.class).run("dr", site.address(), key);
    }

    @Test
    void whatWasSafeIsSafeAgainAndComesBackAndTheNextNightSendsNothing() throws Exception {
        Night.write(source, Map.of("a/b/c", "deep", "new\nline%0A", "n", "back\\slash", "b", "-", "dash", "zero", ""));
        Files.writeString(Trees.named(source, "脳画像 表.dat", "windows-31j"), "shift-jis");
        Files.createDirectories(source.resolve("empty/folder"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("a/b/c"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("/nowhere/in\nparticular"));
        Files.setPosixFilePermissions(source.resolve("-"), PosixFilePermissions.fromString("r---w---x"));
        Files.setPosixFilePermissions(source.resolve("empty"), PosixFilePermissions.fromString("r-x------"));
        night.register("E1", source);
        Path second = Files.createDirectory(folder.resolve("second"));
        Night.write(second, Map.of("only", "plain names"));
        night.register("E2", second);
        night.complete();
        Map<Path, FileTime> tagFiles = tagFiles();

        Run run = rebuild();

        rebuilt.assertComplete(run);
        assertThat(run.kind()).isEqualTo(RunKind.REBUILD);
        assertThat(totals(rebuilt)).isEqualTo(totals(night));
        assertThat(rebuilt.coverage().safe()).isTrue();
        assertThat(rebuilt.count("select count(*) from found_copy")).isZero();
        assertThat(rebuilt.count("select count(*) from receipt where way_in is not null or method not like 'exec %'"))
                .isZero();
        assertThat(rebuilt.texts("select distinct action from ledger"))
                .contains("experiment.found", "experiment.verified", "catalogue.rebuilt", "run.ended");
        Experiment found = rebuilt.experiment();
        assertThat(found.kind()).isEqualTo(SourceKind.NONE);

        Path restored = restored(found);
        Map<FilePath, String> asAtSite = Snapshot.of(bag.resolve("data"));
        assertThat(Snapshot.of(restored).keySet()).isEqualTo(asAtSite.keySet());
        NightlyBackupIT.assertSame(source, restored);

        Run unknown = rebuilt.run();
        assertThat(rebuilt.findings(unknown))
                .extracting(KeptFinding::experiment, KeptFinding::reason)
                .containsExactlyInAnyOrder(
                        tuple("p/E1", Problem.SOURCE_MISSING), tuple("p/E2", Problem.SOURCE_MISSING));

        rebuilt.register("E1", restored);
        assertThat(rebuilt.experiment().kind()).isEqualTo(SourceKind.FILESYSTEM);
        rebuilt.register(
                "E2", restored(rebuilt.get(Experiments.class).find("p", "E2").orElseThrow()));
        Run next = rebuilt.complete();
        assertThat(rebuilt.count("select count(*) from transfer_unit where run_id = " + next.id()))
                .as("what was restored has the times and modes that the site keeps")
                .isZero();
        assertThat(tagFiles()).as("no tag file was written again").isEqualTo(tagFiles);
    }

    @Test
    void aSourceThatSurvivedIsSentAgainAndNotFrozenBecauseBagsHaveWholeSeconds() throws Exception {
        for (int i = 0; i < 40; i++) {
            Path file = source.resolve("f" + i);
            Files.writeString(file, "file " + i);
            Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2026-01-02T03:04:05.123456789Z")));
        }
        Files.createSymbolicLink(source.resolve("link"), Path.of("f1"));
        night.register("E1", source);
        night.complete();
        rebuild();

        rebuilt.register("E1", source);
        Run next = rebuilt.complete();

        assertThat(rebuilt.coverage().safe()).isTrue();
        assertThat(rebuilt.get(Manifests.class).current(1).orElseThrow().number())
                .isEqualTo(2);
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(root.resolve(".dozo/versions/p/E1/2/data"))
                .as("the same bytes were recognised")
                .doesNotExist();
        assertThat(next.state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void theManifestKeepsItsNumberSoThatNothingGetsThePlaceOfAStoredVersion() throws Exception {
        night.register("E1", source);
        for (int i = 1; i <= 3; i++) {
            complete(Map.of("changed", "content " + i, "gone" + i, "g"));
        }
        Files.delete(source.resolve("gone1"));
        night.complete();

        Run run = rebuild();

        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::path)
                .containsExactly(tuple(Problem.NOT_REBUILT, null));
        assertThat(rebuilt.findings(run).getFirst().message()).startsWith("2 earlier versions");
        Manifest manifest = rebuilt.get(Manifests.class).current(1).orElseThrow();
        assertThat(manifest.number()).isEqualTo(3);
        assertThat(manifest.files())
                .as("what the source had deleted is at the site, too")
                .isEqualTo(4);

        rebuilt.get(Sites.class).add("later", site.address(), "test");
        assertThat(rebuilt.count("select count(*) from protection")).isEqualTo(2);
    }

    @Test
    void withRecordsEverythingComesBackAndTheNextNightSendsNothing() throws Exception {
        Night.write(source, Map.of("same", "s", "changed", "content 1", "gone", "g", "a/b", "b"));
        Files.createLink(source.resolve("a/name"), source.resolve("same"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("a/b"));
        Files.setAttribute(source.resolve("a/b"), "unix:gid", 4711);
        night.register("E1", source);
        night.complete();
        Files.delete(source.resolve("gone"));
        Files.writeString(source.resolve("changed"), "second content");
        night.complete();

        Run run = rebuildFromRecords();

        assertThat(rebuilt.findings(run)).isEmpty();
        assertThat(totals(rebuilt)).isEqualTo(totals(night));
        assertThat(rebuilt.coverage().safe()).isTrue();
        Experiment found = rebuilt.experiment();
        assertThat(found.source()).isEqualTo(source);
        assertThat(rebuilt.get(Manifests.class).all(found.id()))
                .extracting(Manifest::number, Manifest::files, Manifest::sealedAt)
                .isEqualTo(night.get(Manifests.class).all(1).stream()
                        .map(manifest -> tuple(manifest.number(), manifest.files(), manifest.sealedAt()))
                        .toList());
        assertThat(rebuilt.count("select count(*) from entry_owner")).isEqualTo(1);

        Run next = rebuilt.complete();

        assertThat(rebuilt.count("select count(*) from transfer_unit where run_id = " + next.id()))
                .isZero();
        assertThat(rebuilt.get(Manifests.class)
                        .current(found.id())
                        .orElseThrow()
                        .number())
                .isEqualTo(2);
        Path target = folder.resolve("first");
        rebuilt.restore(found, 1, site.address(), target, new Options(0, 0, false));
        assertThat(target.resolve("changed")).hasContent("content 1");
        assertThat(target.resolve("gone")).hasContent("g");
    }

    @Test
    void whatIsUrgentIsRestoredBeforeAnythingIsVerifiedAndTheSameCallContinues() throws Exception {
        Night.write(source, Map.of("changed", "content 1", "damaged", "right bytes", "a/b", "b"));
        night.register("E1", source);
        night.complete();
        Files.writeString(source.resolve("changed"), "second content");
        night.complete();
        Path damaged = bag.resolve("data/damaged");
        Trees.flip(damaged, 0);
        rebuilt = Night.without(other);
        RecordKey key = new RecordKey(Files.readString(Night.KEYS.resolve("recovery-key")), Set.of());

        Run lists = rebuilt.get(Rebuild.class).run("dr", site.address(), key, true);

        assertThat(lists.state()).isEqualTo(RunState.RUNNING);
        assertThat(rebuilt.count("select count(*) from receipt")).isZero();
        assertThatThrownBy(() -> rebuilt.start()).isInstanceOf(Refusal.class);
        Path first = folder.resolve("first");
        Path second = folder.resolve("second");
        List<Copy.Finding> lost = new ArrayList<>();
        for (int manifest = 1; manifest <= 2; manifest++) {
            try (Restore restore = rebuilt.restoring(
                    rebuilt.experiment(), manifest, site.address(), manifest == 1 ? first : second, OPTIONS)) {
                restore.run(lost::add);
            }
        }
        assertThat(lost)
                .extracting(Copy.Finding::problem, Copy.Finding::path)
                .as("what arrives is verified")
                .containsExactly(
                        tuple(Problem.MISMATCHED, FilePath.of("damaged")),
                        tuple(Problem.MISMATCHED, FilePath.of("damaged")));
        assertThat(first.resolve("changed")).hasContent("content 1");
        assertThat(second.resolve("changed")).hasContent("second content");
        assertThat(second.resolve("a/b")).hasContent("b");

        Trees.flip(damaged, 0);
        Run run = rebuildFromRecords();

        assertThat(run.id()).isEqualTo(lists.id());
        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(rebuilt.coverage().safe()).isTrue();
    }

    @Test
    void aRebuildThatBeganWithoutAKeyDoesNotContinueAsIfItHadOne() throws Exception {
        safe(Map.of("a", "b"));
        rebuilt = Night.without(other);
        rebuilt.get(Rebuild.class).run("dr", site.address(), null, true);

        assertThatThrownBy(this::rebuildFromRecords)
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("began without a recovery key");

        assertThat(rebuild().state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void recordsThatCannotBeOpenedAreRefusedAndNothingIsLoaded() throws Exception {
        safe(Map.of("a", "b"));
        rebuilt = Night.without(other);
        RecordKey unsigned = new RecordKey(
                Files.readString(Night.KEYS.resolve("recovery-key")), Set.of(Digest.ofContent(new byte[1])));

        assertThatThrownBy(() -> rebuilt.get(Rebuild.class).run("dr", site.address(), unsigned))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("is signed with another key");
        assertThatThrownBy(
                        () -> rebuilt.get(Rebuild.class).run("dr", site.address(), new RecordKey("no key", Set.of())))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("expected a private key");

        assertThat(rebuilt.count("select count(*) from project")).isZero();
        assertThat(rebuild().state()).as("the bags are enough").isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aBagOfAnErasedExperimentIsLeftOut() throws Exception {
        for (String code : List.of("E1", "E2")) {
            register(code, Map.of("x", code));
        }
        night.complete();
        Path kept = folder.resolve("snapshot");
        for (Path each : Trees.all(bag)) {
            Files.copy(each, kept.resolve(bag.relativize(each)));
        }
        night.update("""
                insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at, approved_by,
                                     approved_at, not_before)
                select project_id, code, experiment_id, registered_at, 'wish', 'lab', now(), 'admin', now(), now()
                from experiment where code = 'E1'
                """);
        night.complete();
        assertThat(root.resolve("p/E1")).doesNotExist();
        Files.move(kept, root.resolve("p/E1"));

        Run run = rebuildFromRecords();

        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::message)
                .containsExactly(
                        "experiment p/E1 was erased and is left out; its folder is still, or again, at the site");
        assertThat(rebuilt.count("select count(*) from experiment")).isEqualTo(1);
    }

    @Test
    void anExperimentWhoseRecordsAreDamagedOrCannotBeReadIsRebuiltFromItsBag() throws Exception {
        for (String code : List.of("E1", "E2", "E3")) {
            register(code, Map.of("x", code));
        }
        night.complete();
        Path cut = record("p/E2");
        byte[] whole = Files.readAllBytes(cut);
        Files.delete(cut);
        Files.write(cut, Arrays.copyOf(whole, whole.length - 20));
        rebuilt = Night.without(other);

        Run run;
        try (AutoCloseable _ = Unreadable.make(record("p/E3"))) {
            run = rebuildFromRecords();
        }

        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::experiment, KeptFinding::reason)
                .containsExactlyInAnyOrder(tuple("p/E2", Problem.NOT_REBUILT), tuple("p/E3", Problem.NOT_REBUILT));
        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::message)
                .allSatisfy(message -> assertThat(message).endsWith("its bag was read instead"))
                .anySatisfy(message -> assertThat(message).contains("p/E2/", "is damaged or cut"))
                .anySatisfy(message -> assertThat(message).contains("cannot read .dozo/catalogue/p/E3/"));
        assertThat(totals(rebuilt)).isEqualTo(totals(night));
        assertThat(rebuilt.coverage().safe()).isTrue();
    }

    @Test
    void ofDamagedBaseRecordsTheRestIsLoadedAndTheyAreFindings() throws Exception {
        safe(Map.of("a", "b"));
        night.complete();
        Path last = record("");
        RecordsIT.damage(last);
        Run run = rebuildFromRecords();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        rebuilt.assertOnly(run, Problem.NOT_REBUILT, last.getFileName() + " is damaged or cut");
        assertThat(rebuilt.coverage().safe()).isTrue();
        assertThat(rebuilt.get(Experiments.class).find("p/E1").orElseThrow().source())
                .isEqualTo(source);
    }

    @Test
    void ifNoRecordOfTheBaseIsUsableTheBagsAreRead() throws Exception {
        safe(Map.of("a", "b"));
        RecordsIT.damage(record(""));
        rebuilt = Night.without(other);
        rebuilt.get(Rebuild.class)
                .run(
                        "dr",
                        site.address(),
                        new RecordKey(Files.readString(Night.KEYS.resolve("recovery-key")), Set.of()),
                        true);
        Run run = rebuildFromRecords();

        assertThat(rebuilt.findings(run)).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.NOT_REBUILT);
            assertThat(finding.message()).contains("is damaged or cut").endsWith("only the bags were read");
        });
        assertThat(rebuilt.coverage().safe()).isTrue();
    }

    @Test
    void aBaseRecordThatCannotBeReadIsAnErrorAndNothingIsLoaded() throws Exception {
        safe(Map.of("a", "b"));
        rebuilt = Night.without(other);

        try (AutoCloseable _ = Unreadable.make(record(""))) {
            assertThatThrownBy(this::rebuildFromRecords).isInstanceOf(RemoteException.class);
        }

        assertThat(rebuilt.count("select count(*) from project")).isZero();
        assertThat(rebuildFromRecords().state()).isEqualTo(RunState.COMPLETE);
    }

    /** Returns the last record of an experiment, or of the base. */
    private Path record(String experiment) throws IOException {
        return Trees.files(root.resolve(".dozo/catalogue").resolve(experiment)).getLast();
    }

    @Test
    void experimentsOfAProjectThatAreFoundAtTheSameTimeCreateItOnce() throws Exception {
        rebuilt = Night.without(other);
        Experiments experiments = rebuilt.get(Experiments.class);
        CountDownLatch start = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Experiment>> found = IntStream.range(0, 8)
                    .mapToObj(i -> threads.submit(() -> {
                        start.await();
                        return experiments.registerFound("fresh", "E" + i, false, "test");
                    }))
                    .toList();
            start.countDown();
            for (Future<Experiment> one : found) {
                assertThat(one.get().project()).isEqualTo("fresh");
            }
        }
        assertThat(rebuilt.count("select count(*) from project")).isEqualTo(1);
        assertThat(rebuilt.count("select count(*) from ledger where action = 'project.created'"))
                .isEqualTo(1);
    }

    @Test
    void aSiteThatGoesAwayWhileItsRecordsAreLoadedLeavesNoHalfCatalogueThatLooksWhole() throws Exception {
        safe(Map.of("a", "b"));
        rebuilt = Night.without(other);

        FutureTask<Run> loading = new FutureTask<>(this::rebuildFromRecords);
        rebuilt.whileHolding("lock table entry_link in access exclusive mode", () -> {
            Thread.ofVirtual().start(loading);
            Night.until(() -> rebuilt.count("select count(*) from project") == 1);
            site.close();
        });

        assertThatThrownBy(loading::get)
                .hasCauseInstanceOf(Refusal.class)
                .hasMessageContaining("the records were not loaded completely")
                .hasMessageContaining("begin again with an empty database");
        assertThatThrownBy(this::rebuildFromRecords).hasMessageContaining("only into an empty one");
    }

    @Test
    void whatIsDamagedMissingOrNotListedIsAFindingAndNotSafe() throws Exception {
        safe(Map.of("good", "good", "bad", "right bytes", "lost", "lost", "sub/x", "x"));
        Trees.flip(bag.resolve("data/bad"), 3);
        Files.delete(bag.resolve("data/lost"));
        Files.writeString(bag.resolve("data/sub/foreign"), "f");

        Run run = rebuild();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::path)
                .containsExactlyInAnyOrder(
                        tuple(Problem.DAMAGED, FilePath.of("bad")),
                        tuple(Problem.MISSING, FilePath.of("lost")),
                        tuple(Problem.UNEXPECTED, FilePath.of("sub/foreign")));
        assertThat(rebuilt.coverage().files()).isEqualTo(3);
        assertThat(rebuilt.coverage().filesSafe()).isEqualTo(2);
        assertThat(rebuilt.count("select count(*) from found_copy")).isZero();
    }

    @Test
    void whatIsNoCompleteBagIsAFindingAndTheRestIsRead() throws Exception {
        register(Map.of("f", "f"));
        for (String code : List.of("noList", "altered", "moved", "notOurs")) {
            register(code, Map.of("f", code));
        }
        night.complete();
        Path project = root.resolve("p");
        Files.delete(project.resolve("noList/manifest-sha256.txt"));
        Files.writeString(project.resolve("altered/manifest-sha256.txt"), "x", StandardOpenOption.APPEND);
        Files.move(project.resolve("moved"), project.resolve("elsewhere"));
        Night.write(root, Map.of("lost+found/x/y", "y", "file", "f", "p/name with spaces/bagit.txt", "b"));
        Night.write(project.resolve("notOurs"), Map.of("tagmanifest-sha256.txt", "no line\n"));

        Run run = rebuild();

        assertThat(rebuilt.findings(run))
                .allSatisfy(finding -> assertThat(finding.reason()).isEqualTo(Problem.NOT_REBUILT))
                .extracting(finding -> String.valueOf(finding.path()))
                .containsExactlyInAnyOrder(
                        "file",
                        "lost+found",
                        "p/altered",
                        "p/elsewhere",
                        "p/name with spaces",
                        "p/noList",
                        "p/notOurs");
        assertThat(rebuilt.coverage().experiments()).isEqualTo(1);
        assertThat(rebuilt.coverage().safe()).isTrue();
    }

    @Test
    void namesThatLeadOutOfTheBagAreNeverUsed() throws Exception {
        safe(Map.of("f", "f"));
        String line = "%064d  data/%s%n";
        list(line.formatted(1, "../../outside")
                + line.formatted(2, "/etc/passwd")
                + line.formatted(3, "a//b")
                + line.formatted(4, "./f")
                + "%064d  bag-info.txt%n".formatted(5)
                + "not a line\n");

        Run run = rebuild();

        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::path)
                .hasSize(8)
                .containsOnly(
                        tuple(Problem.NOT_REBUILT, null),
                        tuple(Problem.OUTSIDE, null),
                        tuple(Problem.UNPARSED, null),
                        tuple(Problem.UNEXPECTED, FilePath.of("f")));
        assertThat(rebuilt.count("select count(*) from manifest")).isZero();
    }

    /** Replaces the bag's list, as somebody could who may write there. */
    private void list(String text) throws IOException {
        tagFile("manifest-sha256.txt", text);
    }

    /** Writes a tag file into the bag, as somebody does who may write there. */
    private void tagFile(String name, String text) throws IOException {
        Files.writeString(bag.resolve(name), text);
        Path tags = bag.resolve("tagmanifest-sha256.txt");
        String digest = dozo.file.Digest.ofText(text).toString();
        Files.writeString(tags, Files.readString(tags).replaceFirst("[0-9a-f]{64}(?=  " + name + ")", digest));
    }

    @Test
    void whatContentSaidIsReadFromTheBag() throws Exception {
        Night.write(source, Map.of("whole.json", "{}", "sub/cut, \"1\"\n.json", "{", "text", "nobody knows"));
        Files.writeString(Trees.named(source, "脳.json", "windows-31j"), "[]");
        night.register("E1", source);
        night.run();
        Map<Path, FileTime> tagFiles = tagFiles();

        Run run = rebuild();

        rebuilt.assertComplete(run);
        assertThat(contents(rebuilt)).isEqualTo(contents(night)).hasSize(3);
        rebuilt.register("E1", restored(rebuilt.experiment()));
        rebuilt.complete();
        assertThat(tagFiles()).as("no tag file was written again").isEqualTo(tagFiles);
    }

    @Test
    void ofAContentListOnlyWhatCanBeReadIsUsed() throws Exception {
        safe(Map.of("a.json", "{}", "b.json", "[]"));
        tagFile("content.csv", """
                state,format,why,path
                broken,JSON,it was so,data/a.json
                broken,JSON,its place is nowhere,data/none.json
                odd,JSON,no such verdict,data/b.json
                unknown,JSON,,data/b.json
                unknown,JSON,nobody knows,data/b.json
                whole,JSON,whole for a reason,data/b.json
                broken,JSON,,data/b.json
                whole,,,data/b.json
                broken,JSON,\0,data/b.json
                whole,JSON,,data/../b.json
                whole,JSON,,
                whole,JSON,data/b.json
                whole,JSON,,"data/b.json
                """);

        Run run = rebuild();

        assertThat(rebuilt.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::message)
                .as("equal ones are one finding")
                .containsExactly(tuple(
                        Problem.UNPARSED,
                        "a line of the bag's content.csv cannot be parsed; what it says is not known"));
        assertThat(contents(rebuilt))
                .containsExactly("a.json BROKEN JSON it was so", "b.json UNKNOWN JSON nobody knows");
    }

    private static List<String> contents(Night of) {
        return of.texts("""
                select convert_from(e.name, 'LATIN1') || ' ' || concat_ws(' ', j.state, j.format, nullif(j.why, ''))
                from judged_entry j join entry e using (experiment_id, entry_no) order by e.name
                """);
    }

    @Test
    void aDatabaseWithOtherContentIsRefused() throws Exception {
        register(Map.of("f", "f"));

        assertThatThrownBy(() -> night.get(Rebuild.class).run("dr", site.address(), null))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("in use");

        night.complete();
        rebuild();
        assertThatThrownBy(this::rebuild).isInstanceOf(Refusal.class);
    }

    @Test
    void anEmptySiteFailsAndTheSameCallContinuesWithTheRightRoot() throws Exception {
        safe(Map.of("f", "f"));
        rebuilt = Night.without(other);
        SiteAddress wrong = site.address()
                .withRoot(Files.createDirectory(folder.resolve("empty")).toString());

        assertThatThrownBy(() -> rebuilt.get(Rebuild.class).run("dr", wrong, null))
                .isInstanceOf(RemoteException.class)
                .hasMessageContaining("right root");
        Run left = rebuilt.get(Runs.class).goingOn().orElseThrow();
        assertThat(left.message()).contains("dozo rebuild-catalogue");
        rebuilt.operations().recover();
        assertThatThrownBy(() -> rebuilt.start()).isInstanceOf(Refusal.class);

        Run run = rebuild();
        assertThat(run.id()).isEqualTo(left.id());
        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aCopyThatCannotBeReadStaysClaimedAndIsNotSentUntilItIsKnown() throws Exception {
        safe(Map.of("f", "f", "closed", "c"));
        Path closed = bag.resolve("data/closed");
        try (AutoCloseable _ = Unreadable.make(closed)) {
            assertThat(rebuilt(rebuild())).containsExactly(tuple("p/E1", Problem.UNPROVEN));
            assertThat(rebuilt.count("select cardinality(entry_nos) from found_copy"))
                    .isEqualTo(1);
            rebuilt.register("E1", source);
            assertThat(rebuilt(rebuilt.run())).containsExactly(tuple("p/E1", Problem.UNPROVEN));
            assertThat(rebuilt.count("select count(*) from manifest")).isEqualTo(1);
        }

        assertThat(rebuild().state()).isEqualTo(RunState.COMPLETE);
        assertThat(rebuilt.count("select count(*) from finding where run_id = 1 and superseded_by is null"))
                .isZero();
        assertThat(rebuilt.coverage().safe()).isTrue();
    }

    private List<org.assertj.core.groups.Tuple> rebuilt(Run run) {
        return rebuilt.findings(run).stream()
                .map(finding -> tuple(finding.experiment(), finding.reason()))
                .toList();
    }

    @Test
    void killedInEachPhaseItContinuesAndDoesNothingTwice() throws Exception {
        int experiments = 5;
        for (int e = 1; e <= experiments; e++) {
            Path one = Files.createDirectory(folder.resolve("e" + e));
            for (int i = 0; i < 1_500; i++) {
                Files.writeString(one.resolve("f" + i), "file %d of %d".formatted(i, e));
            }
            night.register("K" + e, one);
        }
        night.complete();
        rebuilt = Night.without(other);

        killWhen("select count(*) > 0 from project");
        killWhen("select count(*) > 2 from manifest");
        killWhen("select count(*) > 1 from receipt");
        killWhen("select count(*) > 4 from receipt");
        Run run = rebuild();

        rebuilt.assertComplete(run);
        assertThat(rebuilt.count("select count(*) from run")).isEqualTo(1);
        assertThat(totals(rebuilt)).isEqualTo(totals(night));
        assertThat(rebuilt.count("select count(*) from manifest")).isEqualTo(experiments);
        assertThat(rebuilt.count("""
                        select count(*) from (select experiment_id, unnest(entry_nos) as n from receipt) r
                        group by experiment_id, n having count(*) > 1
                        union all select 0 limit 1
                        """)).isZero();
        assertThat(rebuilt.count("select count(*) from receipt")).isEqualTo(experiments * 2);
        assertThat(rebuilt.count("select count(*) from ledger where action = 'experiment.found'"))
                .isEqualTo(experiments);
    }

    private void killWhen(String condition) throws Exception {
        Path log = folder.resolve("child.log");
        new ChildProcess(RebuildProcess.class, 256, log, site.address(), TestDatabase.words(other))
                .killWhen(
                        () -> rebuilt.jdbc().sql(condition).query(Boolean.class).single());
    }

    @Test
    void nothingIsWrittenAtTheSite() throws Exception {
        safe(Map.of("a/f", "f", "b", "b"));
        Map<Path, Object> before = everything();

        rebuild();

        assertThat(everything()).isEqualTo(before);
        assertThat(rebuilt.coverage().safe()).isTrue();
    }

    private Map<Path, Object> everything() throws IOException {
        Map<Path, Object> all = new TreeMap<>();
        for (Path path : Trees.all(root)) {
            all.put(path, Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS));
        }
        return all;
    }

    private Map<Path, FileTime> tagFiles() throws IOException {
        Map<Path, FileTime> times = new TreeMap<>();
        try (Stream<Path> paths = Files.find(root.resolve("p"), 2, (path, facts) -> facts.isRegularFile())) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                times.put(path, Files.getLastModifiedTime(path));
            }
        }
        assertThat(times).isNotEmpty();
        return times;
    }

    private Path restored(Experiment experiment) throws Exception {
        Path into = folder.resolve("restored " + experiment.code());
        int last = rebuilt.get(Manifests.class)
                .current(experiment.id())
                .orElseThrow()
                .number();
        rebuilt.restore(experiment, last, site.address(), into, OPTIONS);
        return into;
    }

    private static List<Long> totals(Night of) {
        Coverage.Totals totals = of.coverage();
        return List.of(totals.files(), totals.filesSafe(), totals.bytes(), totals.bytesSafe());
    }
}
