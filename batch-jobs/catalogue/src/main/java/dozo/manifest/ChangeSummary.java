package dozo.manifest;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Sums up what changed: a thousand files that vanished with their folder are one line. */
@Component
public class ChangeSummary {

    /** How entries changed; the gravest first. */
    public enum Kind {
        GONE,
        /** It was a file, folder or link, and is now another of these. */
        TYPE_CHANGED,
        CHANGED,
        /** It was not in the earlier manifest, but in one before. */
        BACK,
        NEW
    }

    /**
     * Entries that changed alike.
     *
     * @param bytesBefore the size of the files among them in the earlier manifest, {@code bytesAfter} in the later one
     */
    public record Sum(Kind kind, long entries, long bytesBefore, long bytesAfter) {}

    /** Entries of one folder that changed alike. */
    public record FolderSum(FilePath folder, Sum sum) {}

    /**
     * The differences between two manifests.
     *
     * @param kinds of each kind that occurs; the gravest first
     * @param folders the folders with the gravest and most changes
     * @param foldersLeftOff the number of further lines, one for each kind and folder
     */
    public record Summary(List<Sum> kinds, List<FolderSum> folders, long foldersLeftOff) {}

    /**
     * Entries of one experiment that changed alike in a period.
     *
     * @param from the last manifest before the period; 0: there was none, so everything is new
     * @param to the last one in the period
     */
    public record ExperimentSum(String project, String code, int from, int to, Sum sum) {}

    /**
     * What changed in a period.
     *
     * @param sums the gravest first
     * @param experiments how many experiments these are of, and {@code experimentsLeftOff} how many others changed
     */
    public record Period(List<ExperimentSum> sums, long experiments, long experimentsLeftOff) {}

    /** An experiment with manifests in a period; the totals are those of its last one. */
    private record Sealed(
            int experimentId,
            String project,
            String code,
            int from,
            int to,
            long entries,
            long bytes,
            long experiments) {}

    private static final RowMapper<Sum> SUM = Rows.of(Sum.class);

    private final JdbcClient jdbc;

    public ChangeSummary(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Sums up the differences between two manifests, by kind and by folder. The time depends on the number of changes.
     *
     * @param from the earlier manifest's number, at least 1
     * @param limit the maximum number of folders
     */
    public Summary between(int experimentId, int from, int to, int limit) {
        List<Sum> kinds = new ArrayList<>();
        List<FolderSum> folders = new ArrayList<>();
        long[] lines = {0};
        jdbc.sql(Manifests.BEFORE_AND_AFTER + """
                        , change as (
                            select coalesce(b.directory_no, a.directory_no) as directory_no,
                                   case when a.entry_no is null then 'GONE'
                                        when b.entry_no is not null and b.kind <> a.kind then 'TYPE_CHANGED'
                                        when b.entry_no is not null then 'CHANGED'
                                        when exists (select from ended_entry o
                                                     where o.experiment_id = :experiment and o.directory_no = a.directory_no
                                                       and o.name = a.name and o.until_manifest <= :from) then 'BACK'
                                        else 'NEW' end as kind,
                                   case when b.kind = 'f' then b.size_bytes else 0 end as bytes_before,
                                   case when a.kind = 'f' then a.size_bytes else 0 end as bytes_after
                            from before b full join after a using (directory_no, name)
                            where\s""" + Manifests.DIFFERS + """
                        ), line as (
                            select kind, directory_no, count(*) as entries, sum(bytes_before)::bigint as bytes_before,
                                   sum(bytes_after)::bigint as bytes_after, grouping(directory_no) as whole
                            from change group by grouping sets ((kind), (kind, directory_no))
                        ), ranked as (
                            select *, count(*) over (partition by whole) as lines,
                                   row_number() over (partition by whole
                                                      order by array_position(:kinds, kind), entries desc, directory_no) as place
                            from line
                        )
                        select r.*, d.path from ranked r
                        left join directory d on d.experiment_id = :experiment and d.directory_no = r.directory_no
                        where whole = 1 or place <= :limit
                        order by whole desc, place
                        """)
                .params(Map.of("experiment", experimentId, "from", from, "to", to, "limit", limit))
                .param("kinds", List.of(Kind.values()).stream().map(Kind::name).toArray(String[]::new))
                .query(row -> {
                    if (row.getInt("whole") == 1) {
                        kinds.add(requireNonNull(SUM.mapRow(row, 0)));
                    } else {
                        folders.add(
                                new FolderSum(FilePath.of(row.getBytes("path")), requireNonNull(SUM.mapRow(row, 0))));
                        lines[0] = row.getLong("lines");
                    }
                });
        return new Summary(kinds, folders, lines[0] - folders.size());
    }

    /**
     * Sums up what changed between two moments in the visible experiments that lost or changed most. Changes that were
     * undone meanwhile do not count.
     *
     * @param limit the maximum number of experiments
     */
    public Period between(Sight sight, Instant from, Instant until, int limit) {
        List<Sealed> sealed = jdbc.sql("""
                        select m.experiment_id, p.code as project, e.code, m.first - 1 as "from", m.last as "to",
                               l.files + l.folders + l.links as entries, l.bytes, count(*) over () as experiments
                        from (select experiment_id, min(manifest_no) as first, max(manifest_no) as last,
                                     sum(entries_gone) as gone, sum(entries_changed) as changed, sum(entries_new) as fresh
                              from manifest where sealed_at >= :from and sealed_at < :until
                              group by experiment_id
                              having sum(entries_gone + entries_changed + entries_new) > 0) m
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        join manifest l on l.experiment_id = m.experiment_id and l.manifest_no = m.last
                        where in_sight(:seen, p.code)
                        order by m.gone desc, m.first = 1, m.changed desc, m.fresh desc, m.experiment_id
                        limit :limit
                        """)
                .params(Map.of("seen", sight.seen(), "from", Timestamp.from(from), "until", Timestamp.from(until)))
                .param("limit", limit)
                .query(Rows.of(Sealed.class))
                .list();
        List<ExperimentSum> sums = new ArrayList<>();
        for (Sealed each : sealed) {
            // Most of a period's entries come with new experiments. Their totals are stored.
            List<Sum> kinds = each.from == 0
                    ? List.of(new Sum(Kind.NEW, each.entries, 0, each.bytes))
                    : between(each.experimentId, each.from, each.to, 0).kinds;
            kinds.forEach(sum -> sums.add(new ExperimentSum(each.project, each.code, each.from, each.to, sum)));
        }
        sums.sort(Comparator.comparing((ExperimentSum each) -> each.sum.kind)
                .thenComparing(each -> each.sum.entries, Comparator.reverseOrder()));
        long all = sealed.isEmpty() ? 0 : sealed.getFirst().experiments;
        return new Period(sums, sealed.size(), all - sealed.size());
    }
}
