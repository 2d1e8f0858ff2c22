package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

class LedgerTest {

    private static final Instant NOON = Instant.parse("2026-10-01T12:00:00.123456Z");

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Ledger ledger = new Ledger(jdbc, () -> NOON);

    @Test
    void rowsComeBackAsTheyWereAppended() {
        ledger.append("hanako", "experiment.registered", "p/E1", Map.of("source", "/data/\"quoted\"", "n", 7));
        ledger.append("dozo", "run.started", "1", Map.of());

        assertThat(ledger.after(0, 10)).hasSize(2).first().satisfies(row -> {
            assertThat(row.seq()).isEqualTo(1);
            assertThat(row.at()).isEqualTo(NOON);
            assertThat(row.actor()).isEqualTo("hanako");
            assertThat(row.detail()).contains("\"n\": \"7\"", "/data/\\\"quoted\\\"");
        });
        assertThat(ledger.after(1, 10)).extracting(Ledger.LedgerEntry::action).containsExactly("run.started");
        assertThat(ledger.after(0, 1)).hasSize(1);
    }

    @Test
    void theHashOfARowCoversTheOneBefore() {
        ledger.append("a", "test.done", "x", Map.of());
        ledger.append("a", "test.done", "x", Map.of());

        assertThat(jdbc.sql("select count(distinct hash) from ledger")
                        .query(Integer.class)
                        .single())
                .as("equal rows, different hashes")
                .isEqualTo(2);
    }

    @Test
    void rowsAboutAnExperimentsManifestsAreRowsAboutTheExperiment() {
        ledger.append("hanako", "experiment.registered", "p/E1", Map.of());
        ledger.append("dozo", "manifest.sealed", "p/E1#1", Map.of());
        ledger.append("dozo", "manifest.sealed", "p/E1#20", Map.of());
        ledger.append("dozo", "manifest.sealed", "p/E10#1", Map.of());
        ledger.append("hanako", "token.created", "p/E1#x", Map.of());

        assertThat(subjects("p/E1")).containsExactly("p/E1", "p/E1#1", "p/E1#20");
        assertThat(subjects("p/E1#1")).containsExactly("p/E1#1");
        assertThat(subjects("p/E")).isEmpty();
    }

    @Test
    void newestRowsComeFirstAndAreFoundByWhoDidThem() {
        assertThat(ledger.actions()).isEmpty();
        ledger.append("hanako", "test.done", "a", Map.of());
        ledger.append("taro", "test.begun", "b", Map.of());
        ledger.append("hanako", "test.done", "c", Map.of());

        Ledger.Filter hanakos = new Ledger.Filter(null, null, "hanako", null, null);
        assertThat(ledger.newest(Ledger.Filter.ALL, Long.MAX_VALUE, 2))
                .extracting(Ledger.LedgerEntry::subject)
                .containsExactly("c", "b");
        assertThat(ledger.newest(hanakos, Long.MAX_VALUE, 10))
                .extracting(Ledger.LedgerEntry::subject)
                .containsExactly("c", "a");
        assertThat(ledger.newest(hanakos, 3, 10))
                .extracting(Ledger.LedgerEntry::seq)
                .containsExactly(1L);
        assertThat(ledger.actions()).containsExactly("test.begun", "test.done");
    }

    private List<String> subjects(String wanted) {
        return ledger.page(new Ledger.Filter(wanted, null, null, null, null), 0, 10).stream()
                .map(Ledger.LedgerEntry::subject)
                .toList();
    }

    @Test
    void noConnectionIsKeptForRowsThatAreLookedUp() {
        ledger.append("a", "test.done", "x", Map.of());

        assertThat(ledger.rows(List.of(1L, 2L))).containsOnlyKeys(1L);

        // The server takes a moment to forget a closed connection.
        await().atMost(Duration.ofMinutes(5))
                .untilAsserted(() -> assertThat(
                                jdbc.sql("select count(*) from pg_stat_activity where datname = current_database()")
                                        .query(Integer.class)
                                        .single())
                        .isEqualTo(1));
    }
}
