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
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
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

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final TransactionTemplate snapshot;
    private final Certificates certificates;
    private final RecoveryKeys keys;
    private final OwnFiles own;
    private final InstantSource clock;

    /** An experiment with something that is not in a record at the site yet. */
    public record Due(int id, String name) {}

    /**
     * A record that is to be written to the site under this name. The caller must close it.
     *
     * @param kept remembers that the record is there, so that the next one continues it
     */
    public record Made(FilePath file, Spool content, Runnable kept) implements AutoCloseable {
        @Override
        public void close() {
            content.close();
        }
    }

    /** What is in records of an experiment already, up to these numbers. */
    private record Reached(int manifest, int folder, int entry, long receipt) {}

    private record LastSegment(Link link, Reached reached) {}

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
     * Makes the next record of an experiment.
     *
     * @throws Refusal if the keys cannot be used
     */
    public Made segment(Due experiment, int siteId) {
        return made(by -> segmentOf(experiment, siteId, by));
    }

    /** Makes the next base record of every site continue none: those before have what has been erased since. */
    public void renew() {
        jdbc.sql("update catalogue_base set renew = true").update();
    }

    /** Makes the next record of an experiment, or of the base for null, continue none at this site: one of those before is damaged. */
    public void renew(int siteId, @Nullable Integer experiment) {
        String renewing = experiment == null ? "update catalogue_base set renew = true where site_id = :site" : """
                        update catalogue_segment set manifest_no = 0, folder_no = 0, entry_no = 0, receipt_id = 0
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

    private interface Making {
        Made make(By by) throws IOException;
    }

    private Made made(Making making) {
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

    private Made segmentOf(Due experiment, int siteId, By by) throws IOException {
        Optional<LastSegment> last = jdbc.sql(
                        "select * from catalogue_segment where site_id = :site and experiment_id = :experiment")
                .param("site", siteId)
                .param("experiment", experiment.id)
                .query((row, n) -> new LastSegment(
                        new Link(
                                row.getLong("number"),
                                Digest.of(row.getBytes("digest")).toString()),
                        new Reached(
                                row.getInt("manifest_no"),
                                row.getInt("folder_no"),
                                row.getInt("entry_no"),
                                row.getLong("receipt_id"))))
                .optional();
        Reached from = last.map(LastSegment::reached).orElse(new Reached(0, 0, 0, 0));
        Reached to = reached(experiment.id, siteId);
        // One that was renewed is complete again.
        Link continues = from.manifest == 0 ? null : last.orElseThrow().link;
        long after = last.map(segment -> segment.link.number()).orElse(0L);
        Header header = header(siteId, experiment.name, continues, after, Map.of(), by);
        Spool spool = new Spool();
        return written(
                spool,
                header,
                by,
                (out, connection) -> writeSegment(out, connection, experiment.id, siteId, from),
                digest -> {
                    wrote(siteId, experiment.id, header, digest);
                    jdbc.sql("""
                            insert into catalogue_segment (site_id, experiment_id, number, digest, manifest_no, folder_no, entry_no,
                                                           receipt_id, bytes, written_at)
                            values (:site, :experiment, :number, :digest, :manifest, :folder, :entry, :receipt, :bytes, :at)
                            on conflict (site_id, experiment_id) do update
                            set number = excluded.number, digest = excluded.digest, manifest_no = excluded.manifest_no,
                                folder_no = excluded.folder_no, entry_no = excluded.entry_no, receipt_id = excluded.receipt_id,
                                bytes = excluded.bytes, written_at = excluded.written_at
                            """)
                            .param("site", siteId)
                            .param("experiment", experiment.id)
                            .param("number", header.number())
                            .param("digest", digest.bytes())
                            .param("manifest", to.manifest)
                            .param("folder", to.folder)
                            .param("entry", to.entry)
                            .param("receipt", to.receipt)
                            .param("bytes", spool.length())
                            .param("at", Timestamp.from(header.writtenAt()))
                            .update();
                });
    }

    private void wrote(int siteId, @Nullable Integer experiment, Header header, Digest digest) {
        if (header.continues() == null) {
            own.forget(siteId, experiment, Header.folder(header.experiment()));
        }
        own.keep(siteId, experiment, header.file(), digest);
    }

    private Reached reached(int experiment, int siteId) {
        return jdbc.sql("""
                        select (select max(manifest_no) from manifest where experiment_id = :experiment) as manifest,
                               greatest((select max(directory_no) from directory where experiment_id = :experiment),
                                        -(select min(directory_no) from directory where experiment_id = :experiment), 0) as folder,
                               greatest((select max(entry_no) from entry where experiment_id = :experiment),
                                        (select max(entry_no) from ended_entry where experiment_id = :experiment), 0) as entry,
                               coalesce((select max(receipt_id) from receipt
                                         where experiment_id = :experiment and site_id = :site), 0) as receipt
                        """)
                .param("experiment", experiment)
                .param("site", siteId)
                .query((row, n) -> new Reached(
                        row.getInt("manifest"), row.getInt("folder"), row.getInt("entry"), row.getLong("receipt")))
                .single();
    }

    /** Entries are numbered in the order in which they came, so a number separates the new ones. COPY takes no parameters. */
    private void writeSegment(RecordWriter out, Connection connection, int experiment, int siteId, Reached from)
            throws SQLException, IOException {
        String of = " where experiment_id = %d and ".formatted(experiment);
        Map<String, String> conditions = new LinkedHashMap<>();
        conditions.put("manifest", of + "manifest_no > " + from.manifest);
        conditions.put("directory", of + "(directory_no > %d or directory_no < -%1$d)".formatted(from.folder));
        conditions.put("entry", of + "entry_no > " + from.entry);
        conditions.put("ended_entry", of + "entry_no > " + from.entry);
        CatalogueTables.OF_ENTRIES.forEach(table -> conditions.put(table, of + "entry_no > " + from.entry));
        for (Table table : CatalogueTables.all(jdbc)) {
            String condition = conditions.get(table.name());
            if (condition != null) {
                List<String> columns = table.name().equals("directory")
                        ? List.of("directory_no", "path")
                        : table.columns().stream()
                                .filter(column -> !column.equals("experiment_id"))
                                .toList();
                copy(out, connection, table.name(), columns, condition);
            }
        }
        out.table(
                connection,
                Loading.ENDED,
                Loading.ENDED_COLUMNS,
                "select entry_no, until_manifest from ended_entry%suntil_manifest > %d and entry_no <= %d"
                        .formatted(of, from.manifest, from.entry));
        out.table(
                connection,
                "found_copy",
                List.of("manifest_no", "entry_nos", "digests"),
                receipts(experiment, siteId, from));
    }

    /** In the first record also what a rebuilt catalogue has not verified yet: its receipts come later. */
    private static String receipts(int experiment, int siteId, Reached from) {
        String receipts = """
                select coalesce(r.manifest_no,
                                (select max(m.manifest_no) from manifest m
                                 where m.experiment_id = r.experiment_id and m.sealed_at <= r.verified_at), 1),
                       r.entry_nos, r.digests
                from receipt r
                where r.experiment_id = %d and r.site_id = %d and r.receipt_id > %d""".formatted(experiment, siteId, from.receipt);
        String claimed = """
                select manifest_no, entry_nos, digests from found_copy where experiment_id = %d and site_id = %d
                union all
                """.formatted(experiment, siteId);
        return from.manifest == 0 ? claimed + receipts : receipts;
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
                schema(jdbc),
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
