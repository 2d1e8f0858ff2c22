package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.KnownFolders.Known;
import dozo.collect.Offer.Folder;
import dozo.collect.Origins.Origin;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.GivenPaths;
import dozo.registry.Refusal;
import dozo.source.tree.Completeness.Seen;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Where the folders of arrivals from file trees are, and what was seen in them. */
@Component
class TreeFolders {

    private static final int BATCH = 1_000;

    private static final String SELECT = """
            select f.*, a.theirs, a.title, a.state from tree_folder f join arrival a using (origin_id, item)
            """;

    private static final RowMapper<Known> KNOWN = (row, n) -> {
        Timestamp since = row.getTimestamp("unchanged_since");
        Timestamp at = row.getTimestamp("seen_at");
        Seen seen = since == null || at == null
                ? null
                : new Seen(
                        row.getLong("files"),
                        row.getLong("bytes"),
                        row.getLong("digest"),
                        since.toInstant(),
                        at.toInstant());
        return new Known(
                row.getString("item"),
                new Folder(
                        FilePath.of(row.getBytes("path")),
                        row.getLong("inode"),
                        row.getObject("born_ns", Long.class),
                        seen),
                row.getString("theirs"),
                row.getString("title"),
                row.getString("state").equals("GONE"));
    };

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Experiments experiments;
    private final Ledger ledger;

    TreeFolders(JdbcTemplate template, Experiments experiments, Ledger ledger) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.experiments = experiments;
        this.ledger = ledger;
    }

    /** Returns all known folders of an origin, including those that are gone. */
    List<Known> of(Origin origin) {
        return jdbc.sql(SELECT + "where f.origin_id = :origin order by f.item")
                .param("origin", origin.id())
                .query(KNOWN)
                .list();
    }

    Optional<Known> find(Origin origin, String item) {
        return jdbc.sql(SELECT + "where f.origin_id = :origin and f.item = :item")
                .param("origin", origin.id())
                .param("item", item)
                .query(KNOWN)
                .optional();
    }

    /** Returns complete items whose latest manifest has other counts of files or bytes than the last look found. */
    Set<String> grown(Origin origin) {
        return new HashSet<>(jdbc.sql("""
                        select f.item
                        from tree_folder f
                        join arrival a using (origin_id, item)
                        cross join lateral (select m.files, m.bytes from manifest m where m.experiment_id = a.experiment_id
                                            order by m.manifest_no desc limit 1) m
                        where f.origin_id = :origin and a.state = 'COMPLETE'
                          and (m.files, m.bytes) is distinct from (f.files, f.bytes)
                        """)
                .param("origin", origin.id())
                .query((row, n) -> row.getString(1))
                .list());
    }

    /** Stores the places of folders that are new or moved. */
    void keep(Origin origin, List<Offer> offers) {
        Map<String, Known> before = of(origin).stream().collect(Collectors.toMap(Known::item, Function.identity()));
        List<Offer> changed = new ArrayList<>();
        for (Offer offer : offers) {
            Known known = before.get(offer.item());
            Folder place = offer.place();
            if (place != null && (known == null || !known.place().with(null).equals(place.with(null)))) {
                changed.add(offer);
            }
        }
        template.batchUpdate("""
                insert into tree_folder (origin_id, item, path, inode, born_ns) values (?, ?, ?, ?, ?)
                on conflict (origin_id, item) do update
                    set path = excluded.path, inode = excluded.inode, born_ns = excluded.born_ns
                """, changed, BATCH, (statement, each) -> {
            statement.setInt(1, origin.id());
            statement.setString(2, each.item());
            Folder place = Objects.requireNonNull(each.place());
            statement.setBytes(3, place.path().bytes());
            statement.setLong(4, place.inode());
            statement.setObject(5, place.bornNanos(), Types.BIGINT);
        });
    }

    void saw(Arrival arrival, Seen seen) {
        jdbc.sql("""
                        update tree_folder f
                        set files = :files, bytes = :bytes, digest = :digest, unchanged_since = :since, seen_at = :at
                        from arrival a
                        where a.arrival_id = :arrival and f.origin_id = a.origin_id and f.item = a.item
                        """).params(Rows.params(seen)).param("arrival", arrival.id()).update();
    }

    /**
     * Updates the sources of experiments whose folders were moved or renamed.
     *
     * @return the folders for which this failed
     */
    List<Remark> follow(Origin origin) {
        List<Remark> troubles = new ArrayList<>();
        for (Placed each : placed(origin, """
                join experiment e on e.experiment_id = a.experiment_id
                where a.origin_id = :origin and a.state <> 'GONE' and e.source_kind = 'filesystem'
                  and e.source_root <> o.spool || '/'::bytea || f.path
                """)) {
            Experiment experiment = experiments.find(each.experiment()).orElseThrow();
            try {
                experiments.moved(experiment, each.folder(), Ledger.SYSTEM);
            } catch (Refusal refusal) {
                troubles.add(new Remark(
                        GivenPaths.shown(each.folder()),
                        each.item(),
                        "FOLDER_TAKEN",
                        String.valueOf(refusal.getMessage())));
            }
        }
        return troubles;
    }

    /**
     * Binds proposals to experiments that users have registered with their folders; they are then no longer proposals.
     */
    void bind(Origin origin) {
        for (Placed each : placed(origin, """
                join experiment e on e.source_kind = 'filesystem'
                     and sha256(e.source_root) = sha256(o.spool || '/'::bytea || f.path)
                where a.origin_id = :origin and a.state = 'OFFERED' and a.experiment_id is null
                  and not exists (select from arrival other where other.experiment_id = e.experiment_id)
                """)) {
            jdbc.sql("""
                            update arrival
                            set experiment_id = :experiment, state = 'ARRIVING', waiting = true,
                                project_id = (select project_id from experiment where experiment_id = :experiment)
                            where origin_id = :origin and item = :item
                            """)
                    .param("experiment", each.experiment())
                    .param("origin", origin.id())
                    .param("item", each.item())
                    .update();
            ledger.append(
                    Ledger.SYSTEM,
                    "arrival.bound",
                    experiments.find(each.experiment()).orElseThrow().name(),
                    Arrivals.details(
                            origin.name(), each.item(), "proposal", "experiment, registered with this folder"));
        }
    }

    private record Placed(String item, int experiment, Path folder) {}

    private List<Placed> placed(Origin origin, String which) {
        return jdbc.sql("""
                        select f.item, e.experiment_id as experiment, o.spool || '/'::bytea || f.path as folder
                        from tree_folder f
                        join arrival a using (origin_id, item)
                        join origin o using (origin_id)
                        """ + which + " order by f.item")
                .param("origin", origin.id())
                .query(Rows.of(Placed.class))
                .list();
    }
}
