package dozo.record;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Which tables are in which records. PostgreSQL says which tables there are: one that is named nowhere here is in base
 * records, whole.
 */
final class CatalogueTables {

    /** What entries have in tables of their own, by experiment and entry number: a name here is all that one needs. */
    static final List<String> OF_ENTRIES = List.of("entry_link", "entry_owner", "entry_attribute");

    /** In the records of experiments. */
    static final List<String> OF_EXPERIMENTS = Stream.concat(
                    Stream.of("manifest", "directory", "entry", "ended_entry", "content", "found_copy"),
                    OF_ENTRIES.stream())
            .toList();

    /** In no record, and why. */
    static final Map<String, String> LEFT_OUT = leftOut();

    /**
     * Tables that grow with the nights: a base record has only their rows that are new or changed since the one before.
     * Rows that retention deletes come back with a rebuilt catalogue, and go again.
     */
    static final Set<String> GROWING = Set.of(
            "ledger",
            "ledger_verification",
            "coverage",
            "finding",
            "run_finding",
            "acknowledgement",
            "run",
            "run_experiment",
            "run_pace",
            "run_limit",
            "run_tuning",
            "run_forecast",
            "run_forecast_experiment",
            "run_sum",
            "run_total",
            "scrub",
            "cost_model",
            "frozen_experiment",
            "reconciliation",
            "reconciliation_item",
            "restore",
            "restore_finding",
            "drill",
            "site_drill",
            "archive_restore",
            "flywheel_restored",
            "arrival",
            "morning_report",
            "morning_report_site",
            "tree_folder",
            "tag_file",
            "study",
            "study_series",
            "image_series",
            "checkpoint",
            "cosignature",
            "cosigned_checkpoint",
            "refused_checkpoint");

    private static Map<String, String> leftOut() {
        Map<String, String> reasons = new LinkedHashMap<>();
        reasons.put("flyway_schema_history", "each database has its own");
        reasons.put("service_lease", "about the services of this database");
        reasons.put("service_seen", "about the services of this database");
        reasons.put("receipt", "nothing is proven in a rebuilt catalogue: its receipts become found_copy");
        for (String table : List.of("reading", "challenge", "stored", "damage")) {
            reasons.put(table, "about receipts; the site is read anew");
        }
        reasons.put(
                "home_reading",
                "nothing is proven in a rebuilt catalogue, so there is nothing to compare with at home");
        reasons.put("home_damage", "what was found at home is also in findings");
        reasons.put("origin_check", "checked anew from when everything was delivered");
        reasons.put("origin_damage", "found anew by the next check");
        reasons.put("companions", "told again when a header is read again");
        reasons.put("image", "nothing is proven in a rebuilt catalogue, so there is nothing to commit to");
        reasons.put("commitment", "whoever waits for an answer asks again");
        reasons.put("own_file", "the site is read anew");
        for (String table : List.of("restore_batch", "restore_batch_item")) {
            reasons.put(table, "work that no other service continues; the restores themselves are in");
        }
        reasons.put("protection", "counted from the manifests, with nothing safe");
        for (String table : List.of("transfer_unit", "run_worker", "offered_look", "settling")) {
            reasons.put(table, "work of a run that no other service continues");
        }
        for (String table : List.of("catalogue_segment", "catalogue_base")) {
            reasons.put(table, "a rebuilt catalogue begins records of its own");
        }
        reasons.put("api_token", "programs get new ones: one that was revoked since would be valid again");
        reasons.put("frozen_change", "found anew by the next look");
        reasons.put("alert", "found anew by the next look");
        reasons.put("alert_message", "nobody is told twice, nor after a rebuild");
        reasons.put("audit_reader", "roles belong to a database server: they are admitted anew");
        reasons.put("name_block", "made anew from the names of entries");
        reasons.put("unlisted_manifest", "noted anew with each manifest");
        reasons.put("kept_answer", "kept for a day only");
        reasons.put("ledger_subtree", "computed anew from the ledger");
        return reasons;
    }

    /**
     * A table as PostgreSQL knows it; names as SQL writes them.
     *
     * @param columns without generated ones, and the entries of series: an experiment may be read from its bag, with other numbers
     * @param key of its primary key, else of a unique index
     * @param references foreign keys to other tables
     */
    record Table(String name, List<String> columns, List<String> key, List<Reference> references) {

        boolean grows() {
            return GROWING.contains(name);
        }

        String listed() {
            return String.join(", ", columns);
        }

        String keyed() {
            return String.join(", ", key);
        }
    }

    /** A foreign key: these columns are those of a row there. */
    record Reference(String columns, String table, String theirs) {}

    private CatalogueTables() {}

    /** Returns whether a table is in base records. */
    static boolean isInBase(String table) {
        return !OF_EXPERIMENTS.contains(table) && !LEFT_OUT.containsKey(table) && !table.startsWith("batch_");
    }

    /** Returns the tables of base records. Each comes after those that it refers to. */
    static List<Table> ofBase(JdbcClient jdbc) {
        return sorted(all(jdbc).stream().filter(table -> isInBase(table.name)).toList());
    }

    /** Returns these tables. Each comes after those of them that it refers to. */
    static List<Table> sorted(List<Table> tables) {
        List<Table> left = new ArrayList<>(tables);
        List<Table> sorted = new ArrayList<>();
        Set<String> waiting = new HashSet<>(left.stream().map(Table::name).toList());
        while (!left.isEmpty()) {
            Table next = left.stream()
                    .filter(table -> table.references.stream().noneMatch(one -> waiting.contains(one.table)))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("tables refer to each other: " + waiting));
            left.remove(next);
            waiting.remove(next.name);
            sorted.add(next);
        }
        return sorted;
    }

    /** Returns all tables of the schema; a partitioned one is one table. */
    static List<Table> all(JdbcClient jdbc) {
        Map<String, List<Reference>> references = new LinkedHashMap<>();
        jdbc.sql("""
                        select conrelid::regclass::text as name, confrelid::regclass::text as other,
                               (select string_agg(quote_ident(a.attname), ', ' order by k.n)
                                from unnest(conkey) with ordinality k (attnum, n)
                                join pg_attribute a on a.attrelid = conrelid and a.attnum = k.attnum) as columns,
                               (select string_agg(quote_ident(a.attname), ', ' order by k.n)
                                from unnest(confkey) with ordinality k (attnum, n)
                                join pg_attribute a on a.attrelid = confrelid and a.attnum = k.attnum) as theirs
                        from pg_constraint
                        where contype = 'f' and conparentid = 0 and confrelid <> conrelid
                          and connamespace = current_schema()::regnamespace
                        """)
                .query((row, n) -> references
                        .computeIfAbsent(row.getString("name"), _ -> new ArrayList<>())
                        .add(new Reference(row.getString("columns"), row.getString("other"), row.getString("theirs"))))
                .list();
        return jdbc.sql("""
                        select c.relname as name,
                               array(select quote_ident(attname) from pg_attribute
                                     where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
                                       and (c.relname, attname) <> ('image_series', 'entry_nos')
                                     order by attnum) as columns,
                               array(select quote_ident(a.attname)
                                     from unnest((select i.indkey::int2[] from pg_index i
                                                  where i.indrelid = c.oid and i.indisunique and i.indpred is null
                                                    and i.indexprs is null
                                                  order by i.indisprimary desc, i.indexrelid limit 1)) with ordinality k (attnum, n)
                                     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
                                     order by k.n) as key
                        from pg_class c
                        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
                          and not c.relispartition
                        order by c.relname
                        """)
                .query((row, n) -> new Table(
                        row.getString("name"),
                        List.of((String[]) row.getArray("columns").getArray()),
                        List.of((String[]) row.getArray("key").getArray()),
                        references.getOrDefault(row.getString("name"), List.of())))
                .list();
    }
}
