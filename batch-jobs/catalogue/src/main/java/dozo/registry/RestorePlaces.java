package dozo.registry;

import dozo.file.FilePath;
import dozo.registry.Projects.Project;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Decides where the service may restore to: below the folders that an administrator allowed for a project, and never
 * into Dozo's own folders or, unless it is the experiment's own, into a source (ADR 0049).
 */
@Component
public class RestorePlaces {

    private final JdbcClient jdbc;
    private final Projects projects;
    private final OwnFolders own;

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
