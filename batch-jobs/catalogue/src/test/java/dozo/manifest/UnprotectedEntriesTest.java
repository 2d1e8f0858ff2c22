package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.file.Entry;
import dozo.manifest.UnprotectedEntries.Sum;
import dozo.registry.RegisteredRows;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Plans from sums equal plans from entries. */
class UnprotectedEntriesTest {

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final UnprotectedEntries unprotected = new UnprotectedEntries(jdbc);

    @Test
    void sumsOfTheUnprotectedAreThoseOfItsEntries() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{2}', 20, 'VERIFIED', 1, 0);
                insert into directory values (1, 1, '');
                insert into entry
                values (1, 1, 1, 1, 10, 0, 420, 'f', 'a'), (1, 2, 1, 1, 20, 0, 420, 'f', 'safe'),
                       (1, 3, 1, 1, 30, 0, 420, 'f', 'c'), (1, 4, 1, 1, 0, 0, 493, 'd', 'folder');
                insert into ended_entry values (1, 5, 1, 1, 15, 0, 420, 'f', 'gone', 2);
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                values (1, 1, 1, 1, '{2}', sha256('x'), 'read-back', 'x', now());
                """).update();

        for (long size : List.of(0L, 9L, 10L, 29L, 30L, Long.MAX_VALUE)) {
            assertThat(unprotected.sumUpTo(1, 1, size)).as("up to %d", size).isEqualTo(sum(size));
        }
        assertThat(unprotected.sumUpTo(1, 1, 30)).isEqualTo(new Sum(3, 40));
        assertThat(unprotected.sumUpTo(1, 2, 30)).as("another site").isEqualTo(new Sum(4, 60));
    }

    private Sum sum(long size) {
        try (Stream<Entry> entries = unprotected.stream(1, 1, 0)) {
            List<Entry> small =
                    entries.filter(entry -> entry.facts().sizeBytes() <= size).toList();
            return new Sum(
                    small.size(),
                    small.stream().mapToLong(entry -> entry.facts().sizeBytes()).sum());
        }
    }
}
