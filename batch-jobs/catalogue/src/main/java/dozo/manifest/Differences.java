package dozo.manifest;

import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Tripwire.Lost;
import java.util.Collection;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Compares what a source contains now with the entries that hold, by folder and name, and creates the next manifest's
 * entries. It reads only changed folders: those in the table {@code crawl_folder}, with their present content in
 * {@code crawl}, and vanished ones in {@code gone_folder}. All three are temporary, and so is {@code difference}. They
 * are created once per connection, and the end of every transaction empties them, which writes nothing to the system
 * catalogue.
 */
final class Differences {

    /**
     * From this number of rows on, the temporary tables are analyzed for the planner, which writes to the system
     * catalogue.
     */
    private static final int ANALYZED_FROM = 5_000;

    /** Whether a difference {@code x} is a loss: a file or link that vanished, and did not move, or has other content. */
    static final String LOST = """
            x.before_kind in ('f', 'l') and x.content
            and (x.row_no is not null
                 or not exists (select from difference m
                                where m.before_no is null and m.name = x.name
                                  and m.kind = x.before_kind and m.size_bytes = x.before_bytes
                                  and m.modified_ns = x.before_ns))""";

    private final JdbcClient jdbc;
    private final int experimentId;
    private final boolean owners;

    /**
     * How much differs.
     *
     * @param changed entries with other facts; {@code typeChanged} of them changed between file, folder and link
     * @param files how many more files there are now; negative: fewer. The same for bytes, folders and links
     * @param entriesLost files and links that vanished or have other content, and did not move; {@code entriesVanished} of them vanished
     */
    record Counts(
            int added,
            int changed,
            int typeChanged,
            int gone,
            long files,
            long bytes,
            long folders,
            long links,
            long entriesLost,
            long entriesVanished,
            long bytesLost) {

        Lost lost() {
            return new Lost(entriesLost, bytesLost);
        }

        boolean none() {
            return added + changed + gone == 0;
        }
    }

    /** @param owners whether another owner is a difference: not at the first look at owners, which are unknown before */
    Differences(JdbcClient jdbc, int experimentId, boolean owners) {
        this.jdbc = jdbc;
        this.owners = owners;
        this.experimentId = experimentId;
    }

    /** Creates the tables if this connection does not have them yet. */
    static void createTables(JdbcClient jdbc) {
        boolean there = jdbc.sql("select to_regclass('pg_temp.difference') is not null")
                .query(Boolean.class)
                .single();
        if (!there) {
            jdbc.sql("""
                    create temporary table crawl (
                        row_no integer not null,
                        directory_no integer not null,
                        %s,
                        uid bigint,
                        gid bigint,
                        attributes bytea[]
                    ) on commit delete rows;
                    create temporary table crawl_folder (
                        directory_no integer not null,
                        path bytea,
                        entries integer not null,
                        fingerprint bytea,
                        complete boolean not null
                    ) on commit delete rows;
                    create temporary table gone_folder (directory_no integer not null) on commit delete rows;
                    create temporary table difference (
                        before_no integer,
                        row_no integer,
                        directory_no integer not null,
                        name bytea not null,
                        before_kind "char",
                        before_bytes bigint,
                        before_ns bigint,
                        kind "char",
                        size_bytes bigint,
                        modified_ns bigint,
                        content boolean not null,
                        before_link bigint,
                        hard_link bigint
                    ) on commit delete rows;
                    create temporary table renumbered (before_link bigint, hard_link bigint) on commit delete rows;
                    """.formatted(FolderRows.DEFINITIONS)).update();
        }
    }

    /**
     * Finds the differences. The content of a file is taken for unchanged if its earlier time was known in whole seconds
     * and is the same: a site keeps no others, and a rebuilt catalogue knows only those. Such a file is sent again, but it
     * is not lost. Nor is a link with the same text. An entry that is not in its folder's listing is gone only if the listing is complete and
     * the entry itself was not unreadable: unknown is not gone.
     *
     * @param rows the number of entries reported for changed folders
     */
    void find(Collection<FilePath> unreadable, long rows) {
        // For the hash tables of a night with many changes; with the default they would be written to disk.
        jdbc.sql("set local work_mem = '64MB'").update();
        // Memoize would look up each entry's link. It is faster to read all links at once, because no two entries share
        // one.
        jdbc.sql("set local enable_memoize = off").update();
        // Rough statistics suffice: sampling 30,000 rows of each table took longer than everything that follows. Few
        // rows need none.
        boolean many = rows >= ANALYZED_FROM;
        if (many) {
            jdbc.sql("set local default_statistics_target = 5").update();
            jdbc.sql("analyze crawl, crawl_folder, gone_folder").update();
        }
        // NB: "offset 0" keeps the planner from reading all of the experiment's entries for a few folders.
        jdbc.sql("""
                        insert into difference
                        select h.entry_no as before_no, c.row_no, coalesce(c.directory_no, h.directory_no) as directory_no,
                               coalesce(c.name, h.name) as name,
                               h.kind as before_kind, h.size_bytes as before_bytes, h.modified_ns as before_ns,
                               c.kind, c.size_bytes, c.modified_ns,
                               (h.kind, h.size_bytes, h.link_target) is distinct from (c.kind, c.size_bytes, c.link_target)
                                   or h.kind = 'f' and h.modified_ns not in (c.modified_ns, c.modified_ns - mod(c.modified_ns, 1000000000))
                                   as content,
                               case when not o.differs then h.hard_link end as before_link, c.hard_link
                        from (select e.*, l.hard_link, l.link_target, o.uid, o.gid, f.complete
                              from crawl_folder f
                              cross join lateral (select * from entries_of(:experiment, f.directory_no) offset 0) e
                              left join entry_link l on l.experiment_id = :experiment and l.entry_no = e.entry_no
                              left join entry_owner o on o.experiment_id = :experiment and o.entry_no = e.entry_no) h
                        full join crawl c on c.directory_no = h.directory_no and c.name = h.name
                        cross join lateral (
                            select (h.kind, h.size_bytes, h.modified_ns, h.mode, h.link_target)
                                       is distinct from (c.kind, c.size_bytes, c.modified_ns, c.mode, c.link_target)
                                   or :owners and (h.uid, h.gid) is distinct from (c.uid, c.gid)
                                              and -1 not in (coalesce(h.uid, 0), coalesce(c.uid, 0)) as differs) o
                        where (o.differs or h.hard_link is distinct from c.hard_link) and (c.row_no is not null or h.complete)
                        union all
                        select e.entry_no, null, e.directory_no, e.name, e.kind, e.size_bytes, e.modified_ns,
                               null, null, null, true, null, null
                        from gone_folder g
                        cross join lateral (select * from entries_of(:experiment, g.directory_no) offset 0) e
                        """).param("experiment", experimentId).param("owners", owners).update();
        if (!unreadable.isEmpty()) {
            keepUnknown(unreadable);
        }
        keepGroups();
        if (many) {
            jdbc.sql("analyze difference").update();
        }
    }

    private void keepUnknown(Collection<FilePath> unreadable) {
        jdbc.sql("""
                        delete from difference x using directory d
                        where x.row_no is null and d.experiment_id = :experiment and d.directory_no = x.directory_no
                          and entry_path(d.path, x.name) in (select unnest(:unreadable::bytea[]))
                        """)
                .param("experiment", experimentId)
                .param("unreadable", unreadable.stream().map(FilePath::bytes).toArray(byte[][]::new))
                .update();
    }

    /**
     * Takes files for unchanged that have only another inode number, if the names with the former number are those with the
     * present one: they are on another file system. Files without other names may have another number, too.
     */
    private void keepGroups() {
        int groups = jdbc.sql("""
                        insert into renumbered
                        select g.before_link, g.hard_link
                        from (select before_link, hard_link, count(*) as names
                              from difference where before_link <> hard_link group by 1, 2) g
                        join (select hard_link, count(*) as names from crawl group by 1) c using (hard_link, names)
                        join (select l.hard_link as before_link, count(*) as names
                              from entry_link l join entry e using (experiment_id, entry_no)
                              where l.experiment_id = :experiment group by 1) h using (before_link, names)
                        where not exists (select from entry_link l join entry e using (experiment_id, entry_no)
                                          where l.experiment_id = :experiment and l.hard_link = g.hard_link
                                            and not exists (select from difference x where x.before_no = e.entry_no))
                        """).param("experiment", experimentId).update();
        if (groups > 0) {
            jdbc.sql("""
                    delete from difference x using renumbered r
                    where (x.before_link, x.hard_link) = (r.before_link, r.hard_link)
                    """).update();
        }
    }

    /** Gives groups of hard links their present numbers, also in earlier manifests. No two groups get one number. */
    void keepLinks() {
        // What has ended may have a number that is now another group's: it gets one that is free now.
        jdbc.sql("""
                        insert into renumbered
                        select taken.n, free.n
                        from (select n, row_number() over (order by n) as i
                              from (select hard_link from renumbered except select before_link from renumbered) t (n)) taken
                        join (select n, row_number() over (order by n) as i
                              from (select before_link from renumbered except select hard_link from renumbered) f (n)) free
                            using (i)
                        """).update();
        jdbc.sql("""
                        update entry_link l set hard_link = r.hard_link
                        from renumbered r where l.experiment_id = :experiment and l.hard_link = r.before_link
                        """).param("experiment", experimentId).update();
    }

    /**
     * Counts the differences. An entry that moved to another folder of the experiment with its name, size and time is
     * not lost.
     */
    Counts count() {
        return jdbc.sql("""
                        select count(*) filter (where before_no is null) as added,
                               count(*) filter (where before_no is not null and row_no is not null) as changed,
                               count(*) filter (where before_kind <> kind) as type_changed,
                               count(*) filter (where row_no is null) as gone,
                               count(*) filter (where kind = 'f') - count(*) filter (where before_kind = 'f') as files,
                               coalesce(sum(size_bytes), 0) - coalesce(sum(before_bytes), 0) as bytes,
                               count(*) filter (where kind = 'd') - count(*) filter (where before_kind = 'd') as folders,
                               count(*) filter (where kind = 'l') - count(*) filter (where before_kind = 'l') as links,
                               count(*) filter (where lost) as entries_lost,
                               count(*) filter (where lost and row_no is null) as entries_vanished,
                               coalesce(sum(before_bytes) filter (where lost), 0) as bytes_lost
                        from (select *, %s as lost
                              from difference x) difference
                        """.formatted(LOST)).query(Rows.of(Counts.class)).single();
    }

    /**
     * Says what was found. An entry of the manifest is missing unless it was reported: what is unknown is not there.
     *
     * @param reported the number of all entries that the source has now
     */
    Comparison compared(Manifest before, long reported) {
        List<String> first = jdbc.sql("""
                        select entry_path(d.path, x.name) as path
                        from difference x join directory d on d.experiment_id = :experiment and d.directory_no = x.directory_no
                        where x.before_no is not null and x.content
                        order by 1 limit :most
                        """)
                .param("experiment", experimentId)
                .param("most", Comparison.NAMES_MAX)
                .query((row, n) -> FilePath.of(row.getBytes("path")).toString())
                .list();
        return jdbc.sql("""
                        select count(*) filter (where content and not same) as changed,
                               count(*) filter (where content and same) as times,
                               count(*) filter (where content and same and abs(modified_ns - before_ns) < 2000000000) as rounded,
                               count(*) filter (where before_no is null) as added,
                               count(*) filter (where not content and kind = 'f') as facts
                        from (select *, kind = 'f' and (before_kind, before_bytes) = (kind, size_bytes) as same from difference) x
                        where row_no is not null
                        """)
                .query((row, n) -> new Comparison(
                        "",
                        before.entries() - (reported - row.getLong("added")),
                        row.getLong("changed"),
                        row.getLong("times"),
                        row.getLong("rounded"),
                        row.getLong("added"),
                        row.getLong("facts"),
                        first))
                .single();
    }

    /** Records the owners of unchanged entries that were sealed before owners were recorded. */
    void keepOwners() {
        jdbc.sql("""
                        insert into entry_owner (experiment_id, entry_no, uid, gid)
                        select :experiment, e.entry_no, c.uid, c.gid
                        from crawl_folder f
                        cross join lateral (select * from entries_of(:experiment, f.directory_no) offset 0) e
                        join crawl c on c.directory_no = e.directory_no and c.name = e.name
                        where c.uid is not null
                          and not exists (select from difference x where x.before_no = e.entry_no)
                        """).param("experiment", experimentId).update();
    }

    /** Ends vanished and changed entries and adds new and changed ones, as of the manifest with this number. */
    void apply(int next) {
        // NB: an array, because for a join the planner may read all of the experiment's entries.
        jdbc.sql("""
                        with ended as (
                            delete from entry
                            where experiment_id = :experiment
                              and entry_no = any(array(select before_no from difference where before_no is not null))
                            returning *
                        )
                        insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns,
                                                 mode, kind, name, until_manifest)
                        select experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name,
                               :next
                        from ended
                        """).param("experiment", experimentId).param("next", next).update();
        jdbc.sql("""
                        with numbered as (
                            select (select coalesce(max(entry_no), 0) from entry_version where experiment_id = :experiment)
                                       + row_number() over (order by row_no) as entry_no, c.*
                            from difference x join crawl c using (row_no)
                        ), links as (
                            insert into entry_link (experiment_id, entry_no, hard_link, link_target)
                            select :experiment, entry_no, hard_link, link_target from numbered
                            where hard_link is not null or link_target is not null
                        ), owners as (
                            insert into entry_owner (experiment_id, entry_no, uid, gid)
                            select :experiment, entry_no, uid, gid from numbered where uid is not null
                        ), attributes as (
                            insert into entry_attribute (experiment_id, entry_no, attributes)
                            select :experiment, entry_no, attributes from numbered where attributes is not null
                        )
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns,
                                           mode, kind, name)
                        select :experiment, entry_no, directory_no, :next, size_bytes, modified_ns, mode, kind, name
                        from numbered
                        """).param("experiment", experimentId).param("next", next).update();
    }

    /** Stores the present state of the folders, by which the next look recognises them. */
    void keepFolders() {
        jdbc.sql("""
                        insert into directory (experiment_id, directory_no, path, entries, fingerprint,
                                               first_entry_no, last_entry_no)
                        select :experiment, directory_no, path, entries, fingerprint, 0, 0
                        from crawl_folder where path is not null
                        """).param("experiment", experimentId).update();
        jdbc.sql("""
                        update directory d set entries = f.entries, fingerprint = f.fingerprint
                        from crawl_folder f
                        where d.experiment_id = :experiment and d.directory_no = f.directory_no and f.path is null
                        """).param("experiment", experimentId).update();
        jdbc.sql("""
                        update directory d set entries = null, fingerprint = null
                        from gone_folder g
                        where d.experiment_id = :experiment and d.directory_no = g.directory_no
                        """).param("experiment", experimentId).update();
    }
}
