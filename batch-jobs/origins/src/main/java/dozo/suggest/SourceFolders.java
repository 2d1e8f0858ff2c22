package dozo.suggest;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.FileQuestion;
import dozo.registry.GivenPaths;
import dozo.registry.Refusal;
import dozo.registry.SourcePlaces;
import dozo.registry.SourcePlaces.SourceFolder;
import dozo.source.Subfolders;
import dozo.source.Subfolders.Name;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The folders below the source roots that a user may register, one level at a time. Nothing outside the roots is shown,
 * and no link below them is followed. A file system that does not respond is waited for as a person waits (ADR 0046).
 */
@Component
public class SourceFolders {

    /** The most folders on a page. Each is looked at on a thread of its own, because any may be a mount that hangs. */
    public static final int SHOWN = 100;

    private static final Path TOP = Path.of("/");
    private static final FileQuestion<Look> LOOK = new FileQuestion<>(SourceFolders::look);
    private static final FileQuestion<Look> LOOK_AT_ROOT = new FileQuestion<>(SourceFolders::lookAtRoot);

    private static final RowMapper<Registered> REGISTERED = Rows.of(Registered.class);

    private final JdbcClient jdbc;
    private final SourcePlaces places;

    /** What is known of a folder. */
    public enum State {
        /** It can be opened. */
        READABLE,
        /** A symbolic link, which is not followed. */
        LINK,
        /** The service's user may not read it, or reading failed. */
        UNREADABLE,
        /** It does not exist any more. */
        GONE,
        /** Its file system does not respond. */
        SILENT
    }

    /**
     * What is registered at a folder and below it.
     *
     * @param experiment the experiment with this source; null: there is none in sight
     * @param elsewhere whether it is the source of an experiment that is not in sight
     * @param below how many visible experiments are below it
     * @param waiting how many of all these are not completely safe at every site
     * @param waitingBytes how much of their sealed content is not
     */
    public record Registered(
            @Nullable String experiment, boolean elsewhere, long below, long waiting, long waitingBytes) {

        static final Registered NOTHING = new Registered(null, false, 0, 0, 0);

        /** Returns whether the folder itself is registered. */
        public boolean itself() {
            return experiment != null || elsewhere;
        }
    }

    /**
     * A folder, or a link.
     *
     * @param path from the top of the file system
     * @param changed when its list of names was changed last; null: unknown
     */
    public record Folder(
            FilePath path, State state, @Nullable Instant changed, Registered registered) {

        /** Returns its name for people. */
        public String name() {
            return FilePath.render(path.name());
        }

        /** Returns whether its name is text as the service writes it. */
        public boolean isText() {
            return FilePath.of(path.name()).isUtf8();
        }

        /** Returns whether it can be registered. */
        public boolean free() {
            return state == State.READABLE && !registered.itself();
        }
    }

    /** A source root, with the projects that have it. */
    public record Root(Folder folder, List<String> projects) {

        /** Returns its path for people. */
        public String name() {
            return FilePath.render(FilePath.rawBytes(folder.path.under(TOP)));
        }
    }

    /**
     * A page of a folder's content.
     *
     * @param path without links, from the top of the file system
     * @param root the source root it is in; the same as {@code path} for the root itself
     * @param projects those that have this root
     * @param inside what is registered with this folder, or with one above it
     * @param folders without those that are registered in a project that is not in sight
     * @param hidden how many of those the page would have
     * @param others how many files and other names it has
     * @param next the name after which the next page begins; null: there is none
     */
    public record Level(
            FilePath path,
            FilePath root,
            List<String> projects,
            Registered inside,
            List<Folder> folders,
            int hidden,
            long others,
            @Nullable FilePath next) {

        /** Returns the folders from the root to this one. */
        public List<FilePath> way() {
            List<FilePath> way = new ArrayList<>(List.of(path));
            while (!way.getFirst().equals(root)) {
                way.addFirst(way.getFirst().parent());
            }
            return way;
        }
    }

    private record Look(Path real, State state, @Nullable Instant changed) {}

    public SourceFolders(JdbcClient jdbc, SourcePlaces places) {
        this.jdbc = jdbc;
        this.places = places;
    }

    /** Returns the source roots of the visible projects, by path. */
    public List<Root> roots(Sight sight) {
        Map<Path, List<String>> projects = new LinkedHashMap<>();
        places.roots(sight)
                .forEach((project, roots) ->
                        roots.forEach(root -> projects.computeIfAbsent(root, each -> new ArrayList<>())
                                .add(project)));
        Map<Path, Optional<Look>> answers = LOOK_AT_ROOT.aboutEach("folder", projects.keySet(), FileQuestion.PERSON);
        Map<Path, Look> looks = projects.keySet().stream()
                .collect(Collectors.toMap(
                        Function.identity(),
                        root -> looked(answers, root).orElse(new Look(root, State.UNREADABLE, null))));
        Map<FilePath, Registered> registered = registered(
                sight, looks.values().stream().map(Look::real).distinct().toList());
        return projects.entrySet().stream()
                .map(root -> {
                    Look look = requireNonNull(looks.get(root.getKey()));
                    return new Root(
                            new Folder(
                                    from(root.getKey()),
                                    look.state,
                                    look.changed,
                                    registered.getOrDefault(from(look.real), Registered.NOTHING)),
                            root.getValue());
                })
                .sorted(Comparator.comparing(root -> root.folder.path))
                .toList();
    }

    /**
     * Returns a page of the folders in a folder.
     *
     * @param after the page begins after this name; the root: with the first
     * @throws Refusal if the folder is not below a root of a visible project, whether it exists or not; if it is
     *     registered in another project; or if it does not exist, cannot be read or does not respond
     */
    public Level open(Sight sight, FilePath folder, FilePath after) {
        SourceFolder place = places.find(sight, folder.under(TOP));
        if (place.root() == null) {
            throw new Refusal(
                    "source", "%s is not below a source root of one of your projects", GivenPaths.shown(place.path()));
        }
        Registered inside = inside(sight, place);
        if (inside.elsewhere()) {
            throw new Refusal("source", Experiments.FOREIGN_SOURCE);
        }
        Subfolders listed = listed(place.opened(), after.bytes());
        List<Path> folders = listed.names().stream()
                .filter(name -> !name.link())
                .map(name -> below(place.opened(), name))
                .toList();
        Map<Path, Optional<Look>> looks = LOOK.aboutEach("folder", folders, FileQuestion.PERSON);
        Map<FilePath, Registered> registered = registered(sight, place.opened(), folders);
        List<Folder> shown = new ArrayList<>();
        for (Name name : listed.names()) {
            Path path = below(place.opened(), name);
            (name.link() ? Optional.of(new Look(path, State.LINK, null)) : looked(looks, path))
                    .ifPresent(look -> shown.add(new Folder(
                            from(path),
                            look.state,
                            look.changed,
                            registered.getOrDefault(from(path), Registered.NOTHING))));
        }
        return new Level(
                from(place.opened()),
                from(place.root()),
                place.projects(),
                inside,
                shown.stream().filter(each -> !each.registered.elsewhere).toList(),
                (int) shown.stream().filter(each -> each.registered.elsewhere).count(),
                listed.others(),
                listed.more() ? FilePath.of(listed.names().getLast().bytes()) : null);
    }

    /** Returns what is known; empty if it is not a folder. */
    private static Optional<Look> looked(Map<Path, Optional<Look>> looks, Path path) {
        return looks.getOrDefault(path, Optional.of(new Look(path, State.SILENT, null)));
    }

    /** @throws IOException if it is not a folder: a file system need not tell kinds in its lists */
    private static Look look(Path folder) throws IOException {
        try {
            return new Look(folder, State.READABLE, Subfolders.changed(folder));
        } catch (NotDirectoryException none) {
            throw none;
        } catch (NoSuchFileException gone) {
            return new Look(folder, State.GONE, null);
        } catch (IOException unreadable) {
            return new Look(folder, State.UNREADABLE, null);
        }
    }

    /** A root may be a link. */
    private static Look lookAtRoot(Path root) throws IOException {
        try {
            return look(root.toRealPath());
        } catch (NoSuchFileException gone) {
            return new Look(root, State.GONE, null);
        }
    }

    private static Subfolders listed(Path folder, byte[] after) {
        try {
            // Asked first in a way that all callers share, so that a folder that hangs keeps one thread.
            if (LOOK.about("folder", folder, FileQuestion.PERSON).state == State.READABLE) {
                return new FileQuestion<>(path -> Subfolders.of(path, after, SHOWN))
                        .about("folder", folder, FileQuestion.PERSON);
            }
        } catch (IOException unreadable) {
            // Refused below, like a folder that cannot be looked at.
        }
        throw new Refusal("source", "the service's user cannot read %s", GivenPaths.shown(folder));
    }

    /** Returns what is registered at or below these folders. Roots are often side by side: each folder is read once. */
    private Map<FilePath, Registered> registered(Sight sight, List<Path> folders) {
        Map<FilePath, Registered> registered = new HashMap<>();
        folders.stream()
                .filter(folder -> folder.getParent() != null)
                .collect(Collectors.groupingBy(Path::getParent))
                .forEach((parent, inside) -> registered.putAll(registered(sight, parent, inside)));
        return registered;
    }

    /** Returns what is registered at or below these folders, which are all in one. */
    private Map<FilePath, Registered> registered(Sight sight, Path parent, List<Path> folders) {
        FilePath above = from(parent);
        byte[] prefix = FilePath.rawBytes(parent);
        int length = above.isRoot() ? 1 : prefix.length + 1;
        Map<FilePath, Registered> registered = new HashMap<>();
        jdbc.sql("""
                        with below as materialized (
                            select e.experiment_id, p.code || '/' || e.code as experiment, in_sight(:seen, p.code) as seen,
                                   substring(e.source_root from :length + 1) as rest
                            from experiment e join project p using (project_id)
                            where e.source_kind = 'filesystem' and octet_length(e.source_root) > :length
                              and substring(e.source_root for :length) = :prefix
                        ), named as (
                            select b.*, position('/'::bytea in rest) = 0 as itself,
                                   case position('/'::bytea in rest) when 0 then rest
                                        else substring(rest for position('/'::bytea in rest) - 1) end as name
                            from below b
                        )
                        select n.name, max(n.experiment) filter (where itself and seen) as experiment,
                               coalesce(bool_or(itself and not seen), false) as elsewhere,
                               count(*) filter (where seen and not itself) as below,
                               count(*) filter (where seen and t.safe < greatest(1, a.sites)) as waiting,
                               coalesce(sum(t.waiting) filter (where seen), 0)::bigint as waiting_bytes
                        from named n
                        cross join (select count(*) as sites from site where removed_at is null) a
                        cross join lateral (
                            select count(*) filter (where t.entries = t.entries_safe) as safe,
                                   max(t.bytes - t.bytes_safe) as waiting
                            from protection t join site s using (site_id)
                            where t.experiment_id = n.experiment_id and s.removed_at is null) t
                        where n.name = any(:names)
                        group by n.name
                        """)
                .param("seen", sight.seen())
                .param("length", length)
                .param("prefix", above.isRoot() ? prefix : slashed(prefix))
                .param("names", folders.stream().map(path -> from(path).name()).toArray(byte[][]::new))
                .query((row, n) ->
                        registered.put(above.resolve(row.getBytes("name")), requireNonNull(REGISTERED.mapRow(row, n))))
                .list();
        return registered;
    }

    private static byte[] slashed(byte[] path) {
        byte[] slashed = Arrays.copyOf(path, path.length + 1);
        slashed[path.length] = '/';
        return slashed;
    }

    /** Returns the registration that contains a folder: its own, or that of the nearest one above. */
    private Registered inside(Sight sight, SourceFolder place) {
        byte[][] digests = Stream.iterate(place.opened(), Objects::nonNull, Path::getParent)
                .map(path -> GivenPaths.digest(path).bytes())
                .toArray(byte[][]::new);
        return jdbc.sql("""
                        select p.code || '/' || e.code as experiment, in_sight(:seen, p.code) as seen
                        from experiment e join project p using (project_id)
                        where e.source_kind = 'filesystem' and sha256(e.source_root) = any(:digests)
                        order by octet_length(e.source_root) desc limit 1
                        """)
                .param("seen", sight.seen())
                .param("digests", digests)
                .query((row, n) -> row.getBoolean("seen")
                        ? new Registered(row.getString("experiment"), false, 0, 0, 0)
                        : new Registered(null, true, 0, 0, 0))
                .optional()
                .orElse(Registered.NOTHING);
    }

    private static Path below(Path folder, Name name) {
        return from(folder).resolve(name.bytes()).under(TOP);
    }

    private static FilePath from(Path path) {
        return FilePath.between(TOP, path);
    }
}
