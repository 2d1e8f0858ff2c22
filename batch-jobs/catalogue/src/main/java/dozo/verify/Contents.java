package dozo.verify;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.content.Verdict;
import dozo.content.Verdict.State;
import dozo.file.FilePath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** What the content of an experiment's files says of whether they are whole. */
@Component
public class Contents {

    private static final String NOT_WHOLE = """
            select c.content_id, e.entry_no, entry_path(d.path, e.name) as path, e.size_bytes, c.state, c.format, c.why, c.judged_at
            from content c cross join lateral unnest(c.entry_nos) as n (entry_no)
            join entry e on e.experiment_id = c.experiment_id and e.entry_no = n.entry_no
            join directory d on d.experiment_id = e.experiment_id and d.directory_no = e.directory_no
            where c.experiment_id = :experiment and c.state <> 'WHOLE' and not exists (
                    select from content l
                    where l.experiment_id = c.experiment_id and n.entry_no = any(l.entry_nos)
                      and case c.state
                              when 'UNKNOWN' then l.state <> 'UNKNOWN'
                              else l.state = 'WHOLE' and l.content_id > c.content_id
                          end)
            """;

    private static final int FETCH = 1_000;
    private static final int BATCH = 5_000;

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /** What the content of an entry, by number, says of whether it is whole; unknown only with the reason. */
    public record Judged(int entryNumber, Verdict verdict) {}

    /**
     * How many files of the current manifest were judged so.
     *
     * @param format empty if it is not known
     */
    public record Count(State state, String format, long files, long bytes) {}

    /**
     * A file of the current manifest that is not whole, or perhaps not, or of which a reason is known why nobody knows.
     *
     * @param pathBytes below the source root, in JSON in base64
     */
    public record NotWhole(
            int entryNumber,
            FilePath pathBytes,
            long sizeBytes,
            State state,
            String format,
            String why,
            Instant judgedAt) {

        /** Returns a rendering of the path for people. */
        @JsonProperty
        public String path() {
            return pathBytes.toString();
        }
    }

    public Contents(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /** Records verdicts on entries, by number; unknown ones without a reason are left out. */
    public void add(int experimentId, Map<Integer, Verdict> verdicts) {
        Map<Verdict, List<Integer>> byVerdict = verdicts.entrySet().stream()
                .filter(each -> each.getValue().state() != State.UNKNOWN
                        || !each.getValue().why().isEmpty())
                .sorted(Map.Entry.comparingByKey())
                .collect(Collectors.groupingBy(
                        Map.Entry::getValue, Collectors.mapping(Map.Entry::getKey, Collectors.toList())));
        byVerdict.forEach((verdict, entries) -> jdbc.sql("""
                        insert into content (experiment_id, state, format, why, entry_nos, judged_at)
                        values (:experiment, :state, :format, :why, :entries, :now)
                        """)
                .param("experiment", experimentId)
                .param("state", verdict.state().name())
                .param("format", verdict.format())
                .param("why", verdict.why())
                .param("entries", entries.toArray(Integer[]::new))
                .param("now", Timestamp.from(clock.instant()))
                .update());
    }

    /** What a bag's list says of a file, by its path below the data folder; unknown only with the reason. */
    public record Found(FilePath path, Verdict verdict) {}

    /** Passes on what a bag's list says. */
    public interface Lists {
        void each(Consumer<Found> each) throws IOException;
    }

    /**
     * Records what a bag's list says of the files of an experiment's current manifest; others are left out. Must be called
     * inside a transaction.
     */
    public void addFound(int experimentId, Lists list) {
        jdbc.sql("""
                        create temp table found_content (path bytea, state text, format text, why text) on commit drop
                        """).update();
        try {
            List<Found> batch = new ArrayList<>();
            list.each(found -> {
                batch.add(found);
                if (batch.size() == BATCH) {
                    addFound(batch);
                    batch.clear();
                }
            });
            addFound(batch);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        jdbc.sql("""
                        insert into content (experiment_id, state, format, why, entry_nos, judged_at)
                        select e.experiment_id, f.state, f.format, f.why, array_agg(distinct e.entry_no), :now
                        from entry e join directory d using (experiment_id, directory_no)
                        join found_content f on f.path = entry_path(d.path, e.name)
                        where e.experiment_id = :experiment and e.kind = 'f'
                        group by e.experiment_id, f.state, f.format, f.why, e.entry_no / :batch
                        """)
                .param("experiment", experimentId)
                .param("batch", BATCH)
                .param("now", Timestamp.from(clock.instant()))
                .update();
        jdbc.sql("drop table found_content").update();
    }

    private void addFound(List<Found> batch) {
        jdbc.sql("""
                        insert into found_content
                        select * from unnest(:paths::bytea[], :states::text[], :formats::text[], :whys::text[])
                        """)
                .param("paths", batch.stream().map(each -> each.path().bytes()).toArray(byte[][]::new))
                .param("states", texts(batch, verdict -> verdict.state().name()))
                .param("formats", texts(batch, Verdict::format))
                .param("whys", texts(batch, Verdict::why))
                .update();
    }

    private static String[] texts(List<Found> batch, Function<Verdict, String> of) {
        return batch.stream().map(each -> of.apply(each.verdict())).toArray(String[]::new);
    }

    /** Returns those of these entries that are recorded as broken. */
    public Set<Integer> broken(int experimentId, Set<Integer> entries) {
        return judged(experimentId, entries, State.BROKEN);
    }

    /** Returns those of these entries that are recorded as whole. */
    public Set<Integer> whole(int experimentId, Set<Integer> entries) {
        return judged(experimentId, entries, State.WHOLE);
    }

    private Set<Integer> judged(int experimentId, Set<Integer> entries, State state) {
        return Set.copyOf(jdbc.sql("""
                        select entry_no from judged_entry
                        where experiment_id = :experiment and entry_no = any(:entries) and state = :state
                        """)
                .param("experiment", experimentId)
                .param("entries", entries.toArray(Integer[]::new))
                .param("state", state.name())
                .query(Integer.class)
                .list());
    }

    /**
     * Returns the latest verdict on each entry that has one, in the order of the numbers, also on entries of earlier
     * manifests. Must be called inside a transaction; the caller closes the stream. PostgreSQL sorts, on its disk if
     * necessary.
     */
    public Stream<Judged> judged(int experimentId) {
        return jdbc
                .sql("""
                        select entry_no, state, format, why from judged_entry where experiment_id = :experiment order by entry_no
                        """)
                .withFetchSize(FETCH)
                .param("experiment", experimentId)
                .query((row, n) -> new Judged(
                        row.getInt("entry_no"),
                        new Verdict(
                                State.valueOf(row.getString("state")), row.getString("format"), row.getString("why"))))
                .stream();
    }

    /** Returns how the files of the current manifest were judged, the broken ones first. */
    public List<Count> counts(int experimentId) {
        return jdbc.sql("""
                        select coalesce(j.state, 'UNKNOWN') as state, coalesce(j.format, '') as format, count(*) as files,
                               sum(e.size_bytes) as bytes
                        from entry e left join judged_entry j using (experiment_id, entry_no)
                        where e.experiment_id = :experiment and e.kind = 'f'
                        group by 1, 2
                        order by array_position(array['BROKEN', 'SUSPECT', 'WHOLE', 'UNKNOWN'], coalesce(j.state, 'UNKNOWN')), 3 desc, 2
                        """)
                .param("experiment", experimentId)
                .query((row, n) -> new Count(
                        State.valueOf(row.getString("state")),
                        row.getString("format"),
                        row.getLong("files"),
                        row.getLong("bytes")))
                .list();
    }

    /** Returns files of the current manifest that are broken, suspect, or unknown for a known reason, after one by number; each once. */
    public List<NotWhole> notWhole(int experimentId, int afterEntry, int limit) {
        return jdbc.sql("select distinct on (entry_no) * from (" + NOT_WHOLE + """
                        ) found where entry_no > :after order by entry_no, content_id desc limit :limit
                        """)
                .param("experiment", experimentId)
                .param("after", afterEntry)
                .param("limit", limit)
                .query((row, n) -> new NotWhole(
                        row.getInt("entry_no"),
                        FilePath.of(row.getBytes("path")),
                        row.getLong("size_bytes"),
                        State.valueOf(row.getString("state")),
                        row.getString("format"),
                        row.getString("why"),
                        row.getTimestamp("judged_at").toInstant()))
                .list();
    }
}
