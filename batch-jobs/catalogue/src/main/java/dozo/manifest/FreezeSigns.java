package dozo.manifest;

import dozo.file.FilePath;
import dozo.manifest.Differences.Counts;
import dozo.manifest.Manifests.ChangeKind;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Signs.Repeated;
import dozo.manifest.Signs.Sample;
import dozo.registry.Experiments.Experiment;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** What looks saw of frozen experiments: signs of what happened, and what vanished, changed or came. */
@Component
public class FreezeSigns {

    /** The maximum number of stored changes of each kind; the first by path. */
    static final int CHANGES_MAX = 5_000;

    private static final int SAMPLED_MAX = 40;
    private static final int SUFFIXES_MAX = 5;
    private static final int REPEATED_MAX = 3;
    private static final int REPEATED_FOLDERS_MIN = 3;

    /** Names that many folders got, some of which may not be new. */
    private static final int REPEATED_LOOKED_AT = 100;

    /** Notes are short. */
    private static final long REPEATED_BYTES_MAX = 1L << 20;

    private static final JsonMapper JSON = JsonMapper.shared();

    /** The last suffix of a name with its dot, escaped: PostgreSQL has no regular expressions for bytes. */
    private static final String SUFFIX = "substring(encode(%s, 'escape') from '^.+([.][^.]{1,64})$')";

    private final JdbcClient jdbc;

    /**
     * A difference of a frozen experiment from its manifest.
     *
     * @param path a rendering for people; {@code pathBytes} is the exact path
     * @param bytesBefore missing: it was no file; {@code bytesAfter} missing: it is no file now
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record FrozenChange(
            int number,
            ChangeKind kind,
            String path,
            byte[] pathBytes,
            @Nullable Long bytesBefore,
            @Nullable Long bytesAfter) {}

    public FreezeSigns(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    static @Nullable Signs of(@Nullable String json) {
        return json == null ? null : JSON.readValue(json, Signs.class);
    }

    /**
     * Keeps what a look saw, in place of what an earlier one saw. The tables of {@link Differences} are full. The
     * content of files is not known yet.
     */
    static void keep(JdbcClient jdbc, int experimentId, Manifest before, Counts counts, int unreadable) {
        long freeze = jdbc.sql("select freeze_id from frozen_experiment where experiment_id = :id and ended_at is null")
                .param("id", experimentId)
                .query((row, n) -> row.getLong(1))
                .single();
        jdbc.sql("delete from frozen_change where freeze_id = :freeze")
                .param("freeze", freeze)
                .update();
        jdbc.sql("""
                        insert into frozen_change (freeze_id, change_no, kind, path, bytes_before, bytes_after)
                        select :freeze, row_number() over (order by array_position(array['GONE', 'CHANGED', 'NEW'], kind), path),
                               kind, path, before_bytes, after_bytes
                        from (select *, row_number() over (partition by kind order by path) as n
                              from (select case when x.row_no is null then 'GONE' when x.before_no is null then 'NEW' else 'CHANGED' end as kind,
                                           entry_path(coalesce(d.path, f.path), x.name) as path,
                                           case when x.before_kind = 'f' then x.before_bytes end as before_bytes,
                                           case when x.kind = 'f' then x.size_bytes end as after_bytes
                                    from difference x
                                    left join directory d on d.experiment_id = :experiment and d.directory_no = x.directory_no
                                    left join crawl_folder f on f.directory_no = x.directory_no
                                    where case when x.before_no is null then x.kind in ('f', 'l') else %s end) change) numbered
                        where n <= :most
                        """.formatted(Differences.LOST))
                .params(Map.of("freeze", freeze, "experiment", experimentId, "most", CHANGES_MAX))
                .update();
        jdbc.sql("update frozen_experiment set signs = :signs::jsonb where freeze_id = :freeze")
                .param("signs", JSON.writeValueAsString(signs(jdbc, experimentId, before, counts, unreadable)))
                .param("freeze", freeze)
                .update();
    }

    private static Signs signs(JdbcClient jdbc, int experimentId, Manifest before, Counts counts, int unreadable) {
        // NB: materialized: there may be as many new suffixes as files, and each is looked up among all entries.
        List<Repeated> suffixes = jdbc.sql("""
                        with known as materialized (
                            select distinct %1$s as suffix from entry e where e.experiment_id = :experiment and e.kind = 'f'
                        )
                        select decode(suffix, 'escape') as suffix, files
                        from (select %2$s as suffix, count(*) as files from difference x
                              where before_no is null and kind = 'f' group by 1 having count(*) > 1) s
                        where suffix is not null and not exists (select from known k where k.suffix = s.suffix)
                        order by files desc, suffix limit :most
                        """.formatted(SUFFIX.formatted("e.name"), SUFFIX.formatted("x.name")))
                .params(Map.of("experiment", experimentId, "most", SUFFIXES_MAX))
                .query((row, n) -> Repeated.of(row.getBytes("suffix"), row.getLong("files")))
                .list();
        List<Repeated> repeated = jdbc.sql("""
                        with often as materialized (
                            select name, count(*) as folders from difference
                            where before_no is null and kind = 'f' and size_bytes between 1 and :bytes
                            group by name, size_bytes having count(*) >= :folders
                            order by folders desc, name limit :looked
                        ), known as materialized (
                            select distinct name from entry
                            where experiment_id = :experiment and name in (select name from often)
                        )
                        select name, folders from often where name not in (select name from known)
                        order by folders desc, name limit :most
                        """)
                .params(Map.of("experiment", experimentId, "bytes", REPEATED_BYTES_MAX))
                .params(Map.of("folders", REPEATED_FOLDERS_MIN, "looked", REPEATED_LOOKED_AT, "most", REPEATED_MAX))
                .query((row, n) -> Repeated.of(row.getBytes("name"), row.getLong("folders")))
                .list();
        long added = jdbc.sql("select count(*) from difference where before_no is null and kind in ('f', 'l')")
                .query((row, n) -> row.getLong(1))
                .single();
        return new Signs(
                before.files() + before.links(),
                counts.entriesVanished(),
                counts.entriesLost() - counts.entriesVanished(),
                added,
                unreadable,
                suffixes,
                repeated,
                null);
    }

    /**
     * Reads some changed and new files of a frozen experiment, and keeps what they look like. Does nothing if it is not frozen, or if they
     * were read after the last look. No transaction may be open: a source may respond slowly. Never fails because of the source.
     */
    public void examine(Experiment experiment) {
        jdbc.sql("""
                        select freeze_id, signs from frozen_experiment
                        where experiment_id = :id and ended_at is null and released_at is null and signs -> 'sample' = 'null'
                        """)
                .param("id", experiment.id())
                .query((row, n) -> Map.of("freeze", row.getLong("freeze_id"), "seen", row.getString("signs")))
                .optional()
                .ifPresent(seen -> {
                    Sample sample = Sampling.read(experiment, sampled(seen));
                    if (sample != null) {
                        // A look for another site may have stored other signs meanwhile; it reads its own sample.
                        jdbc.sql("""
                                        update frozen_experiment set signs = jsonb_set(signs, '{sample}', :sample::jsonb)
                                        where freeze_id = :freeze and signs = :seen::jsonb
                                        """)
                                .params(seen)
                                .param("sample", JSON.writeValueAsString(sample))
                                .update();
                    }
                });
    }

    /** Returns files from all over the experiment, and always the same ones. */
    private List<FilePath> sampled(Map<String, ?> freeze) {
        return jdbc.sql("""
                        select path from frozen_change where freeze_id = :freeze and kind <> 'GONE' and bytes_after > 0
                        order by sha256(path) limit :most
                        """)
                .params(freeze)
                .param("most", SAMPLED_MAX)
                .query((row, n) -> FilePath.of(row.getBytes("path")))
                .list();
    }

    /** Returns at most {@code limit} changes of a frozen experiment after a number: what vanished, what changed, what is new, by path. */
    public List<FrozenChange> changes(int experimentId, int after, int limit) {
        return jdbc.sql("""
                        select c.* from frozen_change c join frozen_experiment f using (freeze_id)
                        where f.experiment_id = :experiment and f.ended_at is null and c.change_no > :after
                        order by c.change_no limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "after", after, "limit", limit))
                .query((row, n) -> new FrozenChange(
                        row.getInt("change_no"),
                        ChangeKind.valueOf(row.getString("kind")),
                        FilePath.render(row.getBytes("path")),
                        row.getBytes("path"),
                        row.getObject("bytes_before", Long.class),
                        row.getObject("bytes_after", Long.class)))
                .list();
    }
}
