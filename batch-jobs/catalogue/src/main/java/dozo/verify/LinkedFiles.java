package dozo.verify;

import dozo.ledger.Rows;
import dozo.verify.BagFiles.ProvenFile;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Finds the symbolic links in a bag that lead to a file in it. For a reader of the bag they are files under further
 * names. The links are followed as Linux does, but through proven entries only; the site is not accessed. See ADR 0025.
 *
 * <p>Links are not included if they leave {@code data}, even to return, or lead nowhere, to a folder, into a loop, or
 * to an unproven entry. The database does all the work, link by link, so that nothing has to fit into memory.
 */
@Component
public class LinkedFiles {

    /** How many links Linux follows for one name, including the first; then it fails with ELOOP. */
    static final int LINKS_MAX = 40;

    /**
     * The maximum number of names on the way of one link, including those of the links on the way; a longer way is
     * given up.
     */
    static final int NAMES_MAX = 1_000;

    private static final int FETCH = 1_000;

    private final JdbcClient jdbc;

    public LinkedFiles(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Finds the linked files of an experiment at a site. {@link #found} returns them in the same transaction. The cost
     * is negligible if the experiment never had a link.
     *
     * @return whether there are any
     */
    public boolean find(int experimentId, int siteId) {
        return hasLinks(experimentId) && layOutWays(experimentId, siteId) && follow() && meet(experimentId, siteId);
    }

    /**
     * Returns what was found, by the path of the link, with digest and size of the file. The caller closes the stream.
     */
    public Stream<ProvenFile> found() {
        return jdbc
                .sql("select path, digest, size_bytes from linked_file order by path")
                .withFetchSize(FETCH)
                .query(Rows.of(ProvenFile.class))
                .stream();
    }

    private boolean hasLinks(int experimentId) {
        return jdbc.sql("""
                        select exists (select from entry_link
                                       where experiment_id = :experiment and link_target is not null)
                        """)
                .param("experiment", experimentId)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /**
     * Stores the folders and links that stand: a way can lead only through these. Files, the majority, are not needed
     * here.
     */
    private boolean layOutWays(int experimentId, int siteId) {
        jdbc.sql("drop table if exists on_way, led, linked_file").update();
        jdbc.sql("create temp table on_way (path bytea not null, kind \"char\" not null, target bytea) on commit drop")
                .update();
        jdbc.sql("""
                        insert into on_way
                        select s.path, s.kind, l.link_target
                        from standing_entry(:experiment, :site) s
                        left join entry_link l on l.experiment_id = :experiment and l.entry_no = s.entry_no
                        where s.kind <> 'f'
                        """).param("experiment", experimentId).param("site", siteId).update();
        // The hash, because a path may be longer than an index row can be.
        jdbc.sql("create index on on_way (sha256(path))").update();
        jdbc.sql("analyze on_way").update();
        return jdbc.sql("select exists (select from on_way where kind = 'l')")
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /**
     * Follows each link, name by name: {@code above} are the names of the folder reached so far, {@code rest} is the
     * remaining text. Each name is looked up among folders and links; any other name can only be the last. The way ends
     * when no text is left.
     */
    private boolean follow() {
        jdbc.sql("create temp table led (path bytea not null, target bytea not null) on commit drop")
                .update();
        int led = jdbc.sql("""
                        insert into led
                        select l.path, w.target
                        from on_way l
                        cross join lateral (
                            with recursive way (above, rest, links, names) as (
                                select trim_array(array(select name from names_on_way(l.path) order by length(folder)), 1),
                                       l.target, 1, 0
                                where substring(l.target for 1) <> '\\x2f'::bytea
                                union all
                                select case when p.name in (''::bytea, '\\x2e'::bytea) or o.kind = 'l' then w.above
                                            when p.name = '\\x2e2e'::bytea then trim_array(w.above, 1)
                                            else array_append(w.above, p.name) end,
                                       case when o.kind = 'l' then o.target || coalesce('\\x2f'::bytea || p.rest, ''::bytea)
                                            else p.rest end,
                                       w.links + case when o.kind = 'l' then 1 else 0 end,
                                       w.names + 1
                                from way w
                                cross join lateral (select position('\\x2f'::bytea in w.rest) as slash) s
                                cross join lateral (
                                    select case when slash = 0 then w.rest else substring(w.rest for slash - 1) end as name,
                                           case when slash > 0 then substring(w.rest from slash + 1) end as rest
                                ) p
                                cross join lateral (
                                    select string_agg(n, '\\x2f'::bytea order by i) as path
                                    from unnest(array_append(w.above, p.name)) with ordinality as a (n, i)
                                ) q
                                left join lateral (
                                    select kind, target from on_way
                                    where sha256(path) = sha256(q.path) and path = q.path
                                    limit 1
                                ) o on true
                                where w.rest is not null and w.names < :namesMax
                                  and case when p.name in (''::bytea, '\\x2e'::bytea) or o.kind = 'd' then true
                                           when p.name = '\\x2e2e'::bytea then cardinality(w.above) > 0
                                           when o.kind = 'l' then w.links < :linksMax
                                                                  and substring(o.target for 1) <> '\\x2f'::bytea
                                           else p.rest is null end
                            )
                            select string_agg(n, '\\x2f'::bytea order by i) as target
                            from way cross join lateral unnest(above) with ordinality as a (n, i)
                            where rest is null
                        ) w
                        where l.kind = 'l' and w.target is not null
                        """)
                .params(Map.of("linksMax", LINKS_MAX, "namesMax", NAMES_MAX))
                .update();
        return led > 0;
    }

    /** Stores the links whose way ends at a file. */
    private boolean meet(int experimentId, int siteId) {
        jdbc.sql("create index on led (sha256(target))").update();
        jdbc.sql("analyze led").update();
        jdbc.sql("""
                        create temp table linked_file (path bytea not null, digest bytea not null, size_bytes bigint not null)
                        on commit drop
                        """).update();
        int files = jdbc.sql("""
                        insert into linked_file
                        select l.path, s.digest, s.size_bytes
                        from standing_entry(:experiment, :site) s
                        join led l on sha256(l.target) = sha256(s.path) and l.target = s.path
                        where s.kind = 'f'
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .update();
        return files > 0;
    }
}
