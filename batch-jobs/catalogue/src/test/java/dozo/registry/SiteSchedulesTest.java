package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.registry.SiteSchedules.KeptSchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A site can have schedules of its own, for all experiments or for those of a project or an origin. */
class SiteSchedulesTest {

    private static final int SITE = 1;

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Ledger ledger = new Ledger(jdbc, () -> this.now);
    private final Sites sites = new Sites(jdbc, ledger, () -> this.now);
    private final SiteSchedules schedules = new SiteSchedules(jdbc, sites, ledger, () -> this.now);
    private Instant now = Instant.parse("2026-11-26T12:00:00Z");

    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into origin (name, kind, address, spool, updated_at)
                values ('p', 'dicomweb', 'http://localhost:1', '/spool', now())
                """).update();
    }

    @Test
    void aSiteHasNoneUntilTheyAreSet() {
        assertThat(schedules.of(SITE)).isEmpty();
        assertThat(schedules.set("nowhere", List.of("0 0 1 * * *"), "admin")).isEmpty();
    }

    @Test
    void theyAreKeptInOneFormWithThoseOfAllExperimentsFirst() {
        set(" origin p : 0 30 * * * * ", "project  p:0 0 12   * * mon-fri", "0 0 20 * * MON-FRI", "@daily");

        assertThat(texts())
                .containsExactly(
                        "0 0 20 * * MON-FRI", "0 0 0 * * *", "origin p: 0 30 * * * *", "project p: 0 0 12 * * MON-FRI");
        List<String> again = texts();
        set(again.toArray(String[]::new));
        assertThat(texts()).isEqualTo(again);
    }

    @Test
    void aChangeIsInTheLedgerAndOneThatChangesNothingIsNot() {
        set("0 0 20 * * *");
        set("0  0 20 * * *");
        set("project p: 0 0 12 * * *", "0 0 20 * * *");
        set();

        assertThat(ledger.after(0, 100))
                .extracting(LedgerEntry::actor, LedgerEntry::action, LedgerEntry::subject)
                .containsOnly(org.assertj.core.api.Assertions.tuple("admin", "site.schedule", "dr"));
        assertThat(ledger.after(0, 100))
                .extracting(LedgerEntry::detail)
                .containsExactly(
                        "{\"after\": \"0 0 20 * * *\", \"before\": \"\"}",
                        "{\"after\": \"0 0 20 * * *; project p: 0 0 12 * * *\", \"before\": \"0 0 20 * * *\"}",
                        "{\"after\": \"\", \"before\": \"0 0 20 * * *; project p: 0 0 12 * * *\"}");
        assertThat(texts()).isEmpty();
    }

    @Test
    void aScheduleThatStaysCountsSinceItWasSet() {
        Instant first = now;
        set("0 0 20 * * *", "project p: 0 0 12 * * *");
        now = now.plus(Duration.ofDays(3));
        set("0 0 20 * * *", "0 0 21 * * *");

        assertThat(schedules.of(SITE)).extracting(KeptSchedule::since).containsExactly(first, now);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "every night | expected second, minute, hour, day, month and weekday",
                "0 0 25 * * * | expected second, minute, hour, day, month and weekday",
                "0 1 * * * | expected second, minute, hour, day, month and weekday",
                "'' | expected second, minute, hour, day, month and weekday",
                "- | expected second, minute, hour, day, month and weekday",
                "site dr: 0 0 1 * * * | expected second, minute, hour, day, month and weekday",
                "project p: | expected second, minute, hour, day, month and weekday",
                "project: 0 0 1 * * * | expected second, minute, hour, day, month and weekday",
                "project p/E1: 0 0 1 * * * | expected second, minute, hour, day, month and weekday",
                "0 0 1 30 2 * | \"0 0 1 30 2 *\" never begins",
                "project q: 0 0 1 * * * | project \"q\" does not exist",
                "origin q: 0 0 1 * * * | origin \"q\" does not exist",
            })
    void whatIsNoScheduleIsRefusedWithWhatWasExpected(String typed, String message) {
        assertThatThrownBy(() -> set("0 0 20 * * *", typed))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining(message);
        assertThat(texts()).isEmpty();
    }

    @Test
    void theSameIsNotListedTwiceAndThereAreLimits() {
        assertThatThrownBy(() -> set("project p: 0 0 1 * * *", "origin p: 0 0 1 * * *", "project p: 0 0 1 ? * *"))
                .hasMessage("\"project p: 0 0 1 ? * *\" is listed twice");
        assertThatThrownBy(() -> set(Collections.nCopies(101, "0 0 1 * * *").toArray(String[]::new)))
                .hasMessage("expected at most 100 schedules");
        assertThatThrownBy(() -> set("0 0 1 * * " + "MON,".repeat(50) + "MON")).hasMessageContaining("expected second");
    }

    @Test
    void theyGoWithTheirSite() {
        set("0 0 20 * * *");
        jdbc.sql("delete from run").update();

        assertThat(sites.remove("dr", true, "admin")).isTrue();

        assertThat(schedules.of(SITE)).isEmpty();
    }

    private void set(String... typed) {
        assertThat(schedules.set("dr", List.of(typed), "admin")).isPresent();
    }

    private List<String> texts() {
        return schedules.of(SITE).stream().map(each -> each.schedule().text()).toList();
    }
}
