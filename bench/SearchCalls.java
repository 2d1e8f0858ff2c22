import dozo.db.EmbeddedDatabase;
import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.search.Hit.Kind;
import dozo.search.Names;
import dozo.search.Search;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Searches in generated experiments, in the real tables of a database below a folder, and what they need for it.
 *
 * <pre>java -cp LIBRARIES SearchCalls.java FOLDER EXPERIMENTS ENTRIES CALLS</pre>
 *
 * Prints a figure a line: a name and values. Times in milliseconds.
 */
final class SearchCalls {

    /** Half of the experiments are in BIDS, three tenths numbered DICOM, a tenth named by DICOM UIDs, a tenth MEG. */
    private static final String NAMES = """
            insert into directory (experiment_id, directory_no, path, first_entry_no, last_entry_no)
            select e, d, convert_to(case when e %% 10 < 5 then 'sub-' || to_char(e, 'FM00000') || '/ses-0' || 1 + d / 4 %% 9 || '/'
                                              || (array['anat', 'func', 'fmap', 'dwi'])[1 + d %% 4] || case when d > 4 then d::text else '' end
                                         when e %% 10 < 9 then to_char(d, 'FM000') || '_' || (array['localizer', 't1_mprage_sag', 'ep2d_bold_rest',
                                              'gre_field_mapping'])[1 + d %% 4]
                                         else 'S' || e || '_faces_' || 20160101 + e %% 3650 || '_' || to_char(d, 'FM00') || '.ds' end, 'UTF8'),
                   100 * d - 99, 100 * d
            from generate_series(%1$d, %2$d) e, generate_series(1, (%3$d - 1) / 100 + 1) d;
            insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
            select e, k, (k - 1) / 100 + 1, 1, 300000, 0, 420, 'f',
                   convert_to(case when e %% 10 < 5 then 'sub-' || to_char(e, 'FM00000') || '_ses-0' || 1 + k / 400 %% 9 || '_task-'
                                        || (array['rest', 'faces', 'nback', 'motor', 'language'])[1 + k %% 5] || '_run-' || to_char(k / 5 %% 20, 'FM00') || '_'
                                        || (array['bold.nii.gz', 'bold.json', 'events.tsv', 'physio.tsv.gz', 'sbref.nii.gz'])[1 + k / 100 %% 5]
                                   when e %% 10 < 8 then 'IM_' || to_char(k, 'FM000000')
                                   when e %% 10 < 9 then '1.3.12.2.1107.5.2.19.45152.' || 20130308 + e || abs(hashint8extended(e::bigint << 32 | k, 1)) || '.dcm'
                                   else (array['MarkerFile.mrk', 'params.dsc', 'BadChannels', 'ClassFile.cls', 'processing.cfg'])[1 + k %% 5]
                                        || '_' || to_char(k, 'FM0000') end, 'UTF8')
            from generate_series(%1$d, %2$d) e, generate_series(1, %3$d) k;
            insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new, entries_changed, entries_gone)
            select e, 1, now(), %3$d, 0, 0, 0, %3$d, 0, 0 from generate_series(%1$d, %2$d) e;
            """;

    private final JdbcClient jdbc;
    private final Names names;
    private final Search search;
    private final int experiments;

    private SearchCalls(JdbcClient jdbc, int experiments) {
        this.jdbc = jdbc;
        this.names = new Names(jdbc);
        this.search = new Search(jdbc, names);
        this.experiments = experiments;
    }

    public static void main(String[] arguments) throws Exception {
        int experiments = Integer.parseInt(arguments[1]);
        long entries = Long.parseLong(arguments[2]);
        try (EmbeddedDatabase server = EmbeddedDatabase.start(Path.of(arguments[0]).resolve("postgres"));
                Connection connection = MadeCatalogue.migrated(server).getConnection()) {
            MadeCatalogue made = new MadeCatalogue(experiments, entries);
            made.register(connection);
            int each = (int) (entries / experiments);
            try (Statement statement = connection.createStatement()) {
                for (int e = 1; e <= experiments; e += 500) {
                    statement.execute(NAMES.formatted(e, Math.min(experiments, e + 499), each));
                }
                made.find(connection);
                statement.execute("vacuum analyze");
            }
            var database = new SingleConnectionDataSource(connection, true);
            new SearchCalls(JdbcClient.create(database), experiments)
                    .measure(new TransactionTemplate(new DataSourceTransactionManager(database)), Integer.parseInt(arguments[3]));
        }
    }

    private void measure(TransactionTemplate transaction, int calls) {
        say("entries", jdbc.sql("select count(*) from entry").query(Long.class).single());
        times("before listing", calls / 5, null, this::mixed);
        long begun = System.nanoTime();
        while (Boolean.TRUE.equals(transaction.execute(_ -> names.listSome()))) {}
        say("listed", (System.nanoTime() - begun) / 1e9);
        say("blocks", jdbc.sql("select count(*) from name_block").query(Long.class).single());
        say("index", size("pg_total_relation_size('name_block')"), size("pg_relation_size('name_block_grams')"));
        jdbc.sql("analyze name_block").update();
        Random random = new Random(1);
        Map<String, Supplier<String>> kinds = new LinkedHashMap<>();
        kinds.put("common", () -> pick(random, "bold", "nii.gz", "im_0001", "task-rest", "t1_mprage"));
        kinds.put("one file", () -> bids(random) + " faces run-0" + random.nextInt(10));
        kinds.put("experiment", () -> "S" + (1 + random.nextInt(experiments)));
        kinds.put("number", () -> "im_000" + (100 + random.nextInt(900)));
        kinds.put("date in names", () -> String.valueOf(20130308 + 10 * random.nextInt(experiments / 10) + 8));
        kinds.put("nowhere", () -> pick(random, "xyzzy", "im_99999", "sub-99999_task", "t2star_swi", "no such name"));
        kinds.put("typing", () -> bids(random).substring(0, 1 + random.nextInt(9)));
        kinds.forEach((name, text) -> times(name, calls, null, text));
        times("mixed", calls, null, this::mixed);
        times("files only", calls, Kind.FILE, this::mixed);
        seals(transaction, calls);
    }

    private final Random dice = new Random(2);

    private String mixed() {
        return switch (dice.nextInt(6)) {
            case 0 -> pick(dice, "bold", "nii.gz", "im_0001", "task-rest", "t1_mprage");
            case 1 -> bids(dice) + " faces";
            case 2 -> "P0" + (10 + dice.nextInt(90)) + "/S" + dice.nextInt(experiments);
            case 3 -> pick(dice, "xyzzy", "im_99999", "sub-99999_task", "unreadable");
            case 4 -> bids(dice).substring(0, 1 + dice.nextInt(9));
            default -> "scan " + dice.nextInt(100);
        };
    }

    private String bids(Random random) {
        return "sub-%05d".formatted(10 * random.nextInt(experiments / 10) + random.nextInt(5));
    }

    private static String pick(Random random, String... words) {
        return words[random.nextInt(words.length)];
    }

    /** What the note costs that a manifest is not listed yet: manifests with and without it, in turn. */
    private void seals(TransactionTemplate transaction, int calls) {
        double[] with = new double[calls];
        double[] without = new double[calls];
        for (int i = 0; i < 2 * calls; i++) {
            int experiment = 1 + i / 2 % experiments;
            int number = 2 + i;
            jdbc.sql("alter table manifest %s trigger manifest_is_unlisted".formatted(i % 2 == 0 ? "enable" : "disable")).update();
            long begun = System.nanoTime();
            transaction.executeWithoutResult(_ -> jdbc.sql("insert into manifest values (:e, :n, now(), 1, 1, 0, 0, 1, 0, 0, 0)")
                    .param("e", experiment).param("n", number).update());
            (i % 2 == 0 ? with : without)[i / 2] = (System.nanoTime() - begun) / 1e6;
        }
        say("seal", percentile(with, 50), percentile(without, 50), percentile(with, 99), percentile(without, 99));
    }

    private void times(String name, int calls, @Nullable Kind kind, Supplier<String> texts) {
        double[] times = new double[calls];
        long found = 0;
        long cut = 0;
        for (int i = -calls / 10; i < calls; i++) {
            String text = texts.get();
            long begun = System.nanoTime();
            var result = search.find(text, Set.of(Role.ADMIN), Sight.EVERYTHING, kind, "", 8);
            if (i >= 0) {
                times[i] = (System.nanoTime() - begun) / 1e6;
                found += result.items().size();
                cut += result.partial() ? 1 : 0;
            }
        }
        say("times " + name.replace(' ', '-'), percentile(times, 50), percentile(times, 99), percentile(times, 100), found, cut, calls);
    }

    private long size(String what) {
        return jdbc.sql("select " + what).query(Long.class).single();
    }

    private static double percentile(double[] times, int percent) {
        double[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
    }

    private static void say(String name, Number... values) {
        StringBuilder line = new StringBuilder(name);
        for (Number value : List.of(values)) {
            line.append(value instanceof Double ? String.format(Locale.ROOT, " %.3f", value) : " " + value);
        }
        System.out.println(line);
    }
}
