package dozo.record;

import dozo.file.Digest;
import dozo.record.CatalogueTables.Reference;
import dozo.record.CatalogueTables.Table;
import dozo.registry.Refusal;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;

/**
 * Fills an empty database from a site's records: first from the base records, then each experiment from its own.
 * Nothing of a record is kept before its signature was checked. Nothing is proven afterwards: what was is in
 * {@code found_copy}.
 */
@Component
public class Loading {

    /** Sections that are not tables: entries that ended since the record before, and the last record of each experiment. */
    static final String ENDED = "ended";

    static final List<String> ENDED_COLUMNS = List.of("entry_no", "until_manifest");

    static final String SEGMENTS = "segments";
    static final List<String> SEGMENT_COLUMNS = List.of("experiment_id", "number");

    /** What refers to manifests comes after them. */
    private static final String MANIFEST = "manifest";

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final PlatformTransactionManager transactions;
    private final ExperimentLoading ofExperiments;

    /** An experiment whose own records cannot be used: it has no manifest in the database. */
    public record Broken(int id, String experiment, String reason) {}

    /**
     * What was loaded.
     *
     * @param writtenAt when the base record was written
     * @param unusable why something of the base records was left out, for people
     * @param signers SHA-256 of the keys, in DER, that had signed the records
     */
    public record Loaded(
            int siteId,
            Instant writtenAt,
            int experiments,
            List<Broken> broken,
            List<String> unusable,
            Set<Digest> signers) {

        /** Returns the signers for people. */
        public String signedWith() {
            return signers.stream().map(Digest::toString).sorted().collect(Collectors.joining(", "));
        }
    }

    public Loading(JdbcTemplate template, PlatformTransactionManager transactions, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.transactions = transactions;
        this.ofExperiments = new ExperimentLoading(template, transactions, clock);
    }

    /**
     * Loads everything.
     *
     * @param identity the text of a file with private keys, as {@code age-keygen} and the service write it
     * @param signers SHA-256 of the keys, in DER, that may have signed: the fingerprints that
     * {@code dozo certificate-key} prints; empty: any
     * @throws Refusal if the database is not empty, or the keys are wrong, or a newer Dozo wrote the records: nothing was loaded then
     * @throws DamagedRecord if no base record can be used: nothing was loaded then
     */
    public Loaded load(RecordFiles files, String identity, Set<Digest> signers)
            throws IOException, InterruptedException {
        List<String> identities = RecoveryKey.identities(identity);
        if (identities.isEmpty()) {
            throw new Refusal("identity", "expected a private key: a line that begins with AGE-SECRET-KEY-1");
        }
        List<Table> tables = CatalogueTables.ofBase(jdbc);
        requireEmpty(tables);
        RecordChain chain = new RecordChain(files, Records.schema(jdbc), identities, signers, transactions);
        Set<String> late = afterManifests(tables);
        Base base = inTransaction(() -> base(
                chain,
                tables.stream().filter(table -> !late.contains(table.name())).toList(),
                false));
        List<Broken> broken = new ArrayList<>();
        Map<Integer, String> experiments = experiments();
        for (Map.Entry<Integer, String> experiment : experiments.entrySet()) {
            ofExperiments
                    .load(chain, base, experiment.getKey(), experiment.getValue())
                    .ifPresent(broken::add);
        }
        inTransaction(() -> {
            base(
                    chain,
                    tables.stream().filter(table -> late.contains(table.name())).toList(),
                    true);
            endWhatIsOpen(base.header.writtenAt());
            return base;
        });
        jdbc.sql("select analyze_catalogue()").query((row, n) -> 0).list();
        return new Loaded(
                base.header.site(),
                base.header.writtenAt(),
                experiments.size() - broken.size(),
                broken,
                List.copyOf(chain.unusable()),
                Set.copyOf(chain.signedBy()));
    }

    private void requireEmpty(List<Table> tables) {
        for (Table table : tables) {
            if (jdbc.sql("select exists (select from %s)".formatted(table.name()))
                    .query(Boolean.class)
                    .single()) {
                throw Refusal.conflict(
                        "database", "the database is not empty: the table %s has rows; use a new one", table.name());
            }
        }
    }

    /** Returns the tables that refer to manifests, also through others. */
    private static Set<String> afterManifests(List<Table> tables) {
        Set<String> late = new HashSet<>(Set.of(MANIFEST));
        for (Table table : tables) {
            if (table.references().stream().map(Reference::table).anyMatch(late::contains)) {
                late.add(table.name());
            }
        }
        return late;
    }

    /**
     * The base records together.
     *
     * @param header of the last one
     * @param segments the last record of each experiment that it knows
     */
    record Base(Header header, Map<Integer, Long> segments) {}

    /**
     * Loads these tables from all base records. The last one is read first: its rows are the ones to keep, and tables
     * that are written whole are taken from it, or from the latest that has them.
     *
     * @param perhaps whether what they refer to may not be there; then those rows are left out
     */
    private Base base(RecordChain chain, List<Table> tables, boolean perhaps) throws IOException, InterruptedException {
        Map<String, Table> wanted = tables.stream().collect(Collectors.toMap(Table::name, table -> table));
        for (Table table : tables) {
            jdbc.sql("""
                            create temp table loading_%1$s (like %1$s including defaults, loading_no bigint generated always as identity)
                            on commit drop
                            """.formatted(table.name())).update();
        }
        jdbc.sql("create temp table loading_segments (experiment_id integer, number bigint) on commit drop")
                .update();
        Set<String> complete = new HashSet<>();
        Set<String> here = new HashSet<>();
        Header last = chain.base(
                table -> {
                    Table known = wanted.get(table.name());
                    boolean isSegments = table.name().equals(SEGMENTS);
                    if (complete.contains(table.name()) || (known == null && !isSegments)) {
                        table.rows().transferTo(OutputStream.nullOutputStream());
                        return;
                    }
                    copyIn(template, table, known == null ? SEGMENT_COLUMNS : known.columns());
                    if (known == null || !known.grows()) {
                        here.add(table.name());
                    }
                },
                usable -> {
                    if (usable) {
                        complete.addAll(here);
                    }
                    here.clear();
                });
        if (!chain.unusable().isEmpty()) {
            closeGaps(wanted.keySet(), chain.unusable());
        }
        for (Table table : tables) {
            insert(table, perhaps, !chain.unusable().isEmpty());
        }
        if (wanted.containsKey("site")) {
            requireSite(last.site(), chain.unusable());
        }
        if (wanted.containsKey("ledger")) {
            checkLedger(last);
            jdbc.sql("""
                            delete from run_finding f using run_sum s
                            where s.run_id = f.run_id and s.partition_no is null
                            """).update();
        }
        advance(last.sequences());
        Map<Integer, Long> segments = new HashMap<>();
        jdbc.sql("select experiment_id, number from loading_segments")
                .query((row, n) -> segments.put(row.getInt(1), row.getLong(2)))
                .list();
        return new Base(last, segments);
    }

    /** The ledger ends before a row that is missing; no run is the retry of one, or open although a later one began. */
    private void closeGaps(Set<String> tables, Set<String> unusable) {
        if (tables.contains("run")) {
            jdbc.sql("delete from loading_run where retry_of not in (select run_id from loading_run)")
                    .update();
            jdbc.sql("""
                            update loading_run set state = 'STOPPED', ended_at = started_at, paused_by = null, paused_at = null,
                                                   message = 'its end is in no record that can be used'
                            where ended_at is null and run_id < (select max(run_id) from loading_run)
                            """).update();
        }
        if (tables.contains("ledger")) {
            int left = jdbc.sql("""
                            delete from loading_ledger where seq not in (
                                select seq from (select seq, row_number() over (order by seq) as n
                                                 from (select distinct seq from loading_ledger) each) numbered
                                where seq = n)
                            """).update();
            if (left > 0) {
                unusable.add("the ledger ends before a row that is missing; %,d later rows of it were left out"
                        .formatted(left));
            }
        }
    }

    private void requireSite(int site, Set<String> unusable) {
        if (!jdbc.sql("select exists (select from site where site_id = :site)")
                .param("site", site)
                .query(Boolean.class)
                .single()) {
            throw new DamagedRecord(
                    "the base records that can be used do not describe the site: " + String.join("; ", unusable));
        }
    }

    /** Loads the rows of a table of a record into a temporary table, if it has no other columns than these. */
    static void copyIn(JdbcTemplate template, RecordReader.Table table, List<String> allowed) {
        if (!allowed.containsAll(table.columns())) {
            throw new Refusal("records", "the table %s of a record has columns that it must not have", table.name());
        }
        String copy = "copy loading_%s (%s) from stdin".formatted(table.name(), String.join(", ", table.columns()));
        try {
            template.execute((ConnectionCallback<Long>) connection -> {
                try {
                    return connection.unwrap(PGConnection.class).getCopyAPI().copyIn(copy, table.rows());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (DataAccessException e) {
            throw new Refusal(
                    "records",
                    "the table %s of a record cannot be loaded: %s",
                    table.name(),
                    String.valueOf(e.getMessage()));
        }
    }

    /**
     * Inserts the latest version of each row, in the order of the key. A row that refers to a manifest that is not there
     * is left out; with gaps, one that refers to any row that is not there.
     */
    private void insert(Table table, boolean perhaps, boolean gaps) {
        String there = !perhaps && !gaps
                ? ""
                : table.references().stream()
                        .map(reference -> "and ((%1$s) is null or (%1$s) in (select %2$s from %3$s))"
                                .formatted(reference.columns(), reference.theirs(), reference.table()))
                        .collect(Collectors.joining(" "));
        // A trigger has written the links of the findings already. With gaps, rows may be as they were before others
        // were added.
        String again = gaps || table.name().equals("run_finding") ? " on conflict do nothing" : "";
        jdbc.sql("""
                        insert into %1$s (%2$s) overriding system value
                        select %2$s from (select distinct on (%3$s) * from loading_%1$s order by %3$s, loading_no) latest
                        where true %4$s order by %3$s%5$s
                        """.formatted(table.name(), table.listed(), table.keyed(), there, again))
                .update();
    }

    /** The trigger has computed the numbers and hashes anew: the chain is right if they are those of the record. */
    private void checkLedger(Header header) {
        Optional<Long> wrong = jdbc.sql("""
                        select min(s.seq) from loading_ledger s left join ledger l using (seq)
                        where l.hash is distinct from s.hash
                        """)
                .query((row, n) -> row.getObject(1) == null ? Optional.<Long>empty() : Optional.of(row.getLong(1)))
                .single();
        if (wrong.isPresent()) {
            throw new Refusal(
                    "records",
                    "the ledger in the records up to %s is not a whole chain: row %d does not follow the one before it",
                    header.file(),
                    wrong.get());
        }
    }

    /** Numbers that were given are not given again, also in tables that stay empty; nor those that triggers took since. */
    private void advance(Map<String, Long> sequences) {
        sequences.forEach((name, value) -> jdbc.sql("""
                        select setval(format('%I.%I', schemaname, sequencename)::regclass, greatest(:value, last_value))
                        from pg_sequences
                        where schemaname = current_schema() and sequencename = :name
                        """)
                .param("name", name)
                .param("value", value)
                .query((row, n) -> row.getLong(1))
                .list());
    }

    private Map<Integer, String> experiments() {
        Map<Integer, String> experiments = new TreeMap<>();
        jdbc.sql("select experiment_id, p.code || '/' || e.code from experiment e join project p using (project_id)")
                .query((row, n) -> experiments.put(row.getInt(1), row.getString(2)))
                .list();
        return experiments;
    }

    /** No process goes on with what was under way: its state is elsewhere, or gone. */
    private void endWhatIsOpen(Instant lost) {
        Timestamp at = Timestamp.from(lost);
        jdbc.sql("""
                        update run set state = 'STOPPED', ended_at = greatest(started_at, :at), paused_by = null, paused_at = null,
                                       message = 'it was running when the catalogue was recorded from which this one was rebuilt'
                        where ended_at is null
                        """).param("at", at).update();
        jdbc.sql("""
                        update restore set state = 'STOPPED', ended_at = :at,
                                           message = 'it was open when the catalogue was recorded from which this one was rebuilt'
                        where ended_at is null
                        """).param("at", at).update();
        jdbc.sql("update reconciliation set state = 'LATE', ended_at = :at where ended_at is null")
                .param("at", at)
                .update();
    }

    interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    private <T> T inTransaction(Work<T> work) throws IOException, InterruptedException {
        return inTransaction(transactions, TransactionDefinition.withDefaults(), work);
    }

    static <T> T inTransaction(PlatformTransactionManager transactions, TransactionDefinition how, Work<T> work)
            throws IOException, InterruptedException {
        TransactionStatus transaction = transactions.getTransaction(how);
        T done;
        try {
            done = work.run();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            transactions.rollback(transaction);
            throw e;
        }
        transactions.commit(transaction);
        return done;
    }
}
