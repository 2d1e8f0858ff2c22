package dozo.registry;

import dozo.file.FilePath;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects.Project;
import dozo.source.OpenFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Decides where the service may restore to: below the folders that an administrator allowed for a project, and never
 * into Dozo's own folders or, unless it is the experiment's own, into a source (ADR 0049).
 */
@Component
public class RestorePlaces {

    private static final FileQuestion<Standing> STANDING = new FileQuestion<>(folder -> {
        Path real = folder.toRealPath();
        try (OpenFolder open = OpenFolder.open(real)) {
            return new Standing(real, open.mount(), Files.isWritable(open.path()));
        }
    });

    private final JdbcClient jdbc;
    private final Projects projects;
    private final OwnFolders own;

    /** A folder as it is now; {@code real} is without links. */
    private record Standing(Path real, String mount, boolean writable) {}

    /**
     * Where an experiment is restored in place.
     *
     * @param source without links; it need not exist, but its parent does
     * @param aside a new folder in the same mount, for what is put aside
     */
    public record InPlace(Path source, Path aside) {}

    public RestorePlaces(JdbcClient jdbc, Projects projects, OwnFolders own) {
        this.jdbc = jdbc;
        this.projects = projects;
        this.own = own;
    }

    /**
     * Sets the folders below which the experiments of a project may be restored. A restore in progress continues if its
     * folder is still below one.
     *
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if one of them is not a folder of the service's machine or overlaps with a source or with Dozo's
     * own folders, or there are too many
     */
    public Optional<Project> setRoots(String project, List<Path> roots, String actor) {
        List<Path> checked = SourceRoots.checked(roots);
        refuseOverlap("roots", checked);
        return projects.setRestoreRoots(project, checked, actor);
    }

    /**
     * Returns the folder without links, if an experiment of the project may now be restored into it. The folder itself
     * need not exist, but its parent must.
     *
     * @throws Refusal if it is not below a restore folder, or overlaps with a source or with Dozo's own folders
     */
    public Path find(String project, Path folder) {
        Path path = GivenPaths.checked("folder", folder);
        Path parent = path.getParent();
        List<Path> said = projects.find(project)
                .orElseThrow(() -> Experiments.noProject(project))
                .restoreRoots();
        if (said.isEmpty()) {
            throw new Refusal("folder", "project %s has no restore folder yet; ask an administrator", project);
        }
        SourceRoots roots = SourceRoots.of(project, said);
        Optional<Path> above = parent == null ? Optional.empty() : SourceRoots.real("folder", parent);
        Path resolved = SourceRoots.real("folder", path)
                .or(() -> above.map(real -> real.resolve(Objects.requireNonNull(path.getFileName()))))
                .orElse(path);
        if (!roots.holds(resolved)) {
            roots.refuseSilence("folder");
            throw new Refusal(
                    "folder",
                    "%s is not below a restore folder of project %s: choose a folder below %s",
                    GivenPaths.shown(path),
                    project,
                    SourceRoots.text(said));
        }
        GivenPaths.folder("folder", above.or(() -> Optional.ofNullable(parent)).orElse(path));
        refuseOverlap("folder", List.of(resolved));
        return resolved;
    }

    /**
     * Returns where an experiment may now be restored in place: what is put aside comes below a restore folder of its project.
     *
     * @throws Refusal if its source is unknown, has no folder above it, or may not be written by the service, or if the project has no
     *     restore folder in the same mount
     */
    public InPlace inPlace(Experiment experiment) {
        if (experiment.kind() == SourceKind.NONE) {
            throw new Refusal("inPlace", "the source of %s is unknown: restore into a folder", experiment.name());
        }
        Path source = source(experiment);
        List<Path> roots = projects.find(experiment.project()).orElseThrow().restoreRoots();
        List<Path> asked = new ArrayList<>(roots);
        asked.add(source);
        asked.add(Objects.requireNonNullElse(source.getParent(), source));
        Map<Path, Optional<Standing>> answers = STANDING.aboutEach("inPlace", asked, FileQuestion.PERSON);
        Standing filled = Stream.of(source, asked.getLast())
                .filter(folder ->
                        !answers.containsKey(folder) || answers.get(folder).isPresent())
                .findFirst()
                .flatMap(folder -> answers.getOrDefault(folder, Optional.empty()))
                .orElseThrow(() -> new Refusal(
                        "inPlace",
                        "the source %s and the folder above it do not answer or do not exist: mount or create the folder above it, or restore into a folder",
                        GivenPaths.shown(source)));
        if (!filled.writable) {
            throw new Refusal(
                    "inPlace",
                    "the service may not write into %s: let its user write there until the restore has ended, or restore into a folder and copy the files from there",
                    GivenPaths.shown(filled.real));
        }
        return roots.stream()
                .flatMap(root -> answers.getOrDefault(root, Optional.empty()).stream())
                .filter(root -> root.mount.equals(filled.mount))
                .findFirst()
                .map(root -> new InPlace(
                        source, root.real.resolve("%s-aside-%s".formatted(experiment.code(), UUID.randomUUID()))))
                .orElseThrow(() -> new Refusal(
                        "inPlace",
                        "project %s has no restore folder on the same file system and mount as the source, where what differs is put aside: ask an administrator for one, or restore into a folder",
                        experiment.project()));
    }

    /** Returns the folder of an experiment's source, without links unless it is bound and therefore has none. */
    public static Path source(Experiment experiment) {
        Path source = experiment.source();
        return experiment.bound() ? source : SourceRoots.real("inPlace", source).orElse(source);
    }

    private void refuseOverlap(String field, List<Path> folders) {
        SourceRoots.overlap(folders, own.folders()).ifPresent(folder -> {
            throw new Refusal(field, "%s overlaps with Dozo's own folder", GivenPaths.shown(folder));
        });
        refuseSources(field, folders);
    }

    /**
     * Refuses folders that overlap with a source.
     *
     * @throws Refusal if one of them does
     */
    public void refuseSources(String field, List<Path> folders) {
        List<Path> sources = new ArrayList<>();
        List<Path> plain = new ArrayList<>();
        jdbc.sql("""
                        select unnest(source_roots) as folder, false as bound from project
                        union select source_root, source_bound from experiment
                        union select spool, false from origin
                        """).query(row -> {
            (row.getBoolean("bound") ? plain : sources).add(FilePath.pathOf(row.getBytes("folder")));
        });
        SourceRoots.overlap(folders, sources, plain).ifPresent(folder -> {
            throw new Refusal(field, "%s overlaps with a source", GivenPaths.shown(folder));
        });
    }
}
