package dozo.record;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Message;
import dozo.record.CatalogueTables.Reference;
import dozo.record.CatalogueTables.Table;
import dozo.record.Header.Link;
import dozo.registry.Refusal;
import dozo.remote.RemoteException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

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

    /** Not a SHA-256: of a record that no other is known to continue. */
    private static final String ANY = "";

    private static final Logger LOG = LoggerFactory.getLogger(Loading.class);

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;
    private final TransactionTemplate savepoint;
    private final InstantSource clock;

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

    /**
     * Where to load from.
     *
     * @param identities private keys
     * @param signers SHA-256 of the keys, in DER, that may have signed; empty: any
     * @param seen those that have
     * @param unusable why something of the base records is left out
     */
    private record Source(
            RecordFiles files,
            String schema,
            List<String> identities,
            Set<Digest> signers,
            Set<Digest> seen,
            Set<String> unusable) {}

    private interface Use {
        void use(RecordReader.Table table) throws IOException;
    }

    public Loading(JdbcTemplate template, PlatformTransactionManager transactions, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.transaction = new TransactionTemplate(transactions);
        this.savepoint = new TransactionTemplate(transactions);
        this.savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        this.clock = clock;
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
        Source source =
                new Source(files, Records.schema(jdbc), identities, signers, new HashSet<>(), new LinkedHashSet<>());
        Set<String> late = afterManifests(tables);
        Base base = inTransaction(() -> base(
                source,
                tables.stream().filter(table -> !late.contains(table.name())).toList(),
                false));
        List<Broken> broken = new ArrayList<>();
        Map<Integer, String> experiments = experiments();
        for (Map.Entry<Integer, String> experiment : experiments.entrySet()) {
            experiment(source, base, experiment.getKey(), experiment.getValue()).ifPresent(broken::add);
        }
        inTransaction(() -> {
            base(
                    source,
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
                List.copyOf(source.unusable),
                Set.copyOf(source.seen));
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
    private record Base(Header header, Map<Integer, Long> segments) {}

    /**
     * Loads these tables from all base records. The last one is read first: its rows are the ones to keep, and tables
     * that are written whole are taken from it, or from the latest that has them.
     *
     * @param perhaps whether what they refer to may not be there; then those rows are left out
     */
    private Base base(Source source, List<Table> tables, boolean perhaps) throws IOException, InterruptedException {
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
        Header last = walkBase(
                source,
                table -> {
                    Table known = wanted.get(table.name());
                    boolean isSegments = table.name().equals(SEGMENTS);
                    if (complete.contains(table.name()) || (known == null && !isSegments)) {
                        table.rows().transferTo(OutputStream.nullOutputStream());
                        return;
                    }
                    copyIn(table, known == null ? SEGMENT_COLUMNS : known.columns());
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
        if (!source.unusable.isEmpty()) {
            closeGaps(wanted.keySet(), source.unusable);
        }
        for (Table table : tables) {
            insert(table, perhaps, !source.unusable.isEmpty());
        }
        if (wanted.containsKey("site")) {
            requireSite(last.site(), source.unusable);
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

    /**
     * Reads the base records: the last one, and then each that it continues. One that cannot be used is left out, and the one with the
     * next lower number is read instead. Returns the header of the last one that can be used.
     *
     * @param read called after each record: whether it was usable
     * @throws DamagedRecord if none can be used
     */
    private Header walkBase(Source source, Use use, Consumer<Boolean> read) throws IOException, InterruptedException {
        Set<FilePath> there = Set.copyOf(source.files.in(Header.folder(null)));
        TreeSet<Long> numbers = there.stream()
                .flatMap(file -> Header.number(file).stream())
                .collect(Collectors.toCollection(TreeSet::new));
        if (numbers.isEmpty()) {
            throw new Refusal("records", "there is no record in %s", Header.folder(null));
        }
        @Nullable Header last = null;
        @Nullable DamagedRecord unusable = null;
        @Nullable Link next = new Link(numbers.last(), ANY);
        while (next != null) {
            Link link = next;
            try {
                Header header = inTransaction(
                        savepoint, () -> read(source, there, Header.file(null, link.number()), link, use));
                last = last == null ? header : last;
                next = header.continues();
                read.accept(true);
            } catch (DamagedRecord e) {
                source.unusable.add(e.getMessage() + "; what no other record has is not in the catalogue");
                unusable = unusable == null || !unusable.isOpened() ? e : unusable;
                Long lower = numbers.lower(link.number());
                next = lower == null ? null : new Link(lower, ANY);
                read.accept(false);
            }
        }
        if (last == null && !requireNonNull(unusable).isOpened()) {
            throw new Refusal("identity", Message.verbatim(String.valueOf(unusable.getMessage())));
        }
        if (last == null) {
            throw requireNonNull(unusable);
        }
        return last;
    }

    /**
     * Reads the last record of an experiment, and then each that it continues.
     *
     * @param known a record that must be among them, unless the first of them is a later one and so complete; 0: none
     */
    private static void walk(Source source, String experiment, long known, Use use)
            throws IOException, InterruptedException {
        FilePath folder = Header.folder(experiment);
        Set<FilePath> there = Set.copyOf(source.files.in(folder));
        @Nullable
        Link link = new Link(
                Header.highest(there)
                        .orElseThrow(() -> new DamagedRecord("there is no record in %s".formatted(folder))),
                ANY);
        boolean isKnown = false;
        long first = 0;
        while (link != null) {
            first = link.number();
            isKnown |= first == known;
            link = read(source, there, Header.file(experiment, first), link, use)
                    .continues();
        }
        if (!isKnown && first < known) {
            throw new DamagedRecord(
                    "the record %s is missing, or is not continued".formatted(Header.file(experiment, known)));
        }
    }

    /** Reads one record, and checks all of it. */
    private static Header read(Source source, Set<FilePath> there, FilePath file, Link link, Use use)
            throws IOException, InterruptedException {
        if (!there.contains(file)) {
            throw new DamagedRecord("the record %s is missing".formatted(file));
        }
        try (RecordReader record = opened(source, file)) {
            for (RecordReader.Table table = record.table(); table != null; table = record.table()) {
                use.use(table);
            }
            Digest digest = record.end();
            if (!link.sha256().equals(ANY) && !link.sha256().equals(digest.toString())) {
                throw new DamagedRecord("the record %s is not the one that the next record continues".formatted(file));
            }
            source.seen.add(Digest.ofContent(record.header().signer()));
            return record.header();
        }
    }

    private static RecordReader opened(Source source, FilePath file) throws IOException, InterruptedException {
        InputStream in = source.files.open(file);
        try {
            RecordReader record = new RecordReader(file, in, source.identities);
            check(source, record.header(), file);
            return record;
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    private static void check(Source source, Header header, FilePath file) {
        if (header.schema().compareTo(source.schema) > 0) {
            throw new Refusal(
                    "records",
                    "the record %s was written by a newer Dozo (schema %s, here %s); install that version",
                    file,
                    header.schema(),
                    source.schema);
        }
        Digest signer = Digest.ofContent(header.signer());
        if (!source.signers.isEmpty() && !source.signers.contains(signer)) {
            throw new Refusal("records", "the record %s is signed with another key: %s", file, signer);
        }
    }

    private void copyIn(RecordReader.Table table, List<String> allowed) {
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

    private Optional<Broken> experiment(Source source, Base base, int id, String name)
            throws IOException, InterruptedException {
        try {
            return inTransaction(() -> {
                Long known = base.segments.get(id);
                // One without a manifest has no records.
                if (known != null || !source.files.in(Header.folder(name)).isEmpty()) {
                    segments(source, id, name, base.header.site(), known == null ? 0 : known);
                }
                return Optional.empty();
            });
        } catch (Refusal | DamagedRecord | DataAccessException | RemoteException e) {
            if (e instanceof RemoteException site && !isOfOneFile(site)) {
                throw site;
            }
            LOG.warn("the records of {} cannot be used: {}", name, e.getMessage());
            inTransaction(() -> {
                // Nothing is known of what is safe, so it is not said to be.
                jdbc.sql("""
                                update coverage set until = greatest(since, :now)
                                where experiment_id = :experiment and until = 'infinity'
                                """)
                        .param("experiment", id)
                        .param("now", Timestamp.from(clock.instant()))
                        .update();
                return Optional.empty();
            });
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

    private void segments(Source source, int id, String name, int siteId, long known)
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
        walk(source, name, known, table -> {
            Table there = tables.get(table.name());
            if (there == null && !table.name().equals(ENDED)) {
                throw new Refusal("records", "the table %s is not one of an experiment", table.name());
            }
            copyIn(table, there == null ? ENDED_COLUMNS : there.columns());
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
        jdbc.sql("insert into %1$s (%2$s) select %2$s from loading_%1$s".formatted(table.name(), columns))
                .update();
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

    private interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    private <T> T inTransaction(Work<T> work) throws IOException, InterruptedException {
        return inTransaction(transaction, work);
    }

    private static <T> T inTransaction(TransactionTemplate in, Work<T> work) throws IOException, InterruptedException {
        try {
            return requireNonNull(in.execute(_ -> {
                try {
                    return work.run();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (InterruptedException e) {
                    throw new Interrupted(e);
                }
            }));
        } catch (UncheckedIOException e) {
            throw requireNonNull(e.getCause());
        } catch (Interrupted e) {
            throw e.cause;
        }
    }

    private static final class Interrupted extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient InterruptedException cause;

        Interrupted(InterruptedException cause) {
            super(cause);
            this.cause = cause;
        }
    }
}
