package dozo.verify;

import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.content.Companions;
import dozo.content.Verdict;
import dozo.content.Verdict.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** What headers say of other files in their folders: they are judged by the manifest's sizes of those. */
@Component
public class AllCompanions {

    private final JdbcClient jdbc;

    public AllCompanions(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Records what a header says that is whole by itself. */
    public void add(int experimentId, int entryNumber, String format, Companions those) {
        jdbc.sql("""
                        insert into companions
                            (experiment_id, entry_no, format, names, head_bytes, data_bytes, unit_bytes, if_missing)
                        values (:experiment, :entry, :format, :names, :head, :bytes, :unit, :missing)
                        on conflict do nothing
                        """)
                .param("experiment", experimentId)
                .param("entry", entryNumber)
                .param("format", format)
                .param(
                        "names",
                        those.names().stream().map(name -> name.getBytes(UTF_8)).toArray(byte[][]::new))
                .param("head", those.headBytes())
                .param("bytes", those.bytes())
                .param("unit", those.unitBytes())
                .param("missing", those.ifMissing().name())
                .update();
    }

    /** Judges headers of the current manifest, by number: those among these entries, and those to which one of them belongs. */
    public Map<Integer, Verdict> judge(int experimentId, Collection<Integer> entries) {
        Map<Integer, Verdict> verdicts = new HashMap<>();
        jdbc.sql("""
                        select c.*, found.names as found, found.sizes
                        from companions c
                        join entry h using (experiment_id, entry_no)
                        cross join lateral (
                            select coalesce(array_agg(e.name), '{}') as names,
                                   coalesce(array_agg(case when e.kind = 'f' then e.size_bytes else :none end), '{}') as sizes,
                                   coalesce(bool_or(e.entry_no = any(:entries)), false) as among
                            from entry e
                            where e.experiment_id = h.experiment_id and e.directory_no = h.directory_no and e.name = any(c.names)
                        ) found
                        where c.experiment_id = :experiment and (c.entry_no = any(:entries) or found.among)
                        """)
                .param("experiment", experimentId)
                .param("entries", entries.toArray(Integer[]::new))
                .param("none", Companions.NO_FILE)
                .query(row -> {
                    verdicts.put(row.getInt("entry_no"), verdict(row));
                });
        return verdicts;
    }

    private static Verdict verdict(ResultSet row) throws SQLException {
        List<String> names = names(row, "names");
        List<String> found = names(row, "found");
        Long[] sizes = (Long[]) row.getArray("sizes").getArray();
        Map<String, Long> byName = new TreeMap<>();
        for (int i = 0; i < sizes.length; i++) {
            byName.put(found.get(i), sizes[i]);
        }
        Companions those = new Companions(
                names,
                row.getInt("head_bytes"),
                row.getLong("data_bytes"),
                row.getLong("unit_bytes"),
                State.valueOf(row.getString("if_missing")));
        return those.judge(new Verdict(State.WHOLE, row.getString("format"), ""), byName);
    }

    private static List<String> names(ResultSet row, String column) throws SQLException {
        return Arrays.stream((byte[][]) row.getArray(column).getArray())
                .map(name -> new String(name, UTF_8))
                .toList();
    }
}
