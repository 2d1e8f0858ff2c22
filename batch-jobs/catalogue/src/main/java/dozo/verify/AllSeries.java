package dozo.verify;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.content.Instance;
import dozo.content.Verdict.State;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.registry.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The DICOM series of experiments, and which numbers their images have. Numbers need not be consecutive, nor begin anywhere,
 * nor be unique, and a scan may have been stopped: a hole is shown, and never an alarm.
 */
@Component
public class AllSeries {

    private static final int SERIES_MAX = 1_000;
    private static final int HOLES_MAX = 10;

    /** Where fewer of the numbers are there, one in so many missing, they do not count images. */
    private static final int MISSING_MAX = 4;

    private final JdbcClient jdbc;

    /**
     * A series.
     *
     * @param seriesUid its SeriesInstanceUID
     * @param number missing: its files do not say it
     * @param description as the scanner calls it
     * @param images how many numbers of images there are
     * @param bytes of its files in the current manifest; missing: some were recorded by a version that did not count them
     * @param why what may be missing, for people; empty: no hole. Missing last images leave none
     */
    public record Series(
            String seriesUid,
            @Nullable Integer number,
            String description,
            long images,
            @Nullable Long bytes,
            String why) {

        /** Returns {@code SUSPECT} if numbers are missing, else {@code UNKNOWN}: nobody knows how many there should be. */
        @JsonProperty
        public State state() {
            return why.isEmpty() ? State.UNKNOWN : State.SUSPECT;
        }
    }

    /** What files have in common. */
    private record Key(String uid, @Nullable Integer number, String description) {}

    public AllSeries(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Records the places of files, by their entries' numbers, which were read together. */
    public void add(int experimentId, Map<Integer, Instance> instances) {
        Map<Key, List<Map.Entry<Integer, Instance>>> bySeries = instances.entrySet().stream()
                .filter(each -> each.getValue().isNumbered())
                .collect(Collectors.groupingBy(each -> key(each.getValue())));
        bySeries.forEach((key, those) -> jdbc.sql("""
                        insert into image_series
                            (experiment_id, series_uid, number, description, instance_numbers, entry_nos)
                        select :experiment, :uid, :number::integer, :description, range_agg(int4range(n, n + 1)),
                               range_agg(int4range(e, e + 1))
                        from unnest(:numbers::integer[], :entries::integer[]) as those (n, e)
                        """)
                .param("experiment", experimentId)
                .param("uid", key.uid)
                .param("number", key.number)
                .param("description", key.description)
                .param(
                        "numbers",
                        those.stream().map(each -> each.getValue().number()).toArray(Integer[]::new))
                .param("entries", those.stream().map(Map.Entry::getKey).toArray(Integer[]::new))
                .update());
    }

    private static Key key(Instance instance) {
        return new Key(instance.seriesUid(), instance.seriesNumber(), instance.description());
    }

    /** Returns the series of an experiment by number, at most {@value #SERIES_MAX}. */
    public List<Series> of(int experimentId) {
        return jdbc.sql("""
                        with together as (
                            select series_uid, min(number) as number, max(description) as description, range_agg(r) as there,
                                   range_agg(entry_nos) as entries, bool_and(entry_nos is not null) as counted
                            from image_series cross join lateral unnest(instance_numbers) as n (r)
                            where experiment_id = :experiment
                            group by series_uid
                            order by number nulls last, series_uid
                            limit :most
                        ), holed as (
                            select t.*, int4multirange(range_merge(there)) - there as holes,
                                   upper(there) - lower(there) as expected,
                                   (select sum(upper(r) - lower(r)) from unnest(there) as n (r)) as images
                            from together t
                        )
                        select series_uid, number, description, images, expected,
                               case when counted then (
                                   select coalesce(sum(size_bytes), 0)::bigint
                                   from unnest(entries) as n (r) join entry on entry_no >= lower(r) and entry_no < upper(r)
                                   where experiment_id = :experiment) end as bytes,
                               array(select lower(r) from unnest(holes) as n (r) order by r limit :holes) as first,
                               array(select upper(r) - 1 from unnest(holes) as n (r) order by r limit :holes) as last
                        from holed
                        order by number nulls last, series_uid
                        """)
                .param("experiment", experimentId)
                .param("most", SERIES_MAX)
                .param("holes", HOLES_MAX + 1)
                .query((row, n) -> new Series(
                        row.getString("series_uid"),
                        row.getObject("number", Integer.class),
                        row.getString("description"),
                        row.getLong("images"),
                        row.getObject("bytes", Long.class),
                        why(
                                row.getLong("images"),
                                row.getLong("expected"),
                                (Integer[]) row.getArray("first").getArray(),
                                (Integer[]) row.getArray("last").getArray())))
                .list();
    }

    /**
     * Returns the paths that select exactly the files of some series in a manifest: of a folder with nothing else, the folder's.
     * At most one more than a selection may have.
     *
     * @throws Refusal if the manifest has no file of a series, or DICOM files of which nobody knows the series
     */
    public List<FilePath> paths(int experimentId, int manifest, List<String> seriesUids) {
        if (seriesUids.isEmpty()) {
            return List.of();
        }
        if (seriesUids.size() > SERIES_MAX) {
            throw new Refusal("series", "expected at most %d series", SERIES_MAX);
        }
        long unread = about(experimentId, manifest, seriesUids, """
                select count(*) from there join judged_entry using (experiment_id, entry_no)
                where format = 'DICOM' and not nos @> entry_no
                """)
                .query((row, n) -> row.getLong(1))
                .single();
        if (unread > 0) {
            throw new Refusal(
                    "series",
                    "the series of %d DICOM files in manifest %d are unknown: select by path or pattern",
                    unread,
                    manifest);
        }
        Set<String> found = Set.copyOf(about(experimentId, manifest, seriesUids, """
                select series_uid from image_series
                where experiment_id = :experiment and series_uid = any(:uids)
                  and exists (select from there where entry_nos @> entry_no)
                """)
                .query((row, n) -> row.getString(1))
                .list());
        seriesUids.stream().filter(uid -> !found.contains(uid)).findFirst().ifPresent(uid -> {
            throw new Refusal("series", "manifest %d has no file of series %s, or none was read yet", manifest, uid);
        });
        return about(experimentId, manifest, seriesUids, """
                select case when whole then path else entry_path(path, name) end as place
                from (select directory_no, bool_and(chosen @> entry_no) as whole from there group by directory_no) f
                join directory d using (directory_no)
                left join there t on t.directory_no = f.directory_no and not f.whole and t.chosen @> t.entry_no
                where d.experiment_id = :experiment and (f.whole or t.entry_no is not null)
                order by place limit :most
                """)
                .param("most", Selection.PATHS_MAX + 1)
                .query((row, n) -> FilePath.of(row.getBytes(1)))
                .list();
    }

    /**
     * A question about {@code there}, the entries of a manifest. Of all of them, {@code nos} are the numbers of files whose series
     * are known, and {@code chosen} of those in the series.
     */
    private JdbcClient.StatementSpec about(int experimentId, int manifest, List<String> seriesUids, String question) {
        return jdbc.sql("""
                        with there as (
                            select experiment_id, entry_no, directory_no, name, nos, chosen
                            from entry_version cross join (
                                select coalesce(range_agg(entry_nos), '{}') as nos,
                                       coalesce(range_agg(entry_nos) filter (where series_uid = any(:uids)), '{}') as chosen
                                from image_series where experiment_id = :experiment) s
                            where experiment_id = :experiment and since_manifest <= :manifest
                              and (until_manifest is null or until_manifest > :manifest)
                        )
                        """ + question)
                .param("experiment", experimentId)
                .param("manifest", manifest)
                .param("uids", seriesUids.toArray(String[]::new));
    }

    private static String why(long images, long expected, Integer[] first, Integer[] last) {
        if (images == expected || (expected - images) * MISSING_MAX > expected) {
            return "";
        }
        List<String> holes = new ArrayList<>(IntStream.range(0, Math.min(first.length, HOLES_MAX))
                .mapToObj(i ->
                        first[i].equals(last[i]) ? "%d".formatted(first[i]) : "%d to %d".formatted(first[i], last[i]))
                .toList());
        if (first.length > HOLES_MAX) {
            holes.add("others");
        }
        String missing = String.join(", ", holes);
        return "%,d of %,d images: %s %s missing"
                .formatted(images, expected, missing, expected - images == 1 ? "is" : "are");
    }
}
