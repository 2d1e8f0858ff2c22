package dozo.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Arrivals.Filter;
import dozo.collect.Arrivals.State;
import dozo.collect.Origins.Origin;
import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.unit.DataSize;

/** A dismissed proposal stays dismissed, whatever happens to it in its origin, with the name of who dismissed it. */
class DismissalsTest {

    private static final String WHY = "ファントム";

    @TempDir
    static Path folder;

    private static final DataSource DATABASE = TestDatabase.fresh();
    private static final JdbcClient JDBC = JdbcClient.create(DATABASE);
    private static final InstantSource CLOCK = InstantSource.system();
    private static final Ledger LEDGER = new Ledger(JDBC, CLOCK);
    private static final Projects PROJECTS = new Projects(JDBC, LEDGER, CLOCK);
    private static final Origins ORIGINS = new Origins(
            JDBC,
            PROJECTS,
            List.of(new FlywheelCollector(
                    new CollectSettings(
                            Duration.ofHours(1),
                            1,
                            Duration.ofSeconds(1),
                            Duration.ofSeconds(1),
                            DataSize.ofBytes(0),
                            Duration.ZERO,
                            Duration.ofHours(1),
                            DataSize.ofBytes(1)),
                    CLOCK)),
            LEDGER,
            CLOCK);
    private static final Arrivals ARRIVALS =
            new Arrivals(JDBC, new Experiments(JDBC, PROJECTS, LEDGER, CLOCK), ORIGINS, LEDGER, CLOCK);
    private static final Dismissals DISMISSALS = new Dismissals(JDBC, ARRIVALS, LEDGER, CLOCK);
    private Origin origin;

    @BeforeAll
    static void create() {
        PROJECTS.create("p", "", "test");
        PROJECTS.create("q", "", "test");
    }

    @BeforeEach
    void open() {
        JDBC.sql("delete from arrival").update();
        origin = save(false);
        ARRIVALS.told(origin, offers("a label"), Set.of("a", "b"));
    }

    @Test
    void whatIsDismissedIsNoProposalAndWaitsForNoNight() {
        Arrival dismissed =
                DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), WHY, "lab").orElseThrow();

        assertThat(dismissed.state()).isEqualTo(State.DISMISSED);
        assertThat(dismissed.waiting()).isFalse();
        assertThat(dismissed.dismissal()).extracting("by", "reason").containsExactly("lab", WHY);
        assertThat(items(new Filter(null, null, true, null))).containsExactly("b");
        assertThat(items(new Filter(null, null, null, true))).containsExactly("a");
        assertThat(items(Filter.ALL)).containsExactly("a", "b");
        assertThat(ARRIVALS.count(Sight.EVERYTHING, new Arrivals.Filter(null, null, null, true)))
                .isEqualTo(1);
        assertThat(ARRIVALS.dismissed(origin)).isEqualTo(1);
        assertThat(ARRIVALS.nextWaiting(1, origin)).map(Arrival::item).contains("b");
    }

    @Test
    void itStaysDismissedWhenItChangesIsGoneComesBackOrNobodyIsAskedAnyMore() {
        DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), WHY, "lab");

        ARRIVALS.told(origin, offers("another label"), Set.of("a"));
        assertThat(find("a"))
                .extracting(Arrival::state, Arrival::title, Arrival::waiting)
                .containsExactly(State.DISMISSED, "another label", false);

        ARRIVALS.gone(origin, List.of(offer("b", "b")));
        assertThat(find("a").state()).isEqualTo(State.GONE);
        assertThat(ARRIVALS.dismissed(origin)).as("the origin does not have it").isZero();

        ARRIVALS.told(origin, offers("a third label"), Set.of("a"));
        save(true);
        assertThat(find("a")).extracting(Arrival::state, Arrival::waiting).containsExactly(State.DISMISSED, false);
    }

    @Test
    void takenBackItIsAProposalThatTheNextNightDescribes() {
        DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), WHY, "lab");
        assertThatThrownBy(() -> ARRIVALS.accept(Sight.EVERYTHING, id("a"), Acceptance.AS_PROPOSED, "lab"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("undo the dismissal first");

        Arrival again = DISMISSALS.takeBack(Sight.EVERYTHING, id("a"), "op").orElseThrow();

        assertThat(again)
                .extracting(Arrival::state, Arrival::waiting, Arrival::dismissal)
                .containsExactly(State.OFFERED, true, null);
        assertThat(ARRIVALS.accept(Sight.EVERYTHING, id("a"), Acceptance.AS_PROPOSED, "lab"))
                .isPresent();
    }

    @Test
    void anExperimentIsNotDismissedAndNothingIsTwice() {
        ARRIVALS.accept(Sight.EVERYTHING, id("b"), Acceptance.AS_PROPOSED, "lab");
        assertThatThrownBy(() -> DISMISSALS.dismiss(Sight.EVERYTHING, id("b"), WHY, "lab"))
                .hasMessageContaining("is already an experiment");
        assertThatThrownBy(() -> DISMISSALS.takeBack(Sight.EVERYTHING, id("a"), "lab"))
                .hasMessageContaining("is not dismissed");
        DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), WHY, "lab");
        assertThatThrownBy(() -> DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), WHY, "op"))
                .hasMessageContaining("has already been dismissed by lab");
    }

    @Test
    void whatAnotherPersonIsJustAcceptingIsNotDismissed() {
        long id = tell("d");

        Future<?> dismissed =
                Race.behind(DATABASE, () -> accept(id), () -> DISMISSALS.dismiss(Sight.EVERYTHING, id, WHY, "op"));

        assertThatThrownBy(dismissed::get)
                .cause()
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("is already an experiment");
        assertThat(find("d").dismissal()).isNull();
    }

    @Test
    void whatAnotherPersonIsJustAcceptingIsNotAcceptedTwice() {
        long id = tell("e");

        Future<?> accepted = Race.behind(DATABASE, () -> accept(id), () -> accept(id));

        assertThatThrownBy(accepted::get)
                .cause()
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("is already experiment p/fw-e");
    }

    /** Whoever registered it may dismiss it, or accept it as a second experiment. */
    @Test
    void whatWasRegisteredFromAFolderIsNotAcceptedAutomatically() {
        ARRIVALS.told(origin, List.of(offer("c", "c")), Set.of("c"));
        JDBC.sql("""
                with own as (
                    insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                    select project_id, 'from-folder', 'filesystem', '/data/x', now(), 'lab' from project where code = 'p'
                    returning experiment_id)
                insert into experiment_study (experiment_id, study_uid, noted_at) select experiment_id, 'c', now() from own
                """).update();

        assertThatThrownBy(() -> ARRIVALS.acceptAutomatically(find("c")))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("p/from-folder");
        assertThat(find("c").experiment()).isNull();
        JDBC.sql("delete from experiment_study").update();
        ARRIVALS.acceptAutomatically(find("c"));
        assertThat(find("c").experiment()).startsWith("p/");
    }

    @Test
    void ofAForeignProjectItIsAsIfItWereNotThere() {
        Sight foreign = Sight.of(List.of("q"));

        assertThat(DISMISSALS.dismiss(foreign, id("a"), WHY, "lab")).isEmpty();
        assertThat(DISMISSALS.takeBack(foreign, id("a"), "lab")).isEmpty();
        DISMISSALS.dismiss(Sight.of(List.of("p")), id("a"), WHY, "lab");
        assertThat(ARRIVALS.count(foreign, new Arrivals.Filter(null, null, null, true)))
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "two\nlines"})
    void whyIsOneLine(String reason) {
        assertThatThrownBy(() -> DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), reason, "lab"))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("reason"));
        assertThatThrownBy(() -> DISMISSALS.dismiss(Sight.EVERYTHING, id("a"), "x".repeat(501), "lab"))
                .hasMessageContaining("1 to 500");
    }

    private long tell(String item) {
        ARRIVALS.told(origin, List.of(offer(item, item)), Set.of(item));
        return id(item);
    }

    private static Optional<Experiment> accept(long id) {
        return ARRIVALS.accept(Sight.EVERYTHING, id, Acceptance.AS_PROPOSED, "lab");
    }

    private Origin save(boolean automatic) {
        try {
            Path key = Files.writeString(folder.resolve("key"), "localhost:1:__force_insecure:a-key-for-tests");
            Path spool = Files.createDirectories(folder.resolve("spool"));
            URI address = URI.create("http://localhost:1");
            Terms terms =
                    new Terms(OriginKind.FLYWHEEL, address, key, List.of(), spool, "p", Map.of(), automatic, true);
            return ORIGINS.save("fw", terms, "test");
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private List<String> items(Filter wanted) {
        return ARRIVALS.page(Sight.EVERYTHING, wanted, 0, 10).stream()
                .map(Arrival::item)
                .toList();
    }

    private Arrival find(String item) {
        return ARRIVALS.page(Sight.EVERYTHING, Filter.ALL, 0, 10).stream()
                .filter(each -> each.item().equals(item))
                .findFirst()
                .orElseThrow();
    }

    private long id(String item) {
        return find(item).id();
    }

    private static List<Offer> offers(String label) {
        return List.of(offer("a", label), offer("b", "b"));
    }

    private static Offer offer(String item, String label) {
        return new Offer(item, null, "fw-" + item, label, Acquisition.UNKNOWN, null, null, null);
    }
}
