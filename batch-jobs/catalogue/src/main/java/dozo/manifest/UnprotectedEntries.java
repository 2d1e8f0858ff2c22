package dozo.manifest;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The entries of current manifests that are not proven at a site: those without a receipt or damaged since. */
@Component
public class UnprotectedEntries {

    private static final int FETCH = 1_000;

    /**
     * How many names of one file may be linked at a site, earlier ones included. Others are files of their own, because
     * file systems have limits (ext4: 65,000), and OpenSSH cannot rename a file that is at the limit.
     */
    private static final int NAMES_MAX = 30_000;

    private final JdbcClient jdbc;

    /** An entry of an experiment. */
    public record Of(int experimentId, Entry entry) {}

    /** A number of entries and their bytes. */
    public record Sum(long entries, long bytes) {}

    public UnprotectedEntries(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Returns them in the order of their numbers. Costs what appeared since the last completely safe manifest; before
     * the first one, all entries. The caller closes the stream; inside a transaction it holds a bounded number of rows.
     *
     * @param afterEntry only entries with a higher number
     */
    public Stream<Entry> stream(int experimentId, int siteId, int afterEntry) {
        return jdbc
                .sql("with %s select e.*, d.path, l.hard_link, l.link_target".formatted(unproven(experimentId, siteId))
                        + """

                        from unproven e join directory d using (experiment_id, directory_no)
                        left join entry_link l using (experiment_id, entry_no)
                        where e.entry_no > :after
                        order by e.entry_no
                        """)
                .withFetchSize(FETCH)
                .params(Map.of("experiment", experimentId, "site", siteId, "after", afterEntry))
                .query(Manifests.ENTRY)
                .stream();
    }

    /**
     * Returns all entries of experiments whose first manifest was just sealed, in the order of the experiments' ids and of
     * their numbers. They should be few, because all are in memory.
     */
    public List<Of> first(int[] experimentIds) {
        return jdbc.sql(Manifests.HOLDING + " where experiment_id = any(:experiments) order by experiment_id, entry_no")
                .param("experiments", experimentIds)
                .query((row, n) -> new Of(row.getInt("experiment_id"), requireNonNull(Manifests.ENTRY.mapRow(row, n))))
                .list();
    }

    /** Returns those of these experiments that have entries which are names of one file. */
    public Set<Integer> linked(int[] experimentIds) {
        return new HashSet<>(jdbc.sql("""
                        select distinct experiment_id from entry_link
                        where experiment_id = any(:experiments) and hard_link is not null
                        """)
                .param("experiments", experimentIds)
                .query((row, n) -> row.getInt(1))
                .list());
    }

    /**
     * Returns the numbers of those entries of {@link #stream} that are further names of files: another entry of the
     * current manifest is the same file, and it is stored at the site or is the first of those to be sent. Those of one
     * file come together. Inside a transaction it reads a bounded number of rows at once.
     */
    public int[] links(int experimentId, int siteId, int afterEntry) {
        boolean any = jdbc.sql(
                        "select exists (select from entry_link where experiment_id = :experiment and hard_link is not null)")
                .param("experiment", experimentId)
                .query(Boolean.class)
                .single();
        if (!any) {
            return new int[0];
        }
        try (Stream<Integer> numbers = jdbc
                .sql("with " + unproven(experimentId, siteId) + """
                        , unproven_link as (
                            select entry_no, hard_link from unproven join entry_link using (experiment_id, entry_no)
                            where hard_link is not null
                        ), grouped as (
                            select l.hard_link, v.entry_no, v.until_manifest is null as is_current,
                                   row_number() over (same order by v.entry_no) as nth,
                                   min(v.entry_no) filter (where v.until_manifest is null) over same as first_no,
                                   bool_or(v.until_manifest is null
                                           and exists (select from group_proof(:experiment, :site, v.entry_no)))
                                       over same as is_stored
                            from (select distinct hard_link from unproven_link) g
                            join entry_link l on l.experiment_id = :experiment and l.hard_link = g.hard_link
                            join entry_version v on v.experiment_id = :experiment and v.entry_no = l.entry_no
                            window same as (partition by l.hard_link, v.size_bytes, v.modified_ns, v.mode)
                        )
                        select entry_no from grouped join unproven_link using (entry_no)
                        where is_current and (is_stored or entry_no > first_no) and nth <= :most and entry_no > :after
                        order by grouped.hard_link, entry_no
                        """)
                .withFetchSize(FETCH)
                .params(Map.of("experiment", experimentId, "site", siteId, "most", NAMES_MAX, "after", afterEntry))
                .query((row, n) -> row.getInt(1))
                .stream()) {
            return numbers.mapToInt(Integer::intValue).toArray();
        }
    }

    /** Returns the sums of the entries of {@link #stream} that are at most this long. */
    public Sum sumUpTo(int experimentId, int siteId, long sizeBytes) {
        return jdbc.sql("with %s select count(*) as entries,".formatted(unproven(experimentId, siteId)) + """
                         coalesce(sum(size_bytes), 0) as bytes from unproven where size_bytes <= :size
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "size", sizeBytes))
                .query((row, n) -> new Sum(row.getLong("entries"), row.getLong("bytes")))
                .single();
    }

    /**
     * Returns a table of the query with the unproven entries: from all entries, or from damaged ones and those that
     * appeared since everything was proven.
     */
    private String unproven(int experimentId, int siteId) {
        int safe = jdbc.sql("""
                        select coalesce(max(safe_manifest), 0) from protection
                        where experiment_id = :experiment and site_id = :site
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .query(Integer.class)
                .single();
        String proven =
                "select from proven_entry r where r.experiment_id = :experiment and r.site_id = :site and r.entry_no = e.entry_no";
        if (safe == 0) {
            return """
                   unproven as (
                       select * from entry e where experiment_id = :experiment and not exists (%s)
                   )""".formatted(proven);
        }
        return """
               candidate as (
                   select * from entry where experiment_id = :experiment and since_manifest > 1 and since_manifest > %d
                   union
                   select e.* from open_damage d join entry e using (experiment_id, entry_no)
                   where d.experiment_id = :experiment and d.site_id = :site
               ), unproven as (
                   select * from candidate e
                   where not exists (%s and highest_of(r.entry_nos) >= (select min(entry_no) from candidate))
               )""".formatted(safe, proven);
    }
}
