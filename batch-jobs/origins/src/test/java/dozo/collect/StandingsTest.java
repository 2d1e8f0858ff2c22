package dozo.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.collect.Origins.Origin;
import dozo.collect.Standings.Items;
import dozo.collect.Standings.Next;
import dozo.collect.Standings.Standing;
import dozo.db.TestDatabase;
import dozo.ledger.Findings;
import dozo.ledger.Ledger;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.remote.HungMount;
import dozo.remote.SiteAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.unit.DataSize;

/** Every origin shows its result and the next action; and nobody overwrites another user's change. */
class StandingsTest {

    private static final CollectSettings SETTINGS = new CollectSettings(
            Duration.ofHours(1),
            1,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            DataSize.ofBytes(0),
            Duration.ZERO,
            Duration.ofHours(1),
            DataSize.ofBytes(1));
    private static final InstantSource CLOCK = InstantSource.system();
    private static final URI ADDRESS = URI.create("http://localhost:1");

    @TempDir
    Path folder;

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Projects projects = new Projects(jdbc, ledger, CLOCK);
    private final Origins origins =
            new Origins(jdbc, projects, List.of(new FlywheelCollector(SETTINGS, CLOCK)), ledger, CLOCK);
    private final Arrivals arrivals =
            new Arrivals(jdbc, new Experiments(jdbc, projects, ledger, CLOCK), origins, ledger, CLOCK);
    private final Reconciliations reconciliations =
            new Reconciliations(new JdbcTemplate(database), new Findings(new JdbcTemplate(database), CLOCK), CLOCK);

    private Path spool;
    private Origin origin;

    @BeforeEach
    void register() throws Exception {
        spool = Files.createDirectories(folder.resolve("spool"));
        Files.writeString(folder.resolve("key"), "localhost:1:a-key-as-flywheel-shows-it");
        new Sites(jdbc, ledger, CLOCK)
                .save(
                        "dr",
                        new SiteAddress("127.0.0.1", 1, "dozo", "/dr", folder.resolve("key"), "ssh-ed25519 AAAA"),
                        "test");
        origin = origins.register("fw", terms(true), "test");
    }

    @Test
    void whatComesNextIsSaidFromTheFirstLookOn() throws Exception {
        assertThat(standing(DataSize.ofBytes(0)).next()).isEqualTo(Next.UNSEEN);

        arrivals.told(origin, List.of(offer("a"), offer("b"), offer("c")), Set.of("a", "b", "c"));
        arrivals.gone(origin, List.of(offer("a"), offer("b")));
        jdbc.sql("update arrival set waiting = (item = 'a')").update();
        jdbc.sql(
                        "update arrival set dismissed_at = now(), dismissed_by = 'lab', dismissed_reason = 'x' where item = 'b'")
                .update();
        reconciled("EMPTY");

        Standing standing = standing(DataSize.ofBytes(0));
        assertThat(standing.items()).isEqualTo(new Items(2, 1, 0, 1, 1, 1));
        assertThat(standing.next()).isEqualTo(Next.OFFERED);
        assertThat(standing.roomBytes()).isPositive();
    }

    @Test
    void whatIsWrongComesBeforeProposals() throws Exception {
        arrivals.told(origin, List.of(offer("a")), Set.of("a"));
        reconciled("DIFFERS");
        assertThat(standing(DataSize.ofBytes(0)).next()).isEqualTo(Next.DIFFERS);
        assertThat(standing(DataSize.ofTerabytes(1_000_000)).next()).isEqualTo(Next.FULL);
        reconciled("UNUSABLE");
        assertThat(standing(DataSize.ofTerabytes(1_000_000)).next()).isEqualTo(Next.UNUSABLE);

        Files.delete(spool);
        assertThat(standing(DataSize.ofBytes(0)))
                .extracting(Standing::next, Standing::roomBytes)
                .containsExactly(Next.NO_SPOOL, null);
        Files.createDirectories(spool);
        origins.save("fw", terms(false), "test");
        assertThat(standing(DataSize.ofBytes(0)).next()).isEqualTo(Next.INACTIVE);
    }

    @Test
    @Timeout(40)
    void spoolsThatDoNotAnswerAreAskedAllAtTheSameTimeAndHoldUpNobody() throws Exception {
        Path[] hung = new Path[10];
        for (int n = 0; n < hung.length; n++) {
            hung[n] = Files.createDirectories(folder.resolve("nfs/" + n));
            origins.register("hung" + n, terms(hung[n], true), "test");
        }
        try (HungMount mount = new HungMount(folder.resolve("nfs"))) {
            List<Standing> standings = standings(DataSize.ofBytes(0));

            assertThat(standings).hasSize(1 + hung.length);
            assertThat(standings.getFirst().next()).isEqualTo(Next.UNSEEN);
            assertThat(standings.subList(1, 11))
                    .extracting(Standing::next, Standing::roomBytes)
                    .containsOnly(tuple(Next.NO_SPOOL, null));
        }
    }

    @Test
    void whoSawWhatSomebodyHasChangedSinceChangesNothing() {
        Instant seen = origin.updatedAt();
        origins.change("fw", seen, terms(false), "one");

        assertThatThrownBy(() -> origins.change("fw", seen, terms(true), "other"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("was changed after you loaded the page");
        assertThatThrownBy(() -> origins.register("fw", terms(true), "other"))
                .isInstanceOfSatisfying(
                        Refusal.class, refused -> assertThat(refused.field()).isEqualTo("name"));
        assertThat(origins.find("fw").orElseThrow().terms().active()).isFalse();
    }

    private Standing standing(DataSize roomLeft) {
        return standings(roomLeft).getFirst();
    }

    private List<Standing> standings(DataSize roomLeft) {
        CollectSettings settings = new CollectSettings(
                Duration.ofHours(1),
                1,
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                roomLeft,
                Duration.ZERO,
                Duration.ofHours(1),
                DataSize.ofBytes(1));
        return new Standings(jdbc, origins, reconciliations, new Room(jdbc, settings, CLOCK)).page("", 20);
    }

    private void reconciled(String state) {
        long run = jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                        select 'nightlyBackup', site_id, 'COMPLETE', 't', now(), now() from site returning run_id
                        """).query(Long.class).single();
        jdbc.sql("""
                        insert into reconciliation (run_id, origin_id, state, began_at, ended_at)
                        values (:run, :origin, :state, now(), now())
                        """)
                .param("run", run)
                .param("origin", origin.id())
                .param("state", state)
                .update();
    }

    private Terms terms(boolean active) {
        return terms(spool, active);
    }

    private Terms terms(Path spool, boolean active) {
        Path key = folder.resolve("key");
        return new Terms(OriginKind.FLYWHEEL, ADDRESS, key, List.of(), spool, null, Map.of(), false, active);
    }

    private static Offer offer(String item) {
        return new Offer(item, null, "fw-" + item, item, Acquisition.UNKNOWN, null, null, null);
    }
}
