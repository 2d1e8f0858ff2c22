package dozo.registry;

import dozo.ledger.Sight;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Locates a folder that a user may want to register, before the project is known. */
@Component
public class SourcePlaces {

    private final JdbcClient jdbc;

    /**
     * An existing folder.
     *
     * @param path as it would be registered
     * @param opened the same without links
     * @param root the deepest root of a visible project above the folder, without links; null: there is none
     * @param projects the visible projects with this root
     */
    public record SourceFolder(
            Path path, Path opened, @Nullable Path root, List<String> projects) {}

    public SourcePlaces(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Locates a folder.
     *
     * @param sight if it is not of everything, the folder must be below a root of a visible project. Otherwise the
     * refusal is the same whether the folder exists or not
     * @throws Refusal if the folder is outside or does not exist
     */
    public SourceFolder find(Sight sight, Path source) {
        Path path = GivenPaths.checked("source", source);
        Optional<Path> resolved = SourceRoots.real("source", path);
        Path opened = resolved.orElse(path);
        int deepest = -1;
        List<String> projects = new ArrayList<>();
        List<SourceRoots> all = SourceRoots.of(roots(sight));
        for (SourceRoots roots : all) {
            int depth = roots.depth(path, resolved);
            if (depth > deepest) {
                projects.clear();
                deepest = depth;
            }
            if (depth >= 0 && depth == deepest) {
                projects.add(roots.project());
            }
        }
        if (projects.isEmpty()) {
            all.forEach(roots -> roots.refuseSilence("source"));
        }
        if (projects.isEmpty() && !sight.ofEverything()) {
            throw new Refusal(
                    "source", "%s is not below a source root of one of your projects", GivenPaths.shown(path));
        }
        GivenPaths.folder("source", path);
        Path root = projects.isEmpty() ? null : above(opened, deepest);
        return new SourceFolder(projects.isEmpty() ? path : opened, opened, root, List.copyOf(projects));
    }

    private static Path above(Path path, int names) {
        return names == 0 ? path.getRoot() : path.getRoot().resolve(path.subpath(0, names));
    }

    /** Returns the source roots of the visible projects that have any, by project, as they were entered. */
    public Map<String, List<Path>> roots(Sight sight) {
        Map<String, List<Path>> roots = new LinkedHashMap<>();
        jdbc.sql("""
                        select code, source_roots from project
                        where source_roots <> '{}' and in_sight(:seen, code)
                        order by code
                        """).param("seen", sight.seen()).query(row -> {
            roots.put(row.getString("code"), Projects.paths(row.getArray("source_roots")));
        });
        return roots;
    }
}
