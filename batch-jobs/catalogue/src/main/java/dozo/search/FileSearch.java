package dozo.search;

import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.search.Hit.Kind;
import dozo.search.Names.Name;
import dozo.search.Search.Found;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * One search for files, folders and links by parts of their paths: the latest experiments first, in an experiment what came
 * last. Names that may match are read until there are enough results or the time is up.
 */
final class FileSearch {

    /** Of an experiment in sight: without a join, so that rows in order are read only until there are enough. */
    static final String OF_SEEN = "(:seen::text[] is null or experiment_id in (select e.experiment_id from experiment e"
            + " join project p using (project_id) where p.code = any(:seen::text[])))";

    /** How many places are looked up at a time. */
    private static final int PLACES = 100;

    /** How many blocks are read even if the time is up, so that a small catalogue is always read. */
    private static final int BLOCKS_LEAST = 8;

    private final JdbcClient jdbc;
    private final Names names;
    private final Sight sight;
    private final List<String> words;
    private final int limit;
    private final int perExperiment;
    private final long deadlineNanos;
    private final List<Hit> hits = new ArrayList<>();
    private final List<Search.Key> keys = new ArrayList<>();

    private int blocks;

    /** The last name that was read. */
    private Search.@Nullable Key reached;

    /** Where names may match: entries of an experiment with these numbers. */
    private record Place(int experimentId, int first, int last) {}

    /**
     * @param limit how many results
     * @param perExperiment how many of them from one experiment
     * @param time when it is up, what was not read yet is left to the next page
     */
    FileSearch(
            JdbcClient jdbc,
            Names names,
            Sight sight,
            List<String> words,
            int limit,
            int perExperiment,
            Duration time) {
        this.jdbc = jdbc;
        this.names = names;
        this.sight = sight;
        this.words = words;
        this.limit = limit;
        this.perExperiment = perExperiment;
        this.deadlineNanos = System.nanoTime() + time.toNanos();
    }

    /** Finds what comes after a place. */
    Found find(Search.Key after) {
        boolean cut = false;
        int experiment = 0;
        int enough = 0;
        Search.Key from = after;
        List<Place> places;
        do {
            places = places(from);
            for (Place place : places) {
                if (place.experimentId != experiment) {
                    experiment = place.experimentId;
                    enough = Math.min(limit + 1, hits.size() + perExperiment);
                } else if (hits.size() == enough) {
                    // Nor is the rest of this experiment looked up.
                    from = new Search.Key(-experiment, 0);
                    continue;
                }
                boolean whole = scan(place, from, enough);
                from = new Search.Key(-place.experimentId, -place.first);
                if (hits.size() > limit) {
                    return new Found(hits.subList(0, limit), keys.get(limit - 1), false);
                }
                cut |= hits.size() == enough;
                if ((!whole && hits.size() < enough) || isOver()) {
                    return new Found(hits, reached, true);
                }
            }
        } while (places.size() == PLACES);
        return new Found(hits, cut ? reached : null, false);
    }

    /**
     * Returns the places that begin before a key. A name that is not listed yet may be anywhere after the last block of its
     * experiment.
     */
    private List<Place> places(Search.Key from) {
        var grams = new BitSet();
        words.forEach(word -> Folded.gather(word, grams));
        return jdbc.sql("""
                        (select experiment_id, first_entry_no as first, last_entry_no as last from name_block
                         where (experiment_id, first_entry_no) < (:experiment, :entry) and %1$s and %2$s
                         order by experiment_id desc, first_entry_no desc limit :limit)
                        union all
                        (select experiment_id, first, 2147483647 from (
                             select u.experiment_id, coalesce(max(b.last_entry_no) + 1, 1) as first
                             from (select distinct experiment_id from unlisted_manifest) u left join name_block b using (experiment_id)
                             group by u.experiment_id) u
                         where (experiment_id, first) < (:experiment, :entry) and %1$s
                         order by experiment_id desc limit :limit)
                        order by experiment_id desc, first desc limit :limit
                        """.formatted(OF_SEEN, grams.isEmpty() ? "true" : "grams @> :grams"))
                .params(Map.of("grams", Folded.stored(grams), "seen", sight.seen(), "limit", PLACES))
                .params(Map.of("experiment", from.experiment(), "entry", from.entry()))
                .query(Rows.of(Place.class))
                .list();
    }

    /** Reads the names of a place after a key, until there are enough results. Returns whether all were read. */
    private boolean scan(Place place, Search.Key after, int enough) {
        int last = place.experimentId == after.experiment() ? Math.min(place.last, after.entry() - 1) : place.last;
        while (last >= place.first) {
            List<Name> block = names.read(place.experimentId, place.first, last, true);
            blocks++;
            for (Name name : block) {
                reached = new Search.Key(-place.experimentId, -name.entry());
                if (!matches(name)) {
                    continue;
                }
                if (isLatest(place.experimentId, name)) {
                    add(place.experimentId, name);
                    if (hits.size() == enough) {
                        return false;
                    }
                } else if (System.nanoTime() > deadlineNanos) {
                    // Each of these took a query, and a block may have thousands.
                    return false;
                }
            }
            if (block.size() < Names.BLOCK) {
                reached = new Search.Key(-place.experimentId, -place.first);
                return true;
            }
            last = block.getLast().entry() - 1;
            if (last >= place.first && isOver()) {
                return false;
            }
        }
        return true;
    }

    private boolean isOver() {
        return blocks >= BLOCKS_LEAST && System.nanoTime() > deadlineNanos;
    }

    /** Returns whether all words are in the path, and one of them at least partly in the name. */
    private boolean matches(Name name) {
        String path = name.folder().folded() + Folded.of(name.bytes());
        boolean inName = false;
        for (String word : words) {
            int at = path.lastIndexOf(word);
            if (at < 0) {
                return false;
            }
            inName |= at + word.length() > name.folder().folded().length();
        }
        return inName;
    }

    /** Of what a path was and is, only the latest is a result. */
    private boolean isLatest(int experiment, Name name) {
        return name.until() == null
                || jdbc.sql("""
                                select not exists (select from versions_of(:experiment, :directory, :name) where entry_no > :entry)
                                """)
                        .params(Map.of("experiment", experiment, "directory", name.directory()))
                        .params(Map.of("name", name.bytes(), "entry", name.entry()))
                        .query(Boolean.class)
                        .single();
    }

    /** Adds a result, unless the experiment was erased meanwhile. */
    private void add(int experiment, Name name) {
        FilePath path = FilePath.of(name.folder().path()).resolve(name.bytes());
        String bytes = Base64.getUrlEncoder().withoutPadding().encodeToString(path.bytes());
        boolean folder = name.kind() == 'd';
        jdbc.sql("""
                        select p.code || '/' || e.code as name,
                               coalesce(:until::integer - 1, (select max(manifest_no) from manifest where experiment_id = :experiment)) as last
                        from experiment e join project p using (project_id) where e.experiment_id = :experiment
                        """)
                .param("experiment", experiment)
                .param("until", name.until())
                .query((row, n) -> new Hit(
                        Kind.FILE,
                        folder ? path + "/" : path.toString(),
                        "",
                        row.getString("name"),
                        name.until() != null,
                        "/experiments/" + row.getString("name")
                                + (folder
                                        ? "/manifests/" + row.getInt("last") + "?folder=" + bytes
                                        : "/proof?path=" + bytes)))
                .optional()
                .ifPresent(hit -> {
                    hits.add(hit);
                    keys.add(new Search.Key(-experiment, -name.entry()));
                });
    }
}
