package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.registry.ExperimentSearch.Found;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.ExperimentSearch.Wanted;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Experiments are found by what is remembered of them, a page at a time. */
class ExperimentSearchTest {

    private static final InstantSource CLOCK = () -> Instant.parse("2026-11-21T12:00:00Z");
    private static final int SITE = 1;

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Experiments experiments = new Experiments(jdbc, new Projects(jdbc, ledger, CLOCK), ledger, CLOCK);
    private final ExperimentSearch search = new ExperimentSearch(jdbc);

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
        assertThat(codes(new Wanted(text, null, null, null, null, null, null)))
                .containsExactly(codes == null ? new String[0] : codes.split(" "));
    }

    @Test
    void whatIsWantedTogetherIsFoundTogether() {
        assertThat(codes(new Wanted(null, "Vision", "MR", null, null, null, null)))
                .containsExactly("E1", "E2");
        assertThat(codes(new Wanted(null, null, null, "T7", null, null, null))).containsExactly("E1", "Vis-4");
        assertThat(codes(new Wanted("vis", "Motor", null, "T7", null, null, null)))
                .containsExactly("Vis-4");
        LocalDate first = LocalDate.of(2026, 10, 1);
        assertThat(codes(new Wanted(null, null, null, null, first, null, null))).containsExactly("E2", "Vis-4");
        assertThat(codes(new Wanted(null, null, null, null, null, first, null))).containsExactly("E1", "E2");
        assertThat(codes(new Wanted(null, null, null, null, first, first, null)))
                .containsExactly("E2");
        assertThat(codes(new Wanted(null, "Nix", null, null, null, null, null))).isEmpty();
    }

    @Test
    void aStateIsThatAtTheSite() {
        jdbc.sql("""
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, unprotected_since, counted_at)
                values (1, 1, 1, 1, 1, 1, 1, 1, 1, null, now()), (2, 1, 1, 1, 1, 1, 0, 0, 0, now(), now());
                """).update();

        assertThat(codes(inState(State.SAFE))).containsExactly("E1");
        assertThat(codes(inState(State.NOT_SAFE))).containsExactly("E2");
        assertThat(codes(inState(State.UNSEEN))).containsExactly("E3", "Vis-4");
        assertThat(search.page(Wanted.ALL, SITE, 0, 10))
                .extracting(Found::state)
                .containsExactly(State.SAFE, State.NOT_SAFE, State.UNSEEN, State.UNSEEN);
        assertThat(search.page(inState(State.UNSEEN), 0, 0, 10))
                .as("at no site")
                .hasSize(4);
    }

    @Test
    void pagesFollowEachOther() {
        assertThat(search.page(Wanted.ALL, SITE, 0, 3))
                .extracting(found -> found.experiment().id())
                .containsExactly(1, 2, 3);
        assertThat(search.page(Wanted.ALL, SITE, 3, 3))
                .extracting(found -> found.experiment().id())
                .containsExactly(4);
    }

    @Test
    void aTextThatIsTooLongOrNoLineIsRefused() {
        assertThat(codes(new Wanted("x".repeat(200), null, null, null, null, null, null)))
                .isEmpty();
        for (String text : List.of("x".repeat(201), "a\0", "a\nb")) {
            assertThatThrownBy(() -> new Wanted(text, null, null, null, null, null, null))
                    .isInstanceOfSatisfying(
                            Refusal.class,
                            refusal -> assertThat(refusal.field()).isEqualTo("q"));
        }
    }

    /** The embedded server has the extension; where one has it not, the search is the same and slower. */
    @Test
    void wordsAreFoundByAnIndexAmongTwentyThousand() {
        jdbc.sql("""
                insert into experiment (project_id, code, title, source_kind, source_root, registered_at, registered_by)
                select 1 + n % 2, 'X' || n, '視覚野の実験 subject ' || n, 'filesystem', convert_to('/x' || n, 'UTF8'), now(), 'x'
                from generate_series(1, 20000) n;
                analyze experiment;
                """).update();

        assertThat(codes(new Wanted("ject 19999", null, null, null, null, null, null)))
                .containsExactly("X19999");
        List<String> plan = jdbc.sql("""
                        explain select experiment_id from experiment e
                        where experiment_id > 0
                          and (lower(e.code || ' ' || e.title) like '%ject 19999%' or project_id = any('{}'::int[]))
                        order by experiment_id limit 101
                        """).query((row, n) -> row.getString(1)).list();
        assertThat(String.join("\n", plan)).contains("experiment_words");
    }

    private static Wanted inState(State state) {
        return new Wanted(null, null, null, null, null, null, state);
    }

    private List<String> codes(Wanted wanted) {
        return search.page(wanted, SITE, 0, 10).stream()
                .map(found -> found.experiment().code())
                .toList();
    }
}
