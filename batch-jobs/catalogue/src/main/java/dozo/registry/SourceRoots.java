package dozo.registry;

import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.FileQuestion.Unanswered;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The folders below which a project's sources are. A user who sees only some projects may register nothing outside
 * them. A source below them is bound: it is known by its path without links, and opened without following any, so that
 * a link placed there later leads nowhere else (ADR 0031).
 */
final class SourceRoots {

    static final int ROOTS_MAX = 100;

    private static final FileQuestion<Path> REAL = new FileQuestion<>(Path::toRealPath);

    private final String project;
    private final List<Path> said;

    /** Without links. A root that does not exist now contains nothing. */
    private final List<Path> real;

    /** The roots that did not respond: what is below them is unknown. */
    private final List<Path> silent;

    /**
     * A source or its list.
     *
     * @param path without links if it is bound, otherwise as it was entered
     */
    record Placed(Path path, boolean bound) {}

    private SourceRoots(String project, List<Path> said, Map<Path, Optional<Path>> answers) {
        this.project = project;
        this.said = said;
        this.real = said.stream()
                .flatMap(root -> answers.getOrDefault(root, Optional.empty()).stream())
                .toList();
        this.silent = said.stream().filter(root -> !answers.containsKey(root)).toList();
    }

    static SourceRoots of(String project, List<Path> said) {
        return of(Map.of(project, said)).getFirst();
    }

    /**
     * Returns the roots of several projects, in the map's order. All their file systems are queried at the same time.
     */
    static List<SourceRoots> of(Map<String, List<Path>> projects) {
        Set<Path> all = projects.values().stream().flatMap(List::stream).collect(Collectors.toSet());
        Map<Path, Optional<Path>> answers = REAL.aboutEach("roots", all, FileQuestion.PERSON);
        return projects.entrySet().stream()
                .map(each -> new SourceRoots(each.getKey(), each.getValue(), answers))
                .toList();
    }

    String project() {
        return project;
    }

    /**
     * Locates a path. A refusal outside the roots is the same whether the path exists or not.
     *
     * @param path absolute and normalized
     * @throws Refusal if the path is not below a root and the sight is not of everything, or if it is below no known
     * root and another one does not respond
     */
    Placed place(String field, Path path, Sight sight) {
        Optional<Path> resolved = said.isEmpty() ? Optional.empty() : real(field, path);
        boolean inside = resolved.isPresent()
                ? real.stream().anyMatch(resolved.get()::startsWith)
                : said.stream().anyMatch(path::startsWith);
        if (inside) {
            return new Placed(resolved.orElse(path), true);
        }
        refuseSilence(field);
        if (sight.ofEverything()) {
            return new Placed(path, false);
        }
        throw new Refusal(
                field, "%s is not below a source root of project %s: %s", GivenPaths.shown(path), project, accepted());
    }

    /**
     * Returns whether a path without links is below a root, and is not a root itself. A root that does not respond
     * contains nothing.
     */
    boolean holds(Path resolved) {
        return real.stream().anyMatch(root -> resolved.startsWith(root) && !resolved.equals(root));
    }

    /**
     * Returns the number of names in the deepest root above a path, by the rule of {@link #place}; -1: it is below
     * none.
     *
     * @param resolved the path without links; empty if it does not exist
     */
    int depth(Path path, Optional<Path> resolved) {
        return (resolved.isPresent() ? real : said)
                .stream()
                        .filter(resolved.orElse(path)::startsWith)
                        .mapToInt(Path::getNameCount)
                        .max()
                        .orElse(-1);
    }

    /** @throws Refusal if a root does not respond: the path may be below it */
    void refuseSilence(String field) {
        if (!silent.isEmpty()) {
            throw new Unanswered(field, silent.getFirst(), FileQuestion.PERSON);
        }
    }

    private Message accepted() {
        return said.isEmpty()
                ? Message.of("the project has no source root yet; ask an administrator to set one")
                : Message.of("expected a folder in %s", text(said));
    }

    /**
     * Checks new roots and removes duplicates.
     *
     * @throws Refusal if one of them is not a folder of the service's machine, or there are too many
     */
    static List<Path> checked(List<Path> roots) {
        return limited(roots).stream()
                .map(root -> GivenPaths.folder("roots", GivenPaths.checked("roots", root)))
                .distinct()
                .toList();
    }

    /** Returns the roots; refuses too many. */
    static List<Path> limited(List<Path> roots) {
        if (roots.size() > ROOTS_MAX) {
            throw new Refusal("roots", "%d: expected at most %d", roots.size(), ROOTS_MAX);
        }
        return roots;
    }

    /**
     * Returns the first of these folders that contains one of the others, or is in one, also through links. An other
     * folder that does not respond or does not exist counts by its entered path: folders that respond are on other file
     * systems.
     */
    static Optional<Path> overlap(Collection<Path> folders, Collection<Path> others) {
        return overlap(folders, others, List.of());
    }

    /**
     * Returns the same.
     *
     * @param plain further folders that are known to have no link on their path: they are not queried
     */
    static Optional<Path> overlap(Collection<Path> folders, Collection<Path> others, Collection<Path> plain) {
        Set<Path> all = new HashSet<>(plain);
        all.addAll(others);
        List<Path> asked = others.stream().distinct().toList();
        for (int at = 0; at < asked.size(); at += ROOTS_MAX) {
            // In groups, because a query that hangs blocks a thread.
            REAL.aboutEach("roots", asked.subList(at, Math.min(asked.size(), at + ROOTS_MAX)), FileQuestion.PERSON)
                    .values()
                    .forEach(answer -> answer.ifPresent(all::add));
        }
        return folders.stream()
                .filter(folder -> {
                    Path resolved = real("roots", folder).orElse(folder);
                    return all.stream().anyMatch(other -> isIn(folder, other) || isIn(resolved, other));
                })
                .findFirst();
    }

    private static boolean isIn(Path one, Path other) {
        return one.startsWith(other) || other.startsWith(one);
    }

    /** Formats the roots for people and the ledger. */
    static String text(List<Path> roots) {
        return roots.isEmpty() ? "none" : roots.stream().map(GivenPaths::shown).collect(Collectors.joining(", "));
    }

    /** Resolves the links on a path as they are now. */
    static Optional<Path> real(String field, Path path) {
        try {
            return Optional.of(REAL.about(field, path, FileQuestion.PERSON));
        } catch (IOException notThereOrNotToBeSeen) {
            return Optional.empty();
        }
    }
}
