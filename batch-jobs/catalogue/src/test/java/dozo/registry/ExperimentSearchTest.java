package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.ExperimentOrder.Place;
import dozo.registry.ExperimentOrder.Sort;
import dozo.registry.ExperimentSearch.Filter;
import dozo.registry.ExperimentSearch.Found;
import dozo.registry.ExperimentSearch.Held;
import dozo.registry.ExperimentSearch.Risk;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.ExperimentSearch.Sums;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Experiments are found by what people remember about them, a page at a time. */
class ExperimentSearchTest {

    private static final InstantSource CLOCK = () -> Instant.parse("2026-11-21T12:00:00Z");
    private static final int SITE = 1;

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Experiments experiments = new Experiments(jdbc, new Projects(jdbc, ledger, CLOCK), ledger, CLOCK);
    private final ExperimentSearch search = new ExperimentSearch(jdbc, new RiskSettings(Duration.ofDays(3)), CLOCK);

    @BeforeEach
    void register() {
        jdbc.sql("""
                insert into project (code, created_at) values ('Vision', now()), ('Motor', now());
                insert into experiment (project_id, code, title, source_kind, source_root, modality, scanner, acquired_on,
                                        registered_at, registered_by)
                values (1, 'E1', 'First_visit', 'filesystem', '/1', 'MR', 'T7', '2026-09-30', now(), 'x'),
                       (1, 'E2', '視覚野 100%', 'filesystem', '/2', 'MR', 'T3', '2026-10-01', now(), 'x'),
                       (2, 'E3', '', 'filesystem', '/3', 'MEG', null, null, now(), 'x'),
                       (2, 'Vis-4', 'back\\slash', 'filesystem', '/4', null, 'T7', '2026-10-02', now(), 'x');
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                """).update();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "first | E1",
                "t_v | E1",
                "视 | ",
                "覚 | E2",
                "視覚野 | E2",
                "0% | E2",
                "k\\s | Vis-4",
                "vis | E1 E2 Vis-4",
                "vision/ | E1 E2",
                "VISION/e2 | E2",
                "motor/e | E3",
                "MOT | E3 Vis-4",
                "e1' or ''=' | ",
                "% | E2"
            })
    void textIsFoundInCodeTitleAndProject(String text, @Nullable String codes) {
        assertThat(codes(new Filter(text, null, null, null, null, null, null, null)))
                .containsExactly(codes == null ? new String[0] : codes.split(" "));
    }

    @Test
    void whatIsWantedTogetherIsFoundTogether() {
        assertThat(codes(new Filter(null, "Vision", "MR", null, null, null, null, null)))
                .containsExactly("E1", "E2");
        assertThat(codes(new Filter(null, null, null, "T7", null, null, null, null)))
                .containsExactly("E1", "Vis-4");
        assertThat(codes(new Filter("vis", "Motor", null, "T7", null, null, null, null)))
                .containsExactly("Vis-4");
        LocalDate first = LocalDate.of(2026, 10, 1);
        assertThat(codes(new Filter(null, null, null, null, first, null, null, null)))
                .containsExactly("E2", "Vis-4");
        assertThat(codes(new Filter(null, null, null, null, null, first, null, null)))
                .containsExactly("E1", "E2");
        assertThat(codes(new Filter(null, null, null, null, first, first, null, null)))
                .containsExactly("E2");
        assertThat(codes(new Filter(null, "Nix", null, null, null, null, null, null)))
                .isEmpty();
    }

    @Test
    void anExperimentIsInTheFirstStateThatHolds() {
        assertThat(states()).as("nothing is sealed").containsExactly("PLANNED", "PLANNED", "PLANNED", "PLANNED");

        seal("E1", "1", "null");
        seal("E2", "0", "'2026-11-19T12:00:00Z'");
        seal("E3", "0", "'2026-11-18T12:00:00Z'");
        assertThat(states()).containsExactly("VERIFIED", "COMPLETE", "COMPLETE", "PLANNED");

        int run = run("null");
        jdbc.sql("""
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1}', 1, 'PLANNED', :run, 0), (2, 1, 'BUNDLE', '{1}', 1, 'PLANNED', :run, 0),
                       (3, 1, 'BUNDLE', '{1}', 1, 'FAILED', :run, 0)
                """).param("run", run).update();
        assertThat(states())
                .as("a unit that failed is not sent any more")
                .containsExactly("VERIFIED", "COPYING", "COMPLETE", "PLANNED");
        jdbc.sql("update run set state = 'FAILED', ended_at = now()").update();
        assertThat(states()).as("no run sends it").containsExactly("VERIFIED", "COMPLETE", "COMPLETE", "PLANNED");

        arriving("E1", "ARRIVING");
        arriving("E2", "COMPLETE");
        arriving("Vis-4", "ARRIVING");
        assertThat(states()).containsExactly("ARRIVING", "COMPLETE", "COMPLETE", "ARRIVING");
    }

    @Test
    void whatHasWaitedTooLongIsLateUntilAllHasReceipts() {
        seal("E1", "0", "'2026-11-18T12:00:00Z'");
        seal("E2", "0", "'2026-11-18T11:59:59Z'");
        seal("E3", "1", "'2026-10-01T00:00:00Z'");

        assertThat(states()).containsExactly("COMPLETE", "LATE", "VERIFIED", "PLANNED");
    }

    @Test
    void aFindingThatKeepsFromTheCopyPutsAtRiskUntilItIsAcknowledged() {
        seal("E1", "1", "null");
        seal("E2", "1", "null");
        find("E1", "SPECIAL");
        find("E2", "UNREADABLE");
        find("E3", "SOURCE_MISSING");
        find("Vis-4", "UNREADABLE");
        assertThat(states())
                .as("where nothing was ever sealed, the source has not come yet")
                .containsExactly("VERIFIED", "BLOCKED", "PLANNED", "BLOCKED");

        arriving("E2", "ARRIVING");
        find("E1", "SOURCE_MISSING");
        assertThat(states()).containsExactly("SOURCE_MISSING", "BLOCKED", "PLANNED", "BLOCKED");

        jdbc.sql("update finding set superseded_by = run_id where reason = 'SOURCE_MISSING'")
                .update();
        jdbc.sql("""
                insert into acknowledgement (finding_id, acknowledged_by, acknowledged_at, reason)
                select finding_id, 'x', now(), 'known' from finding where reason = 'UNREADABLE'
                """).update();
        assertThat(states()).containsExactly("VERIFIED", "ARRIVING", "PLANNED", "PLANNED");
    }

    @Test
    void aStateIsThatAtTheSite() {
        seal("E1", "1", "null");
        find("E2", "DAMAGED");

        assertThat(search.state(1, SITE)).isEqualTo(State.VERIFIED);
        assertThat(search.page(Sight.EVERYTHING, Filter.ALL, 0, 0, 10))
                .as("at no site")
                .extracting(Found::state)
                .containsOnly(State.PLANNED);
    }

    /** Each further risk of one experiment is graver than those before. */
    @Test
    void theGravestTroubleIsTheState() {
        seal("E1", "0", "'2026-10-01T00:00:00Z'");
        seal("E2", "0", "'2026-10-01T00:00:00Z'");
        find("E1", "UNREADABLE");
        assertThat(states()).startsWith("LATE", "LATE");

        find("E1", "SOURCE_EMPTY");
        assertThat(states()).startsWith("SOURCE_MISSING", "LATE");

        jdbc.sql("""
                insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                values (1, 1, now(), 1, 1, 'x')
                """).update();
        assertThat(states()).startsWith("FROZEN", "LATE");

        damage("E1");
        assertThat(states()).startsWith("DAMAGED", "LATE");
        assertThat(search.state(1, 0)).as("at no site").isEqualTo(State.FROZEN);

        jdbc.sql("""
                insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                         name, until_manifest)
                values (1, 1, 1, 1, 1, 0, 420, 'f', 'a', 2)
                """).update();
        assertThat(states()).startsWith("LOST", "LATE");
        assertThat(search.risks(Sight.EVERYTHING, SITE, 1))
                .containsExactly(
                        new Risk(State.LOST, 1, List.of("Vision/E1")), new Risk(State.LATE, 1, List.of("Vision/E2")));
    }

    @Test
    void risksAreCountedAndTheFirstOfEachStateAreNamed() {
        for (String code : List.of("E1", "E2", "E3")) {
            seal(code, "1", "null");
            find(code, "UNREADABLE");
            find(code, "UNPROVEN");
        }
        damage("E3");

        assertThat(search.risks(Sight.EVERYTHING, SITE, 1))
                .containsExactly(
                        new Risk(State.DAMAGED, 1, List.of("Motor/E3")),
                        new Risk(State.BLOCKED, 2, List.of("Vision/E1")));
        assertThat(search.risks(Sight.of(Set.of("Motor")), SITE, 10))
                .extracting(Risk::first)
                .containsExactly(List.of("Motor/E3"));
        assertThat(search.risks(Sight.EVERYTHING, 0, 10)).isEmpty();
    }

    /** Returns the states as listed, and checks that each state's filter finds the same. */
    private List<String> states() {
        List<Found> all = search.page(Sight.EVERYTHING, Filter.ALL, SITE, 0, 10);
        for (State state : State.values()) {
            assertThat(codes(inState(state)))
                    .as("found as %s", state)
                    .isEqualTo(all.stream()
                            .filter(each ->
                                    state == State.AT_RISK ? each.state().atRisk() : each.state() == state)
                            .map(each -> each.experiment().code())
                            .toList());
        }
        return all.stream().map(each -> each.state().name()).toList();
    }

    /** An experiment of one file at the site. */
    private void seal(String code, String safe, String since) {
        jdbc.sql("""
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, unprotected_since, counted_at)
                select experiment_id, 1, 1, 1, 1, 1, %1$s, %1$s, %1$s, %2$s, now() from experiment where code = :code
                """.formatted(safe, since)).param("code", code).update();
    }

    private void find(String code, String reason) {
        jdbc.sql("""
                insert into finding (run_id, experiment_id, reason, message, found_at)
                select :run, experiment_id, :reason, 'x', now() from experiment where code = :code
                """)
                .param("run", run("now()"))
                .param("reason", reason)
                .param("code", code)
                .update();
    }

    /** The experiment's first entry was proven and is damaged since. */
    private void damage(String code) {
        jdbc.sql("""
                with unit as (
                    insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                    select experiment_id, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', :run, 0 from experiment where code = :code
                    returning *
                ),
                receipt as (
                    insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                    select experiment_id, 1, unit_id, run_id, '{1}', decode(repeat('00', 32), 'hex'), 'x', 'x', now() from unit
                    returning *
                )
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                select experiment_id, 1, 1, receipt_id, run_id, now(), 'ALTERED' from receipt
                """).param("run", run("now()")).param("code", code).update();
    }

    /** A run to the site that ended at this time. */
    private int run(String ended) {
        return jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                        values ('nightlyBackup', 1, case when %1$s is null then 'RUNNING' else 'FINDINGS' end, 'x', now(), %1$s)
                        returning run_id
                        """.formatted(ended)).query(Integer.class).single();
    }

    private void arriving(String code, String state) {
        jdbc.sql("""
                insert into origin (name, kind, address, spool, active, updated_at)
                values ('fw', 'flywheel', 'https://flywheel.example.org', '/spool', false, now()) on conflict do nothing
                """).update();
        jdbc.sql("""
                insert into arrival (origin_id, item, state, code, waiting, first_seen_at, changed_at, experiment_id)
                select origin_id, e.code, :state, e.code, false, now(), now(), e.experiment_id
                from origin, experiment e where e.code = :code
                """).param("state", state).param("code", code).update();
    }

    @Test
    void pagesFollowEachOther() {
        assertThat(search.page(Sight.EVERYTHING, Filter.ALL, SITE, 0, 3))
                .extracting(found -> found.experiment().id())
                .containsExactly(1, 2, 3);
        assertThat(search.page(Sight.EVERYTHING, Filter.ALL, SITE, 3, 3))
                .extracting(found -> found.experiment().id())
                .containsExactly(4);
    }

    /** With equal and unknown values, in both directions, also backwards: every experiment once, in the same order. */
    @ParameterizedTest
    @EnumSource(Sort.class)
    void pagesOfAnyOrderFollowEachOther(Sort sort) {
        seal("E1", "1", "null");
        seal("E2", "0", "'2026-11-19T12:00:00Z'");
        find("Vis-4", "UNREADABLE");
        for (boolean descending : new boolean[] {false, true}) {
            ExperimentOrder order = new ExperimentOrder(sort, descending);
            for (Filter wanted : List.of(Filter.ALL, inState(State.PLANNED))) {
                List<Found> all = search.page(Sight.EVERYTHING, wanted, SITE, order, null, 10);
                assertThat(all).hasSize(wanted == Filter.ALL ? 4 : 1);
                assertThat(search.page(Sight.EVERYTHING, wanted, SITE, order.reversed(), null, 10))
                        .isEqualTo(all.reversed());
                for (int i = 0; i < all.size(); i++) {
                    Place read = Place.of(sort, all.get(i).place().toString());
                    assertThat(search.page(Sight.EVERYTHING, wanted, SITE, order, read, 10))
                            .as("after %s", read)
                            .isEqualTo(all.subList(i + 1, all.size()));
                }
            }
        }
    }

    @Test
    void experimentsAreSortedByWhatTheListShows() {
        seal("E1", "1", "null");
        seal("E2", "0", "'2026-11-19T12:00:00Z'");
        jdbc.sql("update protection set bytes = 10000000000, files = 7 where experiment_id = 2")
                .update();
        find("Vis-4", "DAMAGED");

        assertThat(sorted("-registered")).containsExactly("Vis-4", "E3", "E2", "E1");
        assertThat(sorted("name")).containsExactly("E3", "Vis-4", "E1", "E2");
        assertThat(sorted("title")).containsExactly("E3", "Vis-4", "E1", "E2");
        assertThat(sorted("-modality")).containsExactly("E2", "E1", "E3", "Vis-4");
        assertThat(sorted("scanner")).containsExactly("E3", "E2", "E1", "Vis-4");
        assertThat(sorted("-acquired")).containsExactly("Vis-4", "E2", "E1", "E3");
        assertThat(sorted("state")).containsExactly("Vis-4", "E2", "E3", "E1");
        assertThat(sorted("-files")).startsWith("E2", "E1");
        assertThat(sorted("-size")).startsWith("E2", "E1");
        assertThat(sorted("safe")).containsExactly("E3", "Vis-4", "E2", "E1");
    }

    private List<String> sorted(String order) {
        return search.page(Sight.EVERYTHING, Filter.ALL, SITE, ExperimentOrder.of(order), null, 10).stream()
                .map(found -> found.experiment().code())
                .toList();
    }

    @Test
    void whatWasFoundIsSummedUpWhateverThePage() {
        seal("E1", "1", "null");
        seal("E2", "0", "'2026-11-19T12:00:00Z'");

        assertThat(search.sums(Sight.EVERYTHING, Filter.ALL, SITE)).isEqualTo(new Sums(4, 1, 2, 1));
        assertThat(search.sums(Sight.EVERYTHING, inState(State.COMPLETE), SITE)).isEqualTo(new Sums(1, 0, 1, 0));
        assertThat(search.sums(Sight.of(Set.of("Motor")), Filter.ALL, SITE)).isEqualTo(new Sums(2, 0, 0, 0));
        assertThat(search.sums(Sight.EVERYTHING, Filter.ALL, 0)).isEqualTo(new Sums(4, 0, 0, 0));
        assertThat(search.page(Sight.EVERYTHING, Filter.ALL, SITE, 0, 3))
                .extracting(Found::held)
                .containsExactly(new Held(1, 1, 1, true), new Held(1, 1, 0, false), null);
    }

    @ParameterizedTest
    @CsvSource({"SIZE, 1", "SIZE, 1.YWJj", "SIZE, 1.*", "REGISTERED, x", "REGISTERED, 1.MQ", "TITLE, x.MQ", "TITLE, ''"
    })
    void anAddressThatIsNoPlaceInTheOrderIsRefused(Sort sort, String place) {
        assertThatThrownBy(() -> Place.of(sort, place))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("after"));
        assertThatThrownBy(() -> ExperimentOrder.of("--size")).isInstanceOf(Refusal.class);
    }

    @Test
    void aTextThatIsTooLongOrNoLineIsRefused() {
        assertThat(codes(new Filter("x".repeat(200), null, null, null, null, null, null, null)))
                .isEmpty();
        for (String text : List.of("x".repeat(201), "a\0", "a\nb")) {
            assertThatThrownBy(() -> new Filter(text, null, null, null, null, null, null, null))
                    .isInstanceOfSatisfying(
                            Refusal.class,
                            refusal -> assertThat(refusal.field()).isEqualTo("q"));
        }
    }

    /** The embedded server has the extension; without it the search gives the same results more slowly. */
    @Test
    void wordsAreFoundByAnIndexAmongTwentyThousand() {
        jdbc.sql("""
                insert into experiment (project_id, code, title, source_kind, source_root, registered_at, registered_by)
                select 1 + n % 2, 'X' || n, '視覚野の実験 subject ' || n, 'filesystem', convert_to('/x' || n, 'UTF8'), now(), 'x'
                from generate_series(1, 20000) n;
                analyze experiment;
                """).update();

        assertThat(codes(new Filter("ject 19999", null, null, null, null, null, null, null)))
                .containsExactly("X19999");
        List<String> plan = jdbc.sql("""
                        explain select experiment_id from experiment e
                        where experiment_id > 0
                          and (lower(e.code || ' ' || e.title) like '%ject 19999%' or project_id = any('{}'::int[]))
                        order by experiment_id limit 101
                        """).query(String.class).list();
        assertThat(String.join("\n", plan)).contains("experiment_words");
    }

    @Test
    void aPartOfTheSourcesPathIsFoundByteByByte() {
        source("E1", "/data/meg/Tanaka_1", StandardCharsets.UTF_8);
        source("E2", "/data/視覚/x", Charset.forName("EUC-JP"));
        source("E3", "/data/視覚/x", StandardCharsets.UTF_8);
        source("Vis-4", "/data/50%/back\\slash", StandardCharsets.UTF_8);

        assertThat(codes(source("meg/Tanaka"))).containsExactly("E1");
        assertThat(codes(source("meg/tanaka"))).as("paths are bytes").isEmpty();
        assertThat(codes(source("anaka_"))).containsExactly("E1");
        assertThat(codes(source("T_naka"))).as("no pattern").isEmpty();
        assertThat(codes(source("50%/back\\s"))).containsExactly("Vis-4");
        assertThat(codes(source("視覚/"))).as("as it is shown, in any encoding").containsExactly("E2", "E3");
        assertThat(codes(source("350"))).as("no number that stands for a byte").isEmpty();
        assertThat(codes(new Filter("/data/meg", null, null, null, null, null, null, null)))
                .containsExactly("E1");
        assertThat(codes(new Filter("Tanaka", null, null, null, null, null, null, null)))
                .as("a text without / is not looked for in paths")
                .isEmpty();
        assertThat(codes(new Filter("視覚/x", "Vision", null, null, null, null, null, null)))
                .containsExactly("E2");
        assertThat(search.page(Sight.of(List.of("Motor")), source("/data/"), SITE, 0, 10))
                .extracting(found -> found.experiment().code())
                .containsExactly("E3", "Vis-4");
        for (Sort by : Sort.values()) {
            assertThat(search.page(Sight.EVERYTHING, source("meg/"), SITE, new ExperimentOrder(by, false), null, 10))
                    .hasSize(1);
        }
        assertThat(search.sums(Sight.EVERYTHING, source("/data/"), SITE).experiments())
                .isEqualTo(4);
        assertThatThrownBy(() -> source("a\nb")).isInstanceOf(Refusal.class);
    }

    /** A path that is longer than an index row is found, too. */
    @Test
    void partsOfPathsAreFoundByAnIndex() {
        jdbc.sql("""
                        insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                        select 1, 'X' || n, 'filesystem', convert_to('/data/subject/' || n || repeat('/deep', 20), 'UTF8'), now(), 'x'
                        from generate_series(1, 20000) n
                        """).update();
        source("E1", "/data" + "/very".repeat(800) + "/deepest", StandardCharsets.UTF_8);
        jdbc.sql("analyze experiment").update();
        assertThat(codes(source("ject/19999/"))).containsExactly("X19999");
        assertThat(codes(source("very/deepest"))).containsExactly("E1");
        List<String> plan = jdbc.sql("""
                        explain select experiment_id from experiment e
                        where experiment_id > 0
                          and (lower(e.code || ' ' || e.title) like '%ject/19999/%' or lower(e.subject) like 'ject/19999/%'
                               or project_id = any('{}'::int[])
                               or (encode(e.source_root, 'escape') like any('{%ject/19999/%}'::text[])
                                   and has_part(e.source_root, array['ject/19999/'::bytea])))
                        order by experiment_id limit 101
                        """).query(String.class).list();
        assertThat(String.join("\n", plan)).contains("experiment_source_parts", "experiment_words");
    }

    private void source(String code, String path, Charset written) {
        jdbc.sql("update experiment set source_root = :root where code = :code")
                .param("root", path.getBytes(written))
                .param("code", code)
                .update();
    }

    private static Filter source(String part) {
        return new Filter(null, null, null, null, null, null, null, part);
    }

    /** A page of experiments must not cost a look at all findings for each of them. */
    @Test
    void theRisksOfOneExperimentCostNoLookAtThoseOfOthers() {
        List<String> plan = jdbc.sql("""
                        explain select e.experiment_id,
                                       (select min(x.risk) from risks(1, now(), '3 days') x where x.experiment_id = e.experiment_id)
                        from experiment e
                        """).query(String.class).list();
        assertThat(String.join("\n", plan))
                .as("PostgreSQL expands the function")
                .contains("experiment_id = e.experiment_id")
                .doesNotContain("Function Scan on risks");
    }

    private static Filter inState(State state) {
        return new Filter(null, null, null, null, null, null, state, null);
    }

    private List<String> codes(Filter wanted) {
        return search.page(Sight.EVERYTHING, wanted, SITE, 0, 10).stream()
                .map(found -> found.experiment().code())
                .toList();
    }
}
