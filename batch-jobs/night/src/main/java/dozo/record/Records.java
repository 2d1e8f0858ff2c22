package dozo.record;

import static java.util.Objects.requireNonNull;

import dozo.certificate.Certificates;
import dozo.certificate.Certificates.Signer;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.record.CatalogueTables.Table;
import dozo.record.Header.Link;
import dozo.registry.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes the records of this catalogue for a site: for each experiment what its last record does not have, and a base
 * record of everything else. Each is made from one snapshot of the database, and costs what changed.
 */
@Component
public class Records {

    /** The folder with the base records at a site, and with a folder for each project. */
    public static final FilePath FOLDER = Header.folder(null);

    /** The new entries of records that are made together; the last of them may have more. */
    static final int BATCH_ENTRIES = 50_000;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final TransactionTemplate snapshot;
    private final TransactionTemplate transaction;
    private final Certificates certificates;
    private final RecoveryKeys keys;
    private final OwnFiles own;
    private final InstantSource clock;

    /** An experiment with something that is not in a record at the site yet. */
    public record Due(int id, String name) {}

    /**
     * A record that is to be written to the site under this name. The caller must close it.
     *
     * @param kept remembers, in a transaction of the caller, that it is there, so that the next one continues it
     */
    public record Made(FilePath file, Spool content, Runnable kept) implements AutoCloseable {
        @Override
        public void close() {
            content.close();
        }
    }

    /** What is in records of an experiment already, up to these numbers. */
    private record Reached(int manifest, int folder, int entry, long receipt, long content) {}

    /**
     * The next record of an experiment.
     *
     * @param from what is in records already; with manifest 0 the record is complete again
     */
    private record Next(Due of, Header header, Reached from, Reached to, Spool spool, RecordWriter out) {}

    /**
     * The last base record.
     *
     * @param first the number of the record that it continues in the end; null: not known
     * @param renewed whether the next one continues none, because what was erased is in those before
     */
    private record LastBase(
            Link link,
            @Nullable Long first,
            boolean renewed,
            String database,
            String since,
            Map<String, Long> counts) {}

    /** Who signs a record, and who can read it. */
    private record By(Signer signer, List<String> recipients) {}

    private interface Tables {
        void write(RecordWriter to, Connection from) throws SQLException, IOException;
    }

    public Records(
            JdbcTemplate template,
            PlatformTransactionManager transactions,
            Certificates certificates,
            RecoveryKeys keys,
            InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.transaction = new TransactionTemplate(transactions);
        this.snapshot = new TransactionTemplate(transactions);
        this.snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        this.snapshot.setReadOnly(true);
        this.certificates = certificates;
        this.keys = keys;
        this.own = new OwnFiles(jdbc);
        this.clock = clock;
    }

    /** Returns experiments in the order of their ids, from the one after {@code after} on. */
    public List<Due> due(int siteId, int after, int limit) {
        return jdbc.sql("""
                        select t.experiment_id as id, p.code || '/' || e.code as name
                        from protection t
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        left join catalogue_segment c on c.experiment_id = t.experiment_id and c.site_id = t.site_id
                        where t.site_id = :site and t.experiment_id > :after
                          and (c.number is null or t.manifest_no > c.manifest_no
                               or (select max(r.receipt_id) from receipt r
                                   where r.experiment_id = t.experiment_id and r.site_id = t.site_id) > c.receipt_id)
                        order by t.experiment_id
                        limit :limit
                        """)
                .param("site", siteId)
                .param("after", after)
                .param("limit", limit)
                .query(Rows.of(Due.class))
                .list();
    }

    /**
     * Makes the next record of each of these experiments, with few statements for all of them.
     *
     * @return in the same order; none after those that have {@link #BATCH_ENTRIES} new entries together
     * @throws Refusal if the keys cannot be used
     */
    public List<Made> segments(List<Due> experiments, int siteId) {
        return made(by -> segmentsOf(experiments, siteId, by));
    }

    /** Remembers that these records are at the site. */
    public void keep(List<Made> written) {
        transaction.executeWithoutResult(_ -> written.forEach(made -> made.kept.run()));
    }

    /** Makes the next base record of every site continue none: those before have what has been erased since. */
    public void renew() {
        jdbc.sql("update catalogue_base set renew = true").update();
    }

    /** Makes the next record of an experiment, or of the base for null, continue none at this site: one of those before is damaged. */
    public void renew(int siteId, @Nullable Integer experiment) {
        String renewing = experiment == null ? "update catalogue_base set renew = true where site_id = :site" : """
                        update catalogue_segment set manifest_no = 0, folder_no = 0, entry_no = 0, receipt_id = 0, content_id = 0
                        where site_id = :site and experiment_id = :experiment
                        """;
        jdbc.sql(renewing)
                .param("site", siteId)
                .param("experiment", experiment, Types.INTEGER)
                .update();
    }

    /**
     * Returns which files at a site are base records that no base record there continues any more.
     *
     * @param files of the folder {@link #FOLDER}
     * @return empty if that is not known, or no base record was written there since the last {@link #renew}
     */
    public Optional<List<FilePath>> superseded(int siteId, Collection<FilePath> files) {
        return jdbc.sql(
                        "select first_number from catalogue_base where site_id = :site and not renew and first_number is not null")
                .param("site", siteId)
                .query((row, n) -> row.getLong(1))
                .optional()
                .map(first -> files.stream()
                        .filter(file -> Header.number(file)
                                .filter(number -> number < first)
                                .isPresent())
                        .toList());
    }

    /**
     * Makes the next base record.
     *
     * @throws Refusal if the keys cannot be used
     */
    public Made base(int siteId) {
        return made(by -> baseOf(siteId, by));
    }

    private interface Making<T> {
        T make(By by) throws IOException;
    }

    private <T> T made(Making<T> making) {
        // Before the snapshot: these may append to the ledger.
        By by = new By(certificates.signer(Ledger.SYSTEM), keys.recipients());
        return requireNonNull(snapshot.execute(_ -> {
            try {
                return making.make(by);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }));
    }

    private List<Made> segmentsOf(List<Due> experiments, int siteId, By by) throws IOException {
        List<Next> all = new ArrayList<>();
        try {
            begin(experiments, siteId, by, all);
            template.execute((ConnectionCallback<@Nullable Void>) connection -> {
                try {
                    writeSegments(all, connection, siteId);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return null;
            });
            List<Made> made = new ArrayList<>();
            for (Next next : all) {
                Digest digest = next.out.end();
                made.add(new Made(next.header.file(), next.spool, () -> kept(next, siteId, digest)));
            }
            return made;
        } catch (IOException | RuntimeException | Error e) {
            all.forEach(next -> next.spool.close());
            throw e;
        }
    }

    /** Begins the records of as many experiments as one batch may have. */
    private void begin(List<Due> experiments, int siteId, By by, List<Next> all) {
        Map<Integer, Due> names = experiments.stream().collect(Collectors.toMap(Due::id, due -> due));
        String schema = schema(jdbc);
        long[] entries = {0};
        jdbc.sql("""
                        select e.id, c.*, t.*
                        from unnest(:experiments::integer[]) with ordinality e (id, n)
                        left join catalogue_segment c on c.site_id = :site and c.experiment_id = e.id
                        cross join lateral (
                            select (select max(manifest_no) from manifest where experiment_id = e.id) as to_manifest,
                                   greatest((select max(directory_no) from directory where experiment_id = e.id),
                                            -(select min(directory_no) from directory where experiment_id = e.id), 0) as to_folder,
                                   greatest((select max(entry_no) from entry where experiment_id = e.id),
                                            (select max(entry_no) from ended_entry where experiment_id = e.id), 0) as to_entry,
                                   coalesce((select max(receipt_id) from receipt
                                             where experiment_id = e.id and site_id = :site), 0) as to_receipt,
                                   coalesce((select max(content_id) from content where experiment_id = e.id), 0) as to_content) t
                        order by e.n
                        """)
                .param("experiments", experiments.stream().map(Due::id).toArray(Integer[]::new))
                .param("site", siteId)
                .query(row -> {
                    Reached from = new Reached(
                            row.getInt("manifest_no"),
                            row.getInt("folder_no"),
                            row.getInt("entry_no"),
                            row.getLong("receipt_id"),
                            row.getLong("content_id"));
                    Reached to = new Reached(
                            row.getInt("to_manifest"),
                            row.getInt("to_folder"),
                            row.getInt("to_entry"),
                            row.getLong("to_receipt"),
                            row.getLong("to_content"));
                    if (entries[0] < BATCH_ENTRIES) {
                        entries[0] += to.entry - from.entry;
                        // One that was renewed is complete again.
                        Link continues = from.manifest == 0
                                ? null
                                : new Link(
                                        row.getLong("number"),
                                        Digest.of(row.getBytes("digest")).toString());
                        Due of = requireNonNull(names.get(row.getInt("id")));
                        Header header = header(schema, siteId, of.name, continues, row.getLong("number"), Map.of(), by);
                        Spool spool = new Spool();
                        all.add(new Next(of, header, from, to, spool, writer(spool, by, header)));
                    }
                });
    }

    private static RecordWriter writer(Spool spool, By by, Header header) {
        try {
            return new RecordWriter(spool, by.recipients, by.signer, header);
        } catch (IOException e) {
            spool.close();
            throw new UncheckedIOException(e);
        }
    }

    private void kept(Next next, int siteId, Digest digest) {
        wrote(siteId, next.of.id, next.header, digest);
        jdbc.sql("""
                        insert into catalogue_segment (site_id, experiment_id, number, digest, manifest_no, folder_no, entry_no,
                                                       receipt_id, content_id, bytes, written_at)
                        values (:site, :experiment, :number, :digest, :manifest, :folder, :entry, :receipt, :content, :bytes, :at)
                        on conflict (site_id, experiment_id) do update
                        set number = excluded.number, digest = excluded.digest, manifest_no = excluded.manifest_no,
                            folder_no = excluded.folder_no, entry_no = excluded.entry_no, receipt_id = excluded.receipt_id,
                            content_id = excluded.content_id, bytes = excluded.bytes, written_at = excluded.written_at
                        """)
                .param("site", siteId)
                .param("experiment", next.of.id)
                .param("number", next.header.number())
                .param("digest", digest.bytes())
                .param("manifest", next.to.manifest)
                .param("folder", next.to.folder)
                .param("entry", next.to.entry)
                .param("receipt", next.to.receipt)
                .param("content", next.to.content)
                .param("bytes", next.spool.length())
                .param("at", Timestamp.from(next.header.writtenAt()))
                .update();
    }

    private void wrote(int siteId, @Nullable Integer experiment, Header header, Digest digest) {
        if (header.continues() == null) {
            own.forget(siteId, experiment, Header.folder(header.experiment()));
        }
        own.keep(siteId, experiment, header.file(), digest);
    }

    /**
     * Writes to each record the rows that it is the first to have. Entries are numbered in the order in which they came, so a number
     * separates the new ones.
     */
    private void writeSegments(List<Next> all, Connection connection, int siteId) throws SQLException, IOException {
        Map<String, String> conditions = new LinkedHashMap<>();
        conditions.put("manifest", "manifest_no > r.manifest");
        conditions.put("directory", "(directory_no > r.folder or directory_no < -r.folder)");
        conditions.put("entry", "entry_no > r.entry");
        conditions.put("ended_entry", "entry_no > r.entry");
        conditions.put("content", "content_id > r.content");
        CatalogueTables.OF_ENTRIES.forEach(table -> conditions.put(table, "entry_no > r.entry"));
        for (Table table : CatalogueTables.all(jdbc)) {
            String condition = conditions.get(table.name());
            if (condition != null) {
                List<String> columns = table.name().equals("directory")
                        ? List.of("directory_no", "path")
                        : table.columns().stream()
                                .filter(column -> !column.equals("experiment_id"))
                                .toList();
                copy(all, connection, table.name(), columns, table.name(), condition);
            }
        }
        copy(
                all,
                connection,
                Loading.ENDED,
                Loading.ENDED_COLUMNS,
                "ended_entry",
                "until_manifest > r.manifest and entry_no <= r.entry");
        // In the first record also what a rebuilt catalogue has not verified yet: its receipts come later.
        List<String> columns = List.of("manifest_no", "entry_nos", "digests");
        copy(all, connection, "found_copy", columns, "found_copy", "site_id = %d and r.manifest = 0".formatted(siteId));
        copy(all, connection, "found_copy", columns, """
                (select coalesce(p.manifest_no,
                                 (select max(m.manifest_no) from manifest m
                                  where m.experiment_id = p.experiment_id and m.sealed_at <= p.verified_at), 1) as manifest_no,
                        p.entry_nos, p.digests, p.experiment_id, p.site_id, p.receipt_id
                 from receipt p)""", "site_id = %d and receipt_id > r.receipt".formatted(siteId));
    }

    /**
     * Writes rows of a table to the records of their experiments. NB: {@code offset 0} keeps the database from reading all of the table
     * for some experiments. COPY takes no parameters.
     */
    private static void copy(
            List<Next> all, Connection connection, String table, List<String> columns, String from, String condition)
            throws SQLException, IOException {
        Map<Integer, RecordWriter> writers = new HashMap<>();
        all.forEach(next -> writers.put(next.of.id, next.out));
        String listed = String.join(", ", columns);
        String reached = all.stream()
                .map(next -> "(%d, %d, %d, %d, %d::bigint, %d::bigint)"
                        .formatted(
                                next.of.id,
                                next.from.manifest,
                                next.from.folder,
                                next.from.entry,
                                next.from.receipt,
                                next.from.content))
                .collect(Collectors.joining(", "));
        CopyOut rows = connection.unwrap(PGConnection.class).getCopyAPI().copyOut("""
                copy (select r.experiment, t.* from (values %s) r (experiment, manifest, folder, entry, receipt, content)
                      cross join lateral (select %s from %s x where x.experiment_id = r.experiment and %s offset 0) t)
                to stdout
                """.formatted(
                        reached, listed, from, condition));
        for (byte[] row = rows.readFromCopy(); row != null; row = rows.readFromCopy()) {
            int end = 0;
            int experiment = 0;
            for (; row[end] != '\t'; end++) {
                experiment = 10 * experiment + row[end] - '0';
            }
            requireNonNull(writers.get(experiment)).row(table, listed, row, end + 1);
        }
    }

    private static void copy(
            RecordWriter out, Connection connection, String table, List<String> columns, String condition)
            throws SQLException, IOException {
        out.table(
                connection,
                table,
                columns,
                "select %s from %s%s".formatted(String.join(", ", columns), table, condition));
    }

    private Made baseOf(int siteId, By by) throws IOException {
        Optional<LastBase> last = jdbc.sql(
                        "select *, since::text as since_text from catalogue_base where site_id = :site")
                .param("site", siteId)
                .query((row, n) -> new LastBase(
                        new Link(
                                row.getLong("number"),
                                Digest.of(row.getBytes("digest")).toString()),
                        row.getObject("first_number", Long.class),
                        row.getBoolean("renew"),
                        row.getString("database"),
                        row.getString("since_text"),
                        JsonMapper.shared()
                                .readValue(row.getString("counts"), new TypeReference<Map<String, Long>>() {})))
                .optional();
        String database = jdbc.sql("""
                        select system_identifier || '/' || (select oid from pg_database where datname = current_database())
                        from pg_control_system()
                        """).query(String.class).single();
        String since = jdbc.sql("select pg_snapshot_xmin(pg_current_snapshot())::text")
                .query(String.class)
                .single();
        Optional<LastBase> continued = last.filter(base -> !base.renewed);
        Optional<LastBase> known = continued.filter(base -> base.database.equals(database));
        Map<String, Long> counts = new TreeMap<>();
        Header header = header(
                schema(jdbc),
                siteId,
                null,
                continued.map(LastBase::link).orElse(null),
                last.map(base -> base.link.number()).orElse(0L),
                sequences(),
                by);
        Long first = continued.isPresent() ? continued.get().first : Long.valueOf(header.number());
        Spool spool = new Spool();
        return written(
                spool, header, by, (out, connection) -> writeBase(out, connection, siteId, known, counts), digest -> {
                    wrote(siteId, null, header, digest);
                    jdbc.sql("""
                            insert into catalogue_base (site_id, number, first_number, digest, database, since, counts, bytes,
                                                        written_at)
                            values (:site, :number, :first::bigint, :digest, :database, :since::xid8, :counts::jsonb, :bytes, :at)
                            on conflict (site_id) do update
                            set number = excluded.number, first_number = excluded.first_number, renew = false,
                                digest = excluded.digest, database = excluded.database,
                                since = excluded.since, counts = excluded.counts, bytes = excluded.bytes,
                                written_at = excluded.written_at
                            """)
                            .param("site", siteId)
                            .param("number", header.number())
                            .param("first", first)
                            .param("digest", digest.bytes())
                            .param("database", database)
                            .param("since", since)
                            .param("counts", JsonMapper.shared().writeValueAsString(counts))
                            .param("bytes", spool.length())
                            .param("at", Timestamp.from(header.writtenAt()))
                            .update();
                });
    }

    private void writeBase(
            RecordWriter out, Connection connection, int siteId, Optional<LastBase> last, Map<String, Long> counts)
            throws SQLException, IOException {
        // A row's version has the number of its transaction. NB: not below zero: such a row is older than that can be
        // told.
        String changed = last.map(base -> "age(xmin) between 0 and age('%s'::xid8::xid)".formatted(base.since))
                .orElse("true");
        for (Table table : CatalogueTables.ofBase(jdbc)) {
            if (table.grows()) {
                copy(out, connection, table.name(), table.columns(), " where " + changed);
            } else if (differs(table, changed, last, counts)) {
                copy(out, connection, table.name(), table.columns(), "");
            }
        }
        out.table(
                connection,
                Loading.SEGMENTS,
                Loading.SEGMENT_COLUMNS,
                "select experiment_id, number from catalogue_segment where site_id = " + siteId);
    }

    private boolean differs(Table table, String changed, Optional<LastBase> last, Map<String, Long> counts) {
        return jdbc.sql("select count(*) as rows, count(*) filter (where %s) as changed from %s"
                        .formatted(changed, table.name()))
                .query((row, n) -> {
                    counts.put(table.name(), row.getLong("rows"));
                    return row.getLong("changed") > 0
                            || last.isEmpty()
                            || !Long.valueOf(row.getLong("rows"))
                                    .equals(last.get().counts.get(table.name()));
                })
                .single();
    }

    private Map<String, Long> sequences() {
        Map<String, Long> sequences = new TreeMap<>();
        jdbc.sql("""
                        select sequencename, last_value from pg_sequences
                        where schemaname = current_schema() and last_value is not null and sequencename not like 'batch%'
                        """)
                .query((row, n) -> sequences.put(row.getString(1), row.getLong(2)))
                .list();
        return sequences;
    }

    private Header header(
            String schema,
            int siteId,
            @Nullable String experiment,
            @Nullable Link continues,
            long after,
            Map<String, Long> sequences,
            By by) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
        // Of the time: a catalogue that was restored from a backup must not give a number a second time.
        long number = Math.max(now.toEpochMilli(), after + 1);
        return new Header(
                schema,
                siteId,
                experiment,
                number,
                continues,
                now,
                Base64.getEncoder().encodeToString(by.signer.publicKey()),
                sequences);
    }

    /** Returns the version of the database's last migration. */
    static String schema(JdbcClient jdbc) {
        return jdbc.sql("select max(version) from flyway_schema_history where success")
                .query(String.class)
                .single();
    }

    private Made written(Spool spool, Header header, By by, Tables tables, Consumer<Digest> keeping)
            throws IOException {
        try {
            RecordWriter out = new RecordWriter(spool, by.recipients, by.signer, header);
            template.execute((ConnectionCallback<@Nullable Void>) connection -> {
                try {
                    tables.write(out, connection);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return null;
            });
            Digest digest = out.end();
            return new Made(header.file(), spool, () -> keeping.accept(digest));
        } catch (IOException | RuntimeException | Error e) {
            spool.close();
            throw e;
        }
    }
}
