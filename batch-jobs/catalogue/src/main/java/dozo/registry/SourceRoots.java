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
 * The folders below which a project's sources lie. Whoever sees only some projects may register what is below them and nothing
 * else; whatever is below them is bound: known by its path without links, and opened without following any, so that nothing that
 * is put there later leads elsewhere (ADR 0031).
 */
final class SourceRoots {

    static final int ROOTS_MAX = 100;

    private static final FileQuestion<Path> REAL = new FileQuestion<>(Path::toRealPath);

    private final String project;
    private final List<Path> said;

    /** Without links. One that is not there now has nothing below it. */
    private final List<Path> real;

    /** Those that did not answer: nobody knows what is below them. */
    private final List<Path> silent;

    /**
     * A source or its list.
     *
     * @param path without links where it is bound, else as it was said
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

    /** The roots of several projects, in the map's order. Their file systems are all asked at the same time. */
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
     * Where a path lies. That it is not below a root is said in the same way whether it is there or not.
     *
     * @param path absolute and plain
     * @throws Refusal when it is not below a root and the sight is not of everything, or when it is below none that is known
     *     and another does not answer
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
        throw new Refusal(field, "%s is not below a source root of project %s: %s", shown(path), project, accepted());
    }

    /** Whether a path without links lies below a root, and is none itself. One that does not answer holds nothing. */
    boolean holds(Path resolved) {
        return real.stream().anyMatch(root -> resolved.startsWith(root) && !resolved.equals(root));
    }

    /**
     * How many folders deep the deepest root is that a path is below of, as {@link #place} says it; -1: it is below none.
     *
     * @param resolved the path without links; nothing where nothing is there
     */
    int depth(Path path, Optional<Path> resolved) {
        return (resolved.isPresent() ? real : said)
                .stream()
                        .filter(resolved.orElse(path)::startsWith)
                        .mapToInt(Path::getNameCount)
                        .max()
                        .orElse(-1);
    }

    /** @throws Refusal when a root does not answer: something may be below it that is below no other */
    void refuseSilence(String field) {
        if (!silent.isEmpty()) {
            throw new Unanswered(field, silent.getFirst(), FileQuestion.PERSON);
        }
    }

    private Message accepted() {
        return said.isEmpty()
                ? Message.of("it has none yet; an administrator sets them")
                : Message.of("expected a folder in %s", text(said));
    }

    /**
     * Roots that somebody wants to set, checked and each once.
     *
     * @throws Refusal when one of them is no folder of the service's machine, or they are too many
     */
    static List<Path> checked(List<Path> roots) {
        if (roots.size() > ROOTS_MAX) {
            throw new Refusal("roots", "%d: expected at most %d", roots.size(), ROOTS_MAX);
        }
        return roots.stream()
                .map(root -> Experiments.checkedFolder("roots", Experiments.checkedPath("roots", root)))
                .distinct()
                .toList();
    }

    /**
     * The first of these folders that one of the others lies in, or that lies in one of the others, also by way of links. Another
     * one that does not answer, or is not there, counts as it was said: what does answer is in another file system.
     */
    static Optional<Path> overlap(Collection<Path> folders, Collection<Path> others) {
        return overlap(folders, others, List.of());
    }

    /**
     * The same.
     *
     * @param plain more of the others, of which it is known that there is no link on the way to them: they are not asked
     */
    static Optional<Path> overlap(Collection<Path> folders, Collection<Path> others, Collection<Path> plain) {
        Set<Path> all = new HashSet<>(plain);
        all.addAll(others);
        List<Path> asked = others.stream().distinct().toList();
        for (int at = 0; at < asked.size(); at += ROOTS_MAX) {
            // So many at a time: one that hangs keeps its thread.
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

    /** The roots for people and the ledger. */
    static String text(List<Path> roots) {
        return roots.isEmpty() ? "none" : roots.stream().map(SourceRoots::shown).collect(Collectors.joining(", "));
    }

    private static String shown(Path path) {
        return Experiments.shown(path);
    }

    /** Where the links on the way to a path lead now. */
    static Optional<Path> real(String field, Path path) {
        try {
            return Optional.of(REAL.about(field, path, FileQuestion.PERSON));
        } catch (IOException notThereOrNotToBeSeen) {
            return Optional.empty();
        }
    }
}
