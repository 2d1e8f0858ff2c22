package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.db.Campaign;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.RestoreCost;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.restore.BatchTarget;
import dozo.restore.Chosen;
import dozo.restore.Chosen.Order;
import dozo.restore.RestoreBatch;
import dozo.restore.RestoreBatches;
import dozo.restore.RestoreBatches.BatchItem;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Target;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Many experiments are restored in an order; nothing is left out, whatever fails or is killed. */
class RestoreBatchIT extends NightAtSite {

    private static final BatchTarget SOURCES = new BatchTarget.Sources();

    private Path allowed = Path.of("");

    @BeforeEach
    void open() throws IOException {
        allowed = Files.createDirectory(folder.resolve("allowed"));
    }

    @Test
    void theListIsTheOrderAndWhatFailsIsReportedAndTheRestGoesOn() throws Exception {
        register(3);
        night.complete();
        night.register("E4", Files.createDirectory(folder.resolve("E4")));
        Map<Integer, Map<FilePath, String>> sealed = sealed(3);
        lose(3);
        Trees.flip(root.resolve("p/E2/data/a"), 0);
        long row = night.get(Ledger.class).last();

        RestoreBatch ended = ended(request(listed("p/E4", "p/E3", "", " p/E2\r", "p/E1"), SOURCES));

        assertThat(ended.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(items(ended.id()))
                .extracting(BatchItem::position, BatchItem::experiment, BatchItem::state, BatchItem::message)
                .containsExactly(
                        tuple(1, "p/E4", RestoreState.FAILED, "p/E4 has no manifest: it was never backed up"),
                        tuple(2, "p/E3", RestoreState.COMPLETE, ""),
                        tuple(3, "p/E2", RestoreState.FINDINGS, ""),
                        tuple(4, "p/E1", RestoreState.COMPLETE, ""));
        assertThat(ended.complete()).isEqualTo(2);
        assertThat(ended.failed()).isEqualTo(1);
        assertThat(ended.withFindings()).isEqualTo(1);
        assertThat(ended.bytesLeft()).isZero();
        assertThat(ended.percentDone()).isEqualTo(100);
        assertThat(Snapshot.of(sourceOf(3))).isEqualTo(sealed.get(3));
        assertThat(Snapshot.of(sourceOf(1))).isEqualTo(sealed.get(1));
        assertThat(night.get(Ledger.class).after(row, 100))
                .extracting(each -> each.actor(), each -> each.action(), each -> each.subject())
                .containsExactly(
                        tuple("lab", "batch.requested", "" + ended.id()),
                        tuple("lab", "restore.requested", "p/E3"),
                        tuple(Ledger.SYSTEM, "restore.ended", "p/E3"),
                        tuple("lab", "restore.requested", "p/E2"),
                        tuple(Ledger.SYSTEM, "restore.ended", "p/E2"),
                        tuple("lab", "restore.requested", "p/E1"),
                        tuple(Ledger.SYSTEM, "restore.ended", "p/E1"),
                        tuple(Ledger.SYSTEM, "batch.ended", "" + ended.id()));

        Trees.flip(root.resolve("p/E2/data/a"), 0);
        List<Long> before = night.texts("select restore_id from restore where state = 'COMPLETE' order by 1").stream()
                .map(Long::valueOf)
                .toList();
        night.get(RestoreQueue.class).resumeBatch(Sight.EVERYTHING, ended.id(), "lab");

        RestoreBatch again = ended(ended.id());
        assertThat(again.complete()).isEqualTo(3);
        assertThat(again.failed()).as("it still has no manifest").isEqualTo(1);
        assertThat(Snapshot.of(sourceOf(2))).isEqualTo(sealed.get(2));
        assertThat(items(ended.id()))
                .extracting(BatchItem::restore)
                .as("what was complete is not repeated")
                .containsAll(before);
    }

    @Test
    void eachExperimentGetsAFolderOfItsOwnAndAsItWasThen() throws Exception {
        register(2);
        night.complete();
        Instant then = night.jdbc()
                .sql("select max(sealed_at) from manifest")
                .query((row, n) -> row.getTimestamp(1).toInstant())
                .single();
        Map<Integer, Map<FilePath, String>> sealed = sealed(2);
        Night.write(sourceOf(1), Map.of("later", "of the second manifest"));
        night.complete();

        RestoreBatch ended = ended(night.get(RestoreQueue.class)
                .requestBatch(
                        Sight.EVERYTHING,
                        new Chosen.All("p", Order.NEWEST),
                        then,
                        new BatchTarget.Below(allowed),
                        night.site(),
                        "lab"));

        assertThat(ended.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended.destination()).isEqualTo(allowed.toString());
        assertThat(Trees.names(allowed)).containsExactlyInAnyOrder("p.E1", "p.E2");
        assertThat(Snapshot.of(allowed.resolve("p.E1"))).isEqualTo(sealed.get(1));
        assertThat(Snapshot.of(allowed.resolve("p.E2"))).isEqualTo(sealed.get(2));
        RestoreBatch again = ended(request(listed("p/E2"), new BatchTarget.Below(allowed)));
        assertThat(items(again.id()))
                .as("what is there stays")
                .singleElement()
                .satisfies(item -> assertThat(item.message()).contains("p.E2 is not empty"));
        assertThat(Snapshot.of(allowed.resolve("p.E2"))).isEqualTo(sealed.get(2));
    }

    @Test
    void whatCannotBeRestoredIsRefusedBeforeAnythingBegins() throws Exception {
        register(2);
        night.complete();
        night.get(Projects.class).create("q", "", "test");

        assertThatThrownBy(() -> request(listed("p/E1", "p/E9", "E1", "q/E1", "p/E2 "), SOURCES))
                .hasMessage("there are no such experiments, by line: 2 \"p/E9\", 3 \"E1\", 4 \"q/E1\"");
        assertThatThrownBy(() -> request(
                        new Chosen.Listed(
                                IntStream.range(0, 12).mapToObj(n -> "p/X" + n).toList()),
                        SOURCES))
                .hasMessageContaining("9 \"p/X8\", 10 \"p/X9\" … (12)");
        assertThatThrownBy(() -> request(listed("p/E1", "p/E2", "p/E1"), SOURCES))
                .hasMessage("these experiments are repeated, by line: 3 \"p/E1\"");
        assertThatThrownBy(() -> request(listed(" "), SOURCES))
                .hasMessageContaining("expected 1 to 100000 experiments");
        assertThatThrownBy(() -> request(new Chosen.All("x", Order.NEWEST), SOURCES))
                .hasMessageContaining("project \"x\" does not exist");
        assertThatThrownBy(() -> requestAs(Sight.of(Set.of("q")), new Chosen.All("p", Order.NEWEST), SOURCES))
                .hasMessageContaining("project \"p\" does not exist");
        assertThatThrownBy(() -> requestAs(Sight.of(Set.of("q")), listed("p/E1"), SOURCES))
                .hasMessage("there are no such experiments, by line: 1 \"p/E1\"");
        assertThatThrownBy(() -> request(listed("p/E1"), new BatchTarget.Below(folder.resolve("elsewhere"))))
                .hasMessageContaining("is not below a restore folder of project p");
        assertThatThrownBy(() -> request(listed("p/E1"), new Target.Archive("pacs", false)))
                .hasMessage("this program has no origins");
        assertThat(night.count("select count(*) from restore_batch")).isZero();
        night.get(RestoreQueue.class).stop();
        night.update("""
                insert into restore_batch (site_id, requested_by, requested_at)
                select site_id, 'lab', now() from site, generate_series(1, 100)
                """);
        assertThatThrownBy(() -> request(listed("p/E1"), SOURCES))
                .isInstanceOfSatisfying(
                        Refusal.class,
                        refusal -> assertThat(refusal.isConflict()).isTrue());
    }

    @Test
    void othersGoBetweenAndADrillWaitsForAll() throws Exception {
        register(3);
        night.complete();
        lose(3);
        RestoreQueue queue = night.get(RestoreQueue.class);
        queue.stop();
        Experiment first = night.experiment();
        long drill = queue.requestDrill(
                        first, manifest(first), FilePath.ROOT, night.site(), folder.resolve("scratch"), "lab")
                .id();
        long batch = request(new Chosen.All(null, Order.NEWEST), SOURCES);
        long single = queue.request(
                        first, manifest(first), Selection.ALL, night.site(), allowed.resolve("single"), "lab")
                .id();
        assertThat(batch(batch).waiting()).isEqualTo(3);
        queue.start();

        assertThat(ended(batch).state()).isEqualTo(RestoreState.COMPLETE);
        RestoreQueueIT.awaitNone(night);
        assertThat(night.texts("select restore_id from restore order by started_at"))
                .hasSize(5)
                .startsWith("" + single)
                .endsWith("" + drill);
        assertThat(items(batch)).extracting(BatchItem::experiment).containsExactly("p/E3", "p/E2", "p/E1");
    }

    @Test
    void aStoppedBatchBeginsNothingMoreAndCanBeResumed() throws Exception {
        register(3);
        night.complete();
        Map<Integer, Map<FilePath, String>> sealed = sealed(3);
        lose(3);
        RestoreQueue queue = night.get(RestoreQueue.class);
        queue.stop();
        long id = request(new Chosen.All("p", Order.NEWEST), SOURCES);
        long open = waitingRestore(id);

        queue.stopBatch(Sight.EVERYTHING, id, "lab");

        assertThat(batch(id).state()).isEqualTo(RestoreState.STOPPED);
        assertThat(night.texts("select state from restore where restore_id = " + open))
                .containsExactly("STOPPED");
        assertThat(batch(id).stopped()).isEqualTo(3);
        assertThatThrownBy(() -> queue.stopBatch(Sight.EVERYTHING, id, "lab")).hasMessage("batch %d has ended", id);
        queue.start();
        assertThat(night.count("select count(*) from restore")).isEqualTo(1);

        queue.resumeBatch(Sight.EVERYTHING, id, "operator");

        assertThat(ended(id).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(sealed(3)).isEqualTo(sealed);
        assertThatThrownBy(() -> queue.resumeBatch(Sight.EVERYTHING, id, "lab"))
                .hasMessage("batch %d goes on, or is complete", id);
    }

    @Test
    void aBatchEndsWhenOneAfterTheOtherFails() throws Exception {
        register(10);
        night.complete();
        lose(10);
        List<String> key = night.texts("select host_key from site");
        night.update(
                "update site set host_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ3tZ2iI6GdQqtVxLxhvnVKe6NOfFJR5lnUyyJ8PXgJ'");

        RestoreBatch failed = ended(request(new Chosen.All("p", Order.NEWEST), SOURCES));

        assertThat(failed.state()).isEqualTo(RestoreState.FAILED);
        assertThat(failed.failed()).isEqualTo(8);
        assertThat(failed.stopped()).as("not begun").isEqualTo(2);
        night.update("update site set host_key = '%s'".formatted(key.getFirst()));
        night.get(RestoreQueue.class).resumeBatch(Sight.EVERYTHING, failed.id(), "lab");
        assertThat(ended(failed.id()).state()).isEqualTo(RestoreState.COMPLETE);
    }

    @Test
    void whoSeesOneProjectSeesItsPlacesAndStopsOnlyWhatIsItsOwn() throws Exception {
        register(2);
        night.get(Projects.class).create("q", "", "test");
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        Files.writeString(theirs.resolve("a"), "theirs");
        night.get(Experiments.class).register("q", "F1", "", theirs, "test");
        night.complete();
        RestoreQueue queue = night.get(RestoreQueue.class);
        queue.stop();
        long id = request(listed("p/E1", "q/F1", "p/E2"), SOURCES);
        RestoreBatches batches = night.get(RestoreBatches.class);
        Sight own = Sight.of(Set.of("q"));

        RestoreBatch seen = batches.find(own, id).orElseThrow();

        assertThat(seen.experiments()).isEqualTo(1);
        assertThat(seen.bytes()).isEqualTo(6);
        assertThat(batches.items(own, id, null, 0, 10))
                .extracting(BatchItem::position, BatchItem::experiment)
                .containsExactly(tuple(2, "q/F1"));
        assertThat(batches.page(own, Long.MAX_VALUE, 10)).hasSize(1);
        assertThat(batches.items(Sight.EVERYTHING, id, RestoreState.COMPLETE, 0, 10))
                .isEmpty();
        assertThatThrownBy(() -> queue.stopBatch(own, id, "lab")).hasMessageContaining("experiments of other projects");
        assertThatThrownBy(() -> queue.resumeBatch(own, id, "lab"))
                .hasMessageContaining("experiments of other projects");
        Sight stranger = Sight.of(Set.of());
        assertThat(batches.find(stranger, id)).isEmpty();
        assertThat(batches.page(stranger, Long.MAX_VALUE, 10)).isEmpty();
    }

    @Test
    void projectsWithTheNextBookingGoFirstAndTheForecastIsLearntFromWhatWasRestored() throws Exception {
        register(RestoreCost.RESTORES_MIN + 1);
        night.get(Projects.class).create("q", "", "test");
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        Files.writeString(theirs.resolve("a"), "theirs");
        night.get(Experiments.class).register("q", "F1", "", theirs, "test");
        night.complete();
        night.get(RestorePlaces.class).setRoots("q", List.of(allowed), "admin");
        night.update("update experiment set acquired_on = date '2020-01-01' + experiment_id where code like 'E%'");
        night.update("update experiment set acquired_on = '2010-01-01' where code = 'F1'");
        night.update("""
                insert into booking (accession, project_id, scheduled_on, origin, booked_at, booked_by)
                select 'A1', project_id, current_date + 1, 'csv', now(), 'lab' from project where code = 'q'
                """);
        RestoreQueue queue = night.get(RestoreQueue.class);
        queue.stop();
        long id = request(new Chosen.All(null, Order.BOOKINGS), SOURCES);
        assertThat(items(id)).extracting(BatchItem::experiment).startsWith("q/F1", "p/E6", "p/E5");
        assertThat(batch(id).forecast()).as("nothing was measured").isNull();
        queue.start();
        assertThat(ended(id).state()).isEqualTo(RestoreState.COMPLETE);
        queue.stop();

        RestoreBatch next = batch(request(new Chosen.All("p", Order.NEWEST), SOURCES));

        assertThat(items(next.id())).extracting(BatchItem::experiment).startsWith("p/E6", "p/E5", "p/E4");
        assertThat(next.waiting()).isEqualTo(6);
        assertThat(next.filesLeft()).isEqualTo(12);
        assertThat(next.forecast())
                .isNotNull()
                .satisfies(time -> assertThat(time.seconds()).isBetween(time.leastSeconds(), time.mostSeconds()));
    }

    @Test
    @Tag(Campaign.TAG)
    void nothingIsLeftOutAndNothingCompleteIsRepeatedHoweverOftenTheServiceIsKilled() throws Exception {
        int experiments = Campaign.times(15);
        int kills = Campaign.times(6);
        register(experiments);
        night.complete();
        Map<Integer, Map<FilePath, String>> sealed = sealed(experiments);
        lose(experiments);
        night.get(RestoreQueue.class).stop();
        long id = request(new Chosen.All("p", Order.NEWEST), SOURCES);
        night.close();
        // Killed after a request, in a restore, or after its end.
        List<String> places = List.of(
                "select count(*) from restore",
                "select count(*) from restore where started_at is not null",
                "select count(*) from restore where ended_at is not null");
        for (int kill = 0; kill < kills; kill++) {
            String place = places.get(kill % places.size());
            long before = count(place);
            BatchProcess.start(folder.resolve("child.log"), site.address(), database)
                    .killWhen(() -> count(place) > before);
        }

        assertThat(count("select count(*) from restore where ended_at is not null"))
                .as("killed in the middle")
                .isBetween(kills / 3L, experiments - 1L);
        night = new Night(database, site.address());
        RestoreBatch ended = ended(id);

        assertThat(ended.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended.complete()).isEqualTo(experiments);
        assertThat(sealed(experiments)).isEqualTo(sealed);
        assertThat(night.count("select count(*) from restore"))
                .as("one for each")
                .isEqualTo(experiments);
        assertThat(night.count("select count(*) from ledger where action = 'restore.ended'"))
                .isEqualTo(experiments);
        assertThat(night.count("select count(*) from ledger where action = 'batch.ended'"))
                .isEqualTo(1);
    }

    @Test
    void twentyThousandExperimentsAreOneBatch() {
        int experiments = 20_000;
        night.get(Projects.class).create("p", "", "test");
        night.get(RestoreQueue.class).stop();
        night.update("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                select project_id, 'E' || n, 'filesystem', convert_to('/nowhere/' || n, 'UTF8'), now(), 'lab'
                from project, generate_series(1, %d) n
                """.formatted(experiments));
        night.update("""
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                      entries_changed, entries_gone)
                select experiment_id, 1, now(), 1000, 100000000000, 10, 0, 1010, 0, 0 from experiment
                """);
        night.update("analyze");
        RestoreBatches batches = night.get(RestoreBatches.class);
        List<String> names = night.texts("select 'p/' || code from experiment order by code");

        long begun = System.nanoTime();
        long id = request(new Chosen.Listed(names), SOURCES);
        long accepted = System.nanoTime();
        RestoreBatch batch = batch(id);
        long found = System.nanoTime();
        List<BatchItem> last = batches.items(Sight.EVERYTHING, id, null, experiments - 100, 200);
        long listed = System.nanoTime();
        List<RestoreBatch> page = batches.page(Sight.of(Set.of("p")), Long.MAX_VALUE, 10);
        long paged = System.nanoTime();

        // NB: what is only information is not printed.
        LoggerFactory.getLogger(getClass())
                .warn(
                        "20,000 experiments: accepted in {} ms, found in {} ms, 100 listed in {} ms, page in {} ms",
                        (accepted - begun) / 1_000_000,
                        (found - accepted) / 1_000_000,
                        (listed - found) / 1_000_000,
                        (paged - listed) / 1_000_000);
        assertThat(batch.waiting()).isEqualTo(experiments);
        assertThat(batch.bytesLeft()).isEqualTo(experiments * 100_000_000_000L);
        assertThat(last).hasSize(100).last().extracting(BatchItem::experiment).isEqualTo(names.getLast());
        assertThat(page).singleElement().extracting(RestoreBatch::experiments).isEqualTo((long) experiments);
    }

    static void awaitNone(Night night) {
        Night.until(() -> night.count("select count(*) from restore_batch where ended_at is null") == 0);
    }

    private long count(String sql) {
        return JdbcClient.create(database)
                .sql(sql)
                .query((row, n) -> row.getLong(1))
                .single();
    }

    private long waitingRestore(long batch) {
        Experiment first = night.get(Experiments.class).find("p", "E3").orElseThrow();
        long id = night.get(RestoreQueue.class)
                .requestInPlace(first, manifest(first), Selection.ALL, night.site(), "lab")
                .id();
        night.update("update restore_batch_item set restore_id = %d where batch_id = %d and position = 1"
                .formatted(id, batch));
        return id;
    }

    private Manifest manifest(Experiment experiment) {
        return night.get(Manifests.class).find(experiment.id(), 1).orElseThrow();
    }

    private Path sourceOf(int n) {
        return folder.resolve("source-" + n);
    }

    /** Registers E1, E2 and so on, with two files each. */
    private void register(int experiments) throws IOException {
        for (int n = 1; n <= experiments; n++) {
            Night.write(sourceOf(n), Map.of("a", "a of " + n, "dir/b", "b of " + n));
            night.register("E" + n, sourceOf(n));
        }
        night.get(RestorePlaces.class).setRoots("p", List.of(allowed), "admin");
    }

    private Map<Integer, Map<FilePath, String>> sealed(int experiments) throws IOException {
        Map<Integer, Map<FilePath, String>> all = new TreeMap<>();
        for (int n = 1; n <= experiments; n++) {
            all.put(n, Snapshot.of(sourceOf(n)));
        }
        return all;
    }

    private void lose(int experiments) throws IOException {
        for (int n = 1; n <= experiments; n++) {
            Trees.delete(sourceOf(n));
        }
    }

    private static Chosen listed(String... names) {
        return new Chosen.Listed(List.of(names));
    }

    private long request(Chosen chosen, BatchTarget target) {
        return requestAs(Sight.EVERYTHING, chosen, target);
    }

    private long requestAs(Sight sight, Chosen chosen, BatchTarget target) {
        return night.get(RestoreQueue.class).requestBatch(sight, chosen, null, target, night.site(), "lab");
    }

    private RestoreBatch batch(long id) {
        return night.get(RestoreBatches.class).find(Sight.EVERYTHING, id).orElseThrow();
    }

    private RestoreBatch ended(long id) {
        Night.until(() -> batch(id).endedAt() != null);
        return batch(id);
    }

    private List<BatchItem> items(long id) {
        return new ArrayList<>(night.get(RestoreBatches.class).items(Sight.EVERYTHING, id, null, 0, 1_000));
    }
}
