package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.ledger.Sight;
import dozo.registry.Retirements.Asked;
import dozo.registry.Retirements.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A mark that says that everything was verified is true, and large projects are retired at once. */
class RetirementsTest {

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, InstantSource.system());
    private final Retirements retirements = new Retirements(jdbc, ledger, InstantSource.system());

    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        protect(3, 3);
    }

    @Test
    void whatIsSealedInTheMeantimeIsCounted() {
        Future<?> retired = Race.behind(
                database,
                () -> jdbc.sql("select from experiment for share")
                                .query()
                                .listOfRows()
                                .size()
                        + protect(4, 3),
                () -> retirements.retire(Kind.PROJECT, "p", new Asked("closed", false, "boss")));

        assertThatThrownBy(retired::get).hasMessageContaining("p/E1: 1 of 4 files, folders and links");
        assertThat(retirements.page(Sight.EVERYTHING, "", 10)).isEmpty();
    }

    @Test
    void aProjectOfManyExperimentsIsRetiredAndBroughtBackAtOnce() {
        jdbc.sql("""
                        insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                        select 1, 'M' || n, 'filesystem', convert_to('/m' || n, 'UTF8'), now(), 'test' from generate_series(1, 20000) n
                        """).update();
        Instant begun = Instant.now();

        retirements.retire(Kind.PROJECT, "p", new Asked("closed", true, "boss")).orElseThrow();
        assertThat(jdbc.sql("select count(*) from experiment where retired_with_project and retired_unsafe is not null")
                        .query(Long.class)
                        .single())
                .isEqualTo(20_000);
        assertThat(retirements.unretire(Kind.PROJECT, "p", "boss")).isTrue();

        assertThat(Duration.between(begun, Instant.now())).isLessThan(Duration.ofSeconds(60));
        assertThat(retirements.page(Sight.EVERYTHING, "", 10)).isEmpty();
        assertThat(ledger.after(0, 3))
                .extracting(LedgerEntry::action, LedgerEntry::subject)
                .containsExactly(
                        tuple("project.retired", "p"),
                        tuple("experiment.retired", "p/E1"),
                        tuple("experiment.retired", "p/M1"));
        assertThat(ledger.last()).isEqualTo(2 * 20_002);
    }

    @Test
    void aSiteIsNotRetiredBehindTheBackOfARunThatBegins() {
        jdbc.sql("update run set state = 'COMPLETE', ended_at = now()").update();
        Sites sites = new Sites(jdbc, ledger, InstantSource.system());

        Future<?> retired = Race.behind(
                database, () -> jdbc.sql("""
                                insert into run (kind, site_id, state, requested_by, started_at)
                                values ('nightlyBackup', 1, 'RUNNING', 'test', now())
                                """).update(), () -> sites.retire("dr", new Asked("old", true, "boss")));

        assertThatThrownBy(retired::get).hasMessageContaining("a run is using site dr");
    }

    private int protect(int entries, int safe) {
        return jdbc.sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                                entries_safe, counted_at)
                        values (1, 1, 1, :entries, 1, :entries, :safe, 1, :safe, now())
                        on conflict (experiment_id, site_id) do update set files = excluded.files, entries = excluded.entries
                        """).param("entries", entries).param("safe", safe).update();
    }
}
