package dozo.search;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The names of entries in blocks: of each block the numbers of its parts ({@link Folded#gather}), by which a search finds the
 * few blocks that it has to read. Sealing only notes that a manifest is not listed yet; what is noted here is listed later,
 * a step at a time. Until then, searches read its names themselves.
 */
@Component
public class Names {

    /** How many entries a full block has. */
    static final int BLOCK = 4_096;

    /** How many blocks a step lists at most, so that no transaction is long. */
    private static final int STEP = 16;

    private final JdbcClient jdbc;

    /**
     * A name in a folder.
     *
     * @param directory the number of its folder
     * @param kind f, d or l
     * @param until the manifest since which it is gone; null: it holds
     */
    @SuppressWarnings("ArrayRecordComponent") // read once
    record Name(
            int entry,
            int directory,
            Folder folder,
            byte[] bytes,
            char kind,
            @Nullable Integer until) {}

    /**
     * A folder.
     *
     * @param folded its path and a slash; empty: the source's root
     */
    @SuppressWarnings("ArrayRecordComponent") // read once
    record Folder(byte[] path, String folded) {}

    public Names(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Lists some of the names that are not listed yet, those of the latest experiments first.
     *
     * @return whether there may be more, and nobody else is at it
     */
    @Transactional
    public boolean listSome() {
        Optional<Integer> found = jdbc.sql("select max(experiment_id) from unlisted_manifest")
                .query((row, n) -> Optional.ofNullable(row.getObject(1, Integer.class)))
                .single();
        return found.isPresent() && list(found.get());
    }

    private boolean list(int experiment) {
        // NB: skips locked rows, to avoid a deadlock: another service lists them, or an erasure removes them.
        List<Integer> manifests = jdbc.sql("""
                        select u.manifest_no from unlisted_manifest u join experiment e using (experiment_id)
                        where experiment_id = :experiment
                        order by u.manifest_no for no key update of e skip locked for update of u skip locked
                        """)
                .param("experiment", experiment)
                .query((row, n) -> row.getInt(1))
                .list();
        if (manifests.isEmpty()) {
            return false;
        }
        int from = beginning(experiment);
        for (int step = 0; step < STEP; step++) {
            List<Name> names = read(experiment, from, Integer.MAX_VALUE, false);
            if (!names.isEmpty()) {
                insert(experiment, from, names);
                from = names.getLast().entry() + 1;
            }
            if (names.size() < BLOCK) {
                jdbc.sql("delete from unlisted_manifest where experiment_id = :experiment and manifest_no <= :manifest")
                        .params(Map.of("experiment", experiment, "manifest", manifests.getLast()))
                        .update();
                return true;
            }
        }
        return true;
    }

    /** Returns the first number that is not in a full block, and removes the block that is not full. */
    private int beginning(int experiment) {
        return jdbc.sql("""
                        with cut as (
                            delete from name_block where experiment_id = :experiment and entries < :block returning first_entry_no
                        )
                        select coalesce((select min(first_entry_no) from cut),
                                        (select max(last_entry_no) + 1 from name_block where experiment_id = :experiment), 1)
                        """)
                .params(Map.of("experiment", experiment, "block", BLOCK))
                .query(Integer.class)
                .single();
    }

    private void insert(int experiment, int from, List<Name> names) {
        var grams = new BitSet();
        String folder = null;
        for (Name name : names) {
            String path = name.folder().folded();
            if (!path.equals(folder)) {
                folder = path;
                Folded.gather(path, grams);
            }
            // With the end of the folder's path, for words that have a slash in them.
            Folded.gather(path.substring(Math.max(0, path.length() - 4)) + Folded.of(name.bytes()), grams);
        }
        jdbc.sql("insert into name_block values (:experiment, :from, :last, :entries, :grams)")
                .params(Map.of("experiment", experiment, "from", from))
                .params(Map.of("last", names.getLast().entry(), "entries", names.size()))
                .param("grams", Folded.stored(grams))
                .update();
    }

    /** Returns at most {@link #BLOCK} names with these numbers, whether they hold or ended, the lowest or the highest first. */
    List<Name> read(int experiment, int first, int last, boolean highestFirst) {
        Map<Integer, Folder> folders = new HashMap<>();
        return jdbc.sql("""
                        with named as materialized (
                            select * from (
                                (select entry_no, directory_no, name, kind, null::integer as until_manifest from entry
                                 where experiment_id = :experiment and entry_no between :first and :last
                                 order by entry_no%1$s limit :block)
                                union all
                                (select entry_no, directory_no, name, kind, until_manifest from ended_entry
                                 where experiment_id = :experiment and entry_no between :first and :last
                                 order by entry_no%1$s limit :block)) e
                            order by entry_no%1$s limit :block
                        )
                        select n.*, d.path from named n
                        join directory d on d.experiment_id = :experiment and d.directory_no = n.directory_no
                        order by n.entry_no%1$s
                        """.formatted(highestFirst ? " desc" : ""))
                .params(Map.of("experiment", experiment, "first", first, "last", last, "block", BLOCK))
                .query((row, n) -> {
                    int number = row.getInt("directory_no");
                    Folder folder = folders.get(number);
                    if (folder == null) {
                        byte[] path = row.getBytes("path");
                        folder = new Folder(path, path.length == 0 ? "" : Folded.of(path) + "/");
                        folders.put(number, folder);
                    }
                    return new Name(
                            row.getInt("entry_no"),
                            number,
                            folder,
                            row.getBytes("name"),
                            row.getString("kind").charAt(0),
                            row.getObject("until_manifest", Integer.class));
                })
                .list();
    }
}
