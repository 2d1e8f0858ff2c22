package dozo.record;

import static java.util.Objects.requireNonNull;

import dozo.record.CatalogueTables.Table;
import dozo.record.Loading.Base;
import dozo.record.Loading.Broken;
import dozo.registry.Refusal;
import dozo.remote.RemoteException;
import java.io.IOException;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;

/** Loads experiments from their own records, each in one transaction: manifests, folders, entries, and what was proven of them. */
final class ExperimentLoading {

    private static final Logger LOG = LoggerFactory.getLogger(ExperimentLoading.class);

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final PlatformTransactionManager transactions;
    private final InstantSource clock;

    ExperimentLoading(JdbcTemplate template, PlatformTransactionManager transactions, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.transactions = transactions;
        this.clock = clock;
    }

    /**
     * Loads an experiment from its own records.
     *
     * @return empty: all of it is there; otherwise why its records cannot be used
     */
    Optional<Broken> load(RecordChain chain, Base base, int id, String name) throws IOException, InterruptedException {
        try {
            Loading.inTransaction(transactions, TransactionDefinition.withDefaults(), () -> {
                Long known = base.segments().get(id);
                // One without a manifest has no records.
                if (known != null || chain.has(name)) {
                    segments(chain, id, name, base.header().site(), known == null ? 0 : known);
                }
                return name;
            });
            return Optional.empty();
        } catch (Refusal | DamagedRecord | DataAccessException | RemoteException e) {
            if (e instanceof RemoteException site && !isOfOneFile(site)) {
                throw site;
            }
            LOG.warn("the records of {} cannot be used: {}", name, e.getMessage());
            // Nothing is known of what is safe, so it is not said to be.
            jdbc.sql("""
                            update coverage set until = greatest(since, :now)
                            where experiment_id = :experiment and until = 'infinity'
                            """)
                    .param("experiment", id)
                    .param("now", Timestamp.from(clock.instant()))
                    .update();
            return Optional.of(new Broken(id, name, String.valueOf(e.getMessage())));
        }
    }

    /** Returns whether the site answers, but does not give this record. */
    private static boolean isOfOneFile(RemoteException e) {
        return switch (e.reason()) {
            case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED -> true;
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL -> false;
        };
    }

    private void segments(RecordChain chain, int id, String name, int siteId, long known)
            throws IOException, InterruptedException {
        Map<String, Table> tables = CatalogueTables.all(jdbc).stream()
                .filter(table -> CatalogueTables.OF_EXPERIMENTS.contains(table.name()))
                .collect(Collectors.toMap(Table::name, table -> table));
        for (String table : tables.keySet()) {
            jdbc.sql("create temp table loading_%1$s (like %1$s including defaults) on commit drop".formatted(table))
                    .update();
            jdbc.sql("alter table loading_%s alter experiment_id set default %d".formatted(table, id))
                    .update();
        }
        jdbc.sql("alter table loading_found_copy alter site_id set default %d, drop column found_id".formatted(siteId))
                .update();
        jdbc.sql(
                        "create temp table loading_ended (entry_no integer primary key, until_manifest integer) on commit drop")
                .update();
        chain.experiment(name, known, table -> {
            Table there = tables.get(table.name());
            if (there == null && !table.name().equals(Loading.ENDED)) {
                throw new Refusal("records", "the table %s is not one of an experiment", table.name());
            }
            Loading.copyIn(template, table, there == null ? Loading.ENDED_COLUMNS : there.columns());
        });
        keep(id, tables);
    }

    private void keep(int id, Map<String, Table> tables) {
        insertAll(requireNonNull(tables.get("ended_entry")), _ -> true);
        jdbc.sql("""
                        insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                                 name, until_manifest)
                        select e.experiment_id, e.entry_no, e.directory_no, e.since_manifest, e.size_bytes, e.modified_ns, e.mode, e.kind,
                               e.name, x.until_manifest
                        from loading_entry e join loading_ended x using (entry_no)
                        """).update();
        jdbc.sql("delete from loading_entry e using loading_ended x where x.entry_no = e.entry_no")
                .update();
        for (String table : CatalogueTables.OF_EXPERIMENTS) {
            if (!table.equals("ended_entry") && !table.equals("directory")) {
                insertAll(requireNonNull(tables.get(table)), column -> !column.equals("found_id"));
            }
        }
        // Without a fingerprint: the next look at the source compares each folder entry by entry.
        jdbc.sql("""
                        insert into directory (experiment_id, directory_no, path, entries, first_entry_no, last_entry_no)
                        select d.experiment_id, d.directory_no, d.path,
                               case when d.path = ''::bytea or f.entries is not null or d.path in (
                                        select entry_path(p.path, e.name)
                                        from entry e join loading_directory p using (directory_no)
                                        where e.experiment_id = :experiment and e.kind = 'd')
                                    then coalesce(f.entries, 0) end,
                               coalesce(f.first_no, 0), coalesce(f.last_no, 0)
                        from loading_directory d
                        left join (select directory_no, count(*)::integer as entries,
                                          min(entry_no) filter (where since_manifest = 1) as first_no,
                                          max(entry_no) filter (where since_manifest = 1) as last_no
                                   from entry where experiment_id = :experiment group by directory_no) f using (directory_no)
                        """).param("experiment", id).update();
        jdbc.sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                                entries_safe, unprotected_since, tags_unknown, counted_at)
                        select m.experiment_id, s.site_id, m.manifest_no, m.files, m.bytes, m.files + m.folders + m.links, 0, 0, 0,
                               (select sealed_at from loading_manifest where manifest_no = 1), true, :now
                        from loading_manifest m cross join site s
                        where m.manifest_no = (select max(manifest_no) from loading_manifest)
                        """).param("now", Timestamp.from(clock.instant())).update();
    }

    private void insertAll(Table table, Predicate<String> which) {
        String columns = table.columns().stream().filter(which).collect(Collectors.joining(", "));
        jdbc.sql("insert into %1$s (%2$s) overriding system value select %2$s from loading_%1$s"
                        .formatted(table.name(), columns))
                .update();
    }
}
