package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.collect.Origins;
import dozo.collect.Terms;
import dozo.collect.Terms.Tree;
import dozo.file.FilePath;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.SourceList;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.run.SourceMoves;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;
import tools.jackson.databind.JsonNode;

/** A storage is migrated: its experiments get another path, nothing is sent again, and nothing wrong is taken for the same. */
class SourceMoveIT {

    private static final String MOVE = "/api/v1/source-move";
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final byte[] NO_TEXT = {'n', (byte) 0x94, (byte) 0xff, ' ', '\n'};

    @TempDir
    Path temporary;

    private Path old;
    private Path now;

    @AutoClose
    private LoopbackSite site;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        Path folder = temporary.toRealPath();
        old = Files.createDirectory(folder.resolve("old"));
        now = folder.resolve("now");
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address());
        service.createProject("P1");
        service.createProject("P2");
    }

    @Test
    void everythingMovesAndTheNextNightSendsNothing() throws Exception {
        service.bean(Projects.class).setRoots("P1", List.of(old), "test");
        Path bytes = FilePath.of(NO_TEXT).under(old);
        experiment("P1", "E1", bytes, "a", "deep/b");
        Files.createSymbolicLink(bytes.resolve("link"), Path.of("a"));
        Files.createLink(bytes.resolve("hard link"), bytes.resolve("a"));
        experiment("P1", "NESTED", bytes.resolve("deep"));
        experiment("P2", "E1", old.resolve("two"), "c");
        night();
        experiment("P2", "NEW", old.resolve("three"), "never backed up");
        migrate();
        FileSystemUtils.deleteRecursively(old);

        Ended ended = Ended.dozo(service, "source move --wait", old, now);

        assertThat(ended.out())
                .isEqualTo("moved: 4 of 4 experiments are the same, files read: 5 (%s)\n"
                        .formatted(ended.out().replaceAll("(?s).*\\((.*)\\).*", "$1")));
        ended.ends(0);
        assertThat(find("P1/E1").source()).isEqualTo(FilePath.of(NO_TEXT).under(now));
        assertThat(find("P1/E1").bound()).isTrue();
        assertThat(find("P1/NESTED").source())
                .isEqualTo(FilePath.of(NO_TEXT).under(now).resolve("deep"));
        assertThat(find("P2/NEW").source()).isEqualTo(now.resolve("three"));
        assertThat(service.bean(Projects.class).find("P1").orElseThrow().roots())
                .containsExactly(now);
        assertThat(rows("experiment.changed"))
                .hasSize(4)
                .allMatch(row -> !row.detail().contains(old.toString()));
        assertThat(rows("source.moved").getFirst().detail())
                .contains("\"experiments\": \"4\"", "\"left\": \"0\"", "from_sha256");
        long sent = units();
        Run night = service.backUp();
        assertThat(night.state()).isEqualTo(RunState.COMPLETE);
        assertThat(units()).as("only what was never backed up").isEqualTo(sent + 1);
        assertThat(service.backUp().findings()).isZero();
    }

    @Test
    void whatIsNotTheSameIsListedAndNothingMoves() throws Exception {
        service.bean(Projects.class).setRoots("P1", List.of(old), "test");
        for (String code : List.of("SAME", "GONE", "FOLDER", "SIZE", "TIME", "ROUND", "CONTENT", "MORE", "KIND")) {
            experiment("P1", code, old.resolve(code), "a", "deep/b");
        }
        night();
        experiment("P1", "NOFOLDER", old.resolve("NOFOLDER"));
        migrate();
        Files.delete(now.resolve("NOFOLDER"));
        Files.delete(now.resolve("GONE/a"));
        FileSystemUtils.deleteRecursively(now.resolve("FOLDER/deep"));
        change("SIZE", "longer than before", Duration.ZERO);
        change("TIME", "of a", Duration.ofHours(9));
        change("ROUND", "of a", Duration.ofMillis(-1));
        change("CONTENT", "ot a", Duration.ZERO);
        Files.writeString(now.resolve("MORE/new"), "new");
        Files.delete(now.resolve("KIND/a"));
        Files.createDirectory(now.resolve("KIND/a"));

        Answer refused = move("\"check\": false");

        assertThat(refused.string("/state")).as(refused.text()).isEqualTo("REFUSED");
        assertThat(refused.string("/message")).isEqualTo("8 of 10 experiments differ; nothing has changed");
        Map<String, List<Long>> expected = Map.of(
                "P1/GONE", List.of(1L, 0L, 0L, 0L),
                "P1/FOLDER", List.of(2L, 0L, 0L, 0L),
                "P1/SIZE", List.of(0L, 1L, 0L, 0L),
                "P1/KIND", List.of(0L, 1L, 0L, 0L),
                "P1/TIME", List.of(0L, 0L, 1L, 0L),
                "P1/ROUND", List.of(0L, 0L, 1L, 1L));
        expected.forEach((experiment, numbers) -> {
            JsonNode found = difference(experiment).path("found");
            assertThat(Stream.of("missing", "changed", "times", "rounded")
                            .map(each -> found.path(each).asLong()))
                    .as(experiment)
                    .isEqualTo(numbers);
            assertThat(found.path("first").path(0).asString()).isEqualTo(experiment.equals("P1/FOLDER") ? "deep" : "a");
        });
        assertThat(difference("P1/CONTENT").path("otherContent").path(0).asString())
                .isEqualTo("a: other content");
        assertThat(difference("P1/MORE").path("found").path("added").asLong()).isOne();
        assertThat(difference("P1/NOFOLDER").path("found").path("problem").asString())
                .contains("does not exist");
        assertThat(difference("P1/SAME").isMissingNode()).isTrue();
        assertThat(Ended.dozo(service, "source differences").out()).contains("P1/ROUND", "CONTENT");
        assertThat(find("P1/SAME").source()).isEqualTo(old.resolve("SAME"));
        assertThat(rows("source.moved")).isEmpty();
        assertThat(rows("experiment.changed")).isEmpty();

        FileSystemUtils.deleteRecursively(old);
        Answer some = move("\"sameOnly\": true");

        assertThat(some.string("/state")).isEqualTo("MOVED");
        assertThat(some.number("/same")).isEqualTo(2);
        assertThat(find("P1/SAME").source()).isEqualTo(now.resolve("SAME"));
        assertThat(find("P1/MORE").source()).isEqualTo(now.resolve("MORE"));
        assertThat(find("P1/CONTENT").source()).isEqualTo(old.resolve("CONTENT"));
        assertThat(rows("source.moved").getFirst().detail()).contains("\"left\": \"8\"");
        assertThat(service.bean(Projects.class).find("P1").orElseThrow().roots())
                .as("some stay in the old one")
                .containsExactly(now, old);
    }

    @Test
    void contentIsComparedOnlyInTheSample() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a");
        night();
        migrate();
        change("E1", "ot a", Duration.ZERO);

        assertThat(move("\"check\": true, \"sample\": 1").number("/left")).isOne();
        Ended.dozo(service, "source move --check --wait", old, now).ends(1);
        assertThat(move("\"check\": true, \"sample\": 0").number("/same")).isOne();
        Ended.dozo(service, "source move --check --sample 0 --wait", old, now).ends(0);
        assertThat(find("P1/E1").source()).as("only checked").isEqualTo(old.resolve("E1"));
        assertThat(Ended.dozo(service, "source moving").out()).contains("checked: 1 of 1 experiments are the same");
    }

    @Test
    void whatIsBackedUpAgainIsTold() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a", "b");
        night();
        migrate();
        Files.setPosixFilePermissions(now.resolve("E1/a"), Set.of());

        Answer moved = move("\"sample\": 0");

        assertThat(moved.string("/state")).isEqualTo("MOVED");
        assertThat(moved.number("/facts")).isOne();
    }

    @Test
    void wrongRequestsAreRefused() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a");
        experiment("P1", "OTHER", temporary.toRealPath().resolve("other"), "x");
        request(old.resolve("E1"), temporary.toRealPath().resolve("missing"), "")
                .refused(422, "source");
        migrate();
        request(old, old, "").refused(422, "to");
        request(old.resolve("E"), now, "").refused(422, "from");
        request(old, now, ", \"sample\": 1001").refused(422, "sample");
        service.post(MOVE, "{\"from\": \"old\", \"to\": \"/\"}").refused(422, "from");
        service.post(MOVE, "{\"to\": \"/\"}").refused(422, "from");
        service.post(MOVE + "/stop", "").refused(409, "move");
        request(old.resolve("E1"), temporary.toRealPath().resolve("other"), "").refused(409, "source");
        experiment("P1", "E2", now.resolve("E1"));
        request(old, now, "").expect(202);
        Answer taken = ended();
        assertThat(taken.string("/state")).isEqualTo("REFUSED");
        assertThat(taken.string("/message")).contains("is already the source of an experiment");
        assertThat(find("P1/E1").source()).isEqualTo(old.resolve("E1"));
    }

    @Test
    void nothingLeavesTheRoots() throws Exception {
        service.bean(Projects.class).setRoots("P1", List.of(old), "test");
        experiment("P1", "E1", Files.createDirectory(old.resolve("below")).resolve("E1"), "a");
        migrate();

        request(old.resolve("below"), now.resolve("below"), "").expect(202);

        assertThat(ended().string("/message")).contains("is not below a source root of project P1");
        Path inside = Files.createDirectory(old.resolve("new"));
        Files.createSymbolicLink(inside.resolve("E1"), old.resolve("below/E1"));
        request(old.resolve("below"), inside, "").expect(202);
        assertThat(ended().string("/message")).contains("there is a symbolic link on the path");
        assertThat(find("P1/E1").source()).isEqualTo(old.resolve("below/E1"));
    }

    @Test
    void aFileListMovesWithItsFolder() throws Exception {
        Path source = experiment("P1", "E1", temporary.toRealPath().resolve("stays"), "a")
                .source();
        Path list = old.resolve("list");
        Files.writeString(list, "");
        service.bean(Experiments.class)
                .setList(Sight.EVERYTHING, "P1", "E1", new SourceList(list, SourceList.Form.FIND), "test");
        migrate();

        assertThat(move("\"sample\": 0").string("/state")).isEqualTo("MOVED");

        assertThat(find("P1/E1").source()).isEqualTo(source);
        assertThat(find("P1/E1").list()).isEqualTo(new SourceList(now.resolve("list"), SourceList.Form.FIND));
    }

    @Test
    void aMoveWaitsForTheNightAndIsStopped() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a");
        migrate();
        service.openRun();
        request(old, now, "").expect(202);
        await().atMost(LIMIT).until(() -> latest().string("/state").equals("WAITING"));
        request(old, now, "").refused(409, "from");

        assertThat(Ended.dozo(service, "source stop").code()).isZero();

        assertThat(ended().string("/state")).isEqualTo("STOPPED");
        assertThat(find("P1/E1").source()).isEqualTo(old.resolve("E1"));
        assertThat(rows("move.stopping")).hasSize(1);

        request(old, now, "").expect(202);
        await().atMost(LIMIT).until(() -> latest().string("/state").equals("WAITING"));
        service.jdbc().sql("update run set state = 'STOPPED', ended_at = now()").update();
        assertThat(ended().string("/state")).isEqualTo("MOVED");
    }

    @Test
    void aMoveIsStoppedWhileItWaitsInItsTransaction() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a");
        migrate();
        service.openRun();
        request(old, now, "").expect(202);
        await().atMost(LIMIT).until(() -> latest().string("/state").equals("WAITING"));
        CompletableFuture<Answer> stopped;
        try (Connection other = service.bean(DataSource.class).getConnection();
                Statement lock = other.createStatement()) {
            other.setAutoCommit(false);
            lock.execute("lock table arrival in access exclusive mode");
            service.jdbc()
                    .sql("update run set state = 'STOPPED', ended_at = now()")
                    .update();
            awaitLocks(1);
            stopped = CompletableFuture.supplyAsync(() -> service.post(MOVE + "/stop", ""));
            awaitLocks(2);
            other.rollback();
        }
        stopped.get(LIMIT.toSeconds(), TimeUnit.SECONDS).expect(202);

        assertThat(ended().string("/state")).isEqualTo("STOPPED");
        assertThat(rows("move.stopping")).hasSize(1);
        assertThat(rows("source.moved")).isEmpty();
    }

    private void awaitLocks(int number) {
        await().atMost(LIMIT).until(() -> service.count("""
                select count(*) from pg_locks l join pg_stat_activity using (pid)
                where not l.granted and datname = current_database()
                """) == number);
    }

    @Test
    void whatHasChangedSinceTheComparisonIsNotMoved() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a");
        migrate();
        for (String change : List.of("update experiment set source_root = source_root || '2'::bytea", """
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                      entries_changed, entries_type_changed, entries_gone, percent_lost)
                select experiment_id, 1, now(), 0, 0, 0, 0, 0, 0, 0, 0, 0 from experiment
                """)) {
            long run = service.openRun().id();
            request(old, now, "").expect(202);
            await().atMost(LIMIT).until(() -> latest().string("/state").equals("WAITING"));
            service.jdbc().sql(change).update();
            service.jdbc()
                    .sql("update run set state = 'STOPPED', ended_at = now() where run_id = " + run)
                    .update();
            assertThat(ended().string("/message")).contains("was changed or backed up meanwhile");
            service.jdbc()
                    .sql("update experiment set source_root = ?")
                    .param(FilePath.rawBytes(old.resolve("E1")))
                    .update();
        }
        assertThat(rows("source.moved")).isEmpty();
    }

    @Test
    void aLabManagerMovesOwnExperimentsBelowTheRootsOnly() throws Exception {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.createUser("operator", Role.OPERATOR);
        experiment("P1", "E1", old.resolve("E1"), "a");
        experiment("P2", "E1", old.resolve("E2"), "b");
        night();
        migrate();
        write(now.resolve("E1"), "more");
        RunningService.Client lab = service.as("lab");
        lab.post(MOVE, body(old, now, "")).refused(422, "source");
        service.as("operator").post(MOVE, body(old, now, "")).expect(403);
        service.bean(Projects.class).setRoots("P1", List.of(old, now), "test");
        lab.post(MOVE, body(old.resolve("E2"), now.resolve("E2"), "")).refused(422, "from");

        lab.post(MOVE, body(old, now, "")).expect(202);

        assertThat(ended().string("/state")).isEqualTo("MOVED");
        assertThat(lab.get(MOVE).number("/same")).isOne();
        assertThat(find("P1/E1").source()).isEqualTo(now.resolve("E1"));
        assertThat(find("P2/E1").source()).as("not seen").isEqualTo(old.resolve("E2"));
        assertThat(lab.get(MOVE + "/differences").items()).isOne();
        assertThat(service.bean(SourceMoves.class).differences(Sight.of(List.of("P2")), "lab", 0, 10))
                .as("of a project that the user has left")
                .isEmpty();
        assertThat(service.bean(Projects.class).find("P1").orElseThrow().roots())
                .containsExactly(old, now);
        move("\"check\": true");
        lab.get(MOVE).expect(404);
        assertThat(lab.get(MOVE + "/differences").items()).isZero();
        lab.post(MOVE + "/stop", "").refused(409, "move");
    }

    @Test
    void anOriginMovesWithItsArrivalsAndNotInParts() throws Exception {
        for (String label : List.of("one", "two", "over")) {
            write(old.resolve("lab/20261030_" + label), "a");
        }
        Terms terms = Terms.ofTree(
                old,
                Tree.of(List.of("{project}/{date}_{label}"), List.of("quiet 0m", "marker .done")),
                "P1",
                Map.of(),
                true,
                true);
        service.bean(Origins.class).register("tree", terms, "test");
        night();
        List<Experiment> before = service.bean(Experiments.class).page(0, 10);
        assertThat(before).hasSize(3);
        Experiment over = before.stream()
                .filter(each -> each.source().endsWith("20261030_over"))
                .findFirst()
                .orElseThrow();
        Ended.dozo(service, "retire --reason over", over.name()).ends(0);
        long items = service.count("select count(*) from arrival");
        migrate();

        request(old.resolve("lab"), now.resolve("lab"), "").expect(202);
        assertThat(ended().string("/message")).contains("comes from origin tree: the whole folder");
        FileSystemUtils.deleteRecursively(old);
        assertThat(move("\"sample\": 5").string("/state")).isEqualTo("MOVED");

        assertThat(service.bean(Origins.class)
                        .find("tree")
                        .orElseThrow()
                        .terms()
                        .spool())
                .isEqualTo(now);
        assertThat(service.bean(Origins.class)
                        .find("tree")
                        .orElseThrow()
                        .terms()
                        .address())
                .isEqualTo(Terms.ofTree(now, terms.tree(), null, Map.of(), true, true)
                        .address());
        long sent = units();
        assertThat(service.backUp().state()).isEqualTo(RunState.COMPLETE);
        assertThat(units()).isEqualTo(sent);
        assertThat(service.count("select count(*) from arrival")).isEqualTo(items);
        assertThat(service.count("select count(*) from arrival where state = 'GONE'"))
                .isZero();
        assertThat(service.bean(Experiments.class).page(0, 10))
                .as("the tree finds the retired one, too")
                .allMatch(each -> each.source().startsWith(now))
                .hasSize(3);
    }

    /** The number is small here; with 2,000 it says what 20,000 take. */
    @Test
    void manyExperimentsMoveInOneTransaction() throws Exception {
        int count = Integer.getInteger("moved.experiments", 40);
        for (int i = 0; i < count; i++) {
            experiment("P1", "E" + i, old.resolve("E" + i), "a");
        }
        night();
        migrate();
        long began = System.nanoTime();

        assertThat(move("\"sample\": 1").number("/same")).isEqualTo(count);

        System.out.printf("source move: %d experiments in %.1f s%n", count, (System.nanoTime() - began) / 1e9);
        assertThat(rows("experiment.changed")).hasSize(count);
    }

    @Test
    void theFormMovesToo() throws Exception {
        experiment("P1", "E1", old.resolve("E1"), "a");
        migrate();
        assertThat(service.page(service.browser(), "/do/post/source-move")).contains("<h1>Move sources</h1>");

        service.submit(service.browser(), "/do/post/source-move", "confirmed=true&from=%s&to=%s".formatted(old, now));

        assertThat(ended().string("/state")).isEqualTo("MOVED");
    }

    private Experiment experiment(String project, String code, Path source, String... files) throws IOException {
        write(source, files);
        return service.createExperiment(project, code, source);
    }

    private static void write(Path source, String... files) throws IOException {
        Files.createDirectories(source);
        for (String file : files) {
            Files.createDirectories(source.resolve(file).getParent());
            Files.writeString(source.resolve(file), "of " + Path.of(file).getFileName());
        }
    }

    private void night() {
        assertThat(service.backUp().state()).isEqualTo(RunState.COMPLETE);
    }

    private void migrate() throws Exception {
        Ended.printed("cp", "-a", old.toString(), now.toString());
    }

    /** Gives file {@code a} of the new folder another content, at a time after the old one. */
    private void change(String code, String content, Duration later) throws IOException {
        FileTime time = Files.getLastModifiedTime(old.resolve(code + "/a"));
        Path changed = Files.writeString(now.resolve(code + "/a"), content);
        Instant instant = time.toInstant().plus(later);
        Files.setLastModifiedTime(changed, FileTime.from(instant));
    }

    private Answer move(String more) {
        request(old, now, ", " + more).expect(202);
        return ended();
    }

    private Answer request(Path from, Path to, String more) {
        return service.post(MOVE, body(from, to, more));
    }

    private static String body(Path from, Path to, String more) {
        return "{\"fromBytes\": \"%s\", \"to\": \"%s\"%s}"
                .formatted(Base64.getEncoder().encodeToString(FilePath.rawBytes(from)), to, more);
    }

    private Answer latest() {
        return service.get(MOVE);
    }

    private Answer ended() {
        await().atMost(LIMIT).until(() -> !latest().at("/goesOn").asBoolean());
        return latest();
    }

    private JsonNode difference(String experiment) {
        for (JsonNode each : service.get(MOVE + "/differences").at("/items")) {
            if (each.path("experiment").asString().equals(experiment)) {
                return each;
            }
        }
        return service.get(MOVE + "/differences").at("/none");
    }

    private Experiment find(String name) {
        return service.bean(Experiments.class).find(name).orElseThrow();
    }

    private long units() {
        return service.count("select count(*) from transfer_unit");
    }

    private List<LedgerEntry> rows(String action) {
        return service.ledger().stream()
                .filter(row -> row.action().equals(action))
                .toList();
    }
}
