package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import dozo.ledger.Sight;
import dozo.registry.Holds;
import dozo.registry.Holds.Hold;
import dozo.registry.Refusal;
import dozo.registry.RegisteredRows;
import dozo.registry.Sites;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** While a hold stands, nothing about its experiments is deleted; it ends once, with a reason. */
class HoldsTest {

    private static final Instant NOW = Instant.parse("2026-11-27T00:00:00Z");
    private static final String REASON = "request of Yamada";

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private Instant now = NOW;
    private final Ledger ledger = new Ledger(jdbc, () -> now);
    private final Holds holds = new Holds(jdbc, ledger, () -> now);
    private final Retention retention = new Retention(jdbc, new RetentionSettings(Duration.ofDays(400)), () -> now);

    /** Experiment 1 has old details that retention deletes; experiment 2 of the same project has the same. */
    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E2', 'filesystem', '/other', now(), 'test');
                update run set state = 'FINDINGS', started_at = '2025-01-01T00:00Z', ended_at = '2025-01-01T01:00Z';
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                values ('nightlyBackup', 1, 'COMPLETE', 'test', '2025-01-02T00:00Z', '2025-01-02T01:00Z');
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, counted_at, settled_unit)
                select e, 1, 1, 1, 1, 1, 1, 1, 1, now(), 100 from generate_series(1, 2) e;
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no, attempts)
                select e, 1, 'BUNDLE', '{1}', 10, 'VERIFIED', 1, 0, 1 from generate_series(1, 2) e;
                insert into finding (run_id, experiment_id, reason, message, found_at, superseded_by)
                select 1, e, 'UNREADABLE', '', '2025-01-01T00:30Z', 2 from generate_series(1, 2) e;
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select e, 1, e, 1, '{1}', sha256('a'), 'm', 'w', '2025-01-01T00:10Z' from generate_series(1, 2) e;
                insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method)
                select e, 1, day::timestamptz, 1, 1, false, 'm'
                from generate_series(1, 2) e, unnest('{2025-01-03,2025-01-04}'::text[]) day;
                """).update();
    }

    @Test
    void whileAHoldStandsRetentionDeletesNothingOfItsExperiment() {
        Hold hold = holds.place("p", 1, REASON, null, "admin");

        retention.prune(() -> true);

        assertThat(left()).isEqualTo("units 1, findings 1, links 1, readings 3");
        holds.end(hold.id(), "closed", "admin");
        retention.prune(() -> true);
        assertThat(left()).isEqualTo("units 0, findings 0, links 0, readings 2");
    }

    @Test
    void aHoldOnAProjectIsOnAllItsExperiments() {
        Hold hold = holds.place("p", null, REASON, null, "admin");

        assertThat(holds.on(1)).contains(hold);
        assertThat(holds.on(2)).contains(hold);
        retention.prune(() -> true);
        assertThat(left()).isEqualTo("units 2, findings 2, links 2, readings 4");
        assertThatThrownBy(() -> holds.refuseIfHeld(2))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("hold 1 stands on p (by admin: request of Yamada)");
    }

    @Test
    void aSiteWithCopiesOfAHeldExperimentIsNotRemoved() {
        Sites sites = new Sites(jdbc, ledger, () -> now);
        Hold hold = holds.place("p", 1, REASON, null, "admin");

        assertThatThrownBy(() -> sites.remove("dr", true, "admin")).hasMessageContaining("hold 1 stands on p/E1");
        assertThat(sites.find("dr")).isPresent();
        holds.end(hold.id(), "closed", "admin");
        assertThat(sites.remove("dr", true, "admin")).isTrue();
    }

    @Test
    void aHoldStandsUntilItsTimeIsOver() {
        holds.place("p", 1, REASON, NOW.plusSeconds(60), "admin");
        assertThat(holds.on(1)).isPresent();
        assertThat(holds.on(2)).isEmpty();

        now = NOW.plusSeconds(60);
        assertThat(holds.on(1)).isEmpty();
        assertThat(holds.page(Sight.EVERYTHING, false, Long.MAX_VALUE, 10)).isEmpty();
        assertThat(holds.page(Sight.EVERYTHING, true, Long.MAX_VALUE, 10)).hasSize(1);
        assertThatThrownBy(() -> holds.place("p", 1, REASON, now, "admin"))
                .hasMessageContaining("expected a time in the future");
    }

    @Test
    void aHoldIsEndedOnceAndWithAReason() {
        Hold hold = holds.place("p", 1, REASON, null, "admin");

        assertThatThrownBy(() -> holds.end(hold.id(), " ", "admin")).hasMessageContaining("expected a reason");
        assertThat(holds.on(1)).isPresent();
        Hold ended = holds.end(hold.id(), "closed", "boss").orElseThrow();
        assertThat(ended.endedBy()).isEqualTo("boss");
        assertThat(ended.endReason()).isEqualTo("closed");
        assertThat(ended.stands()).isFalse();
        assertThatThrownBy(() -> holds.end(hold.id(), "again", "admin")).hasMessageContaining("was ended before");
        assertThat(holds.end(99, "none", "admin")).isEmpty();
        assertThatThrownBy(() -> jdbc.sql("update hold set end_reason = 'x'").update())
                .hasMessageContaining("rows of hold are evidence");
        assertThatThrownBy(() -> jdbc.sql("delete from hold").update()).hasMessageContaining("evidence");
    }

    @Test
    void theLedgerHasWhoAndWhatButNotTheWords() {
        Hold hold = holds.place("p", 1, REASON, null, "admin");
        holds.end(hold.id(), "closed by Yamada", "boss");

        assertThat(ledger.page(new Filter("p/E1", null, null, null, null), 0, 10))
                .extracting(row -> row.actor() + " " + row.action())
                .containsExactly("admin hold.placed", "boss hold.ended");
        assertThat(ledger.after(0, 10)).noneMatch(row -> row.detail().contains("Yamada"));
    }

    @Test
    void holdsOfOtherProjectsAreNotSeen() {
        Hold hold = holds.place("p", null, REASON, null, "admin");

        assertThat(holds.page(Sight.of(List.of("q")), true, Long.MAX_VALUE, 10)).isEmpty();
        assertThat(holds.find(Sight.of(List.of("q")), hold.id())).isEmpty();
        assertThat(holds.page(Sight.of(List.of("p")), true, Long.MAX_VALUE, 10)).containsExactly(hold);
        assertThatThrownBy(() -> holds.place("none", null, REASON, null, "admin"))
                .hasMessageContaining("project \"none\" does not exist");
    }

    private String left() {
        return "units %d, findings %d, links %d, readings %d"
                .formatted(count("transfer_unit"), count("finding"), count("run_finding"), count("reading"));
    }

    private long count(String table) {
        return jdbc.sql("select count(*) from " + table).query(Long.class).single();
    }
}
