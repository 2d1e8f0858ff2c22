package dozo.doctor;

import dozo.file.FilePath;
import dozo.registry.FileQuestion;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The folders and lists that experiments come from. File systems are asked first, so that a dead file server costs one
 * thread and not one for each of its sources.
 */
final class SourcesCheck {

    private static final String ABOUT = "sources";

    /** The newest experiments. Older ones have the same file systems. */
    private static final int SOURCES_MAX = 1_000;

    private static final int AT_ONCE = 100;
    private static final int NAMED_MAX = 3;

    private static final FileQuestion<Standing> QUESTION = new FileQuestion<>(SourcesCheck::ask);

    private static final Path MOUNTS = Path.of("/proc/self/mounts");
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

    private enum Standing {
        READABLE,
        EMPTY,
        MISSING,
        UNREADABLE,
        /** Its file system did not answer. */
        SILENT
    }

    private SourcesCheck() {}

    static List<Result> look(JdbcClient catalogue, Installation installation) {
        Set<Path> sources = sources(catalogue);
        if (sources.isEmpty()) {
            return List.of(Result.ok(ABOUT, "none is registered"));
        }
        Set<Path> silent = silentMounts(sources);
        Map<Standing, List<Path>> found = new EnumMap<>(Standing.class);
        List<Path> asked = new ArrayList<>();
        for (Path source : sources) {
            if (mount(source, silent).isPresent()) {
                add(found, Standing.SILENT, source);
            } else {
                asked.add(source);
            }
        }
        int left = askEach(asked, found);
        return results(found, sources.size(), left);
    }

    private static Set<Path> sources(JdbcClient jdbc) {
        Set<Path> sources = new LinkedHashSet<>();
        jdbc.sql("""
                        select unnest(source_roots) as path from project where retired_at is null
                        union select spool from origin where active and kind = 'tree'
                        """)
                .query((row, n) -> path(row.getBytes("path")))
                .list()
                .forEach(each -> each.ifPresent(sources::add));
        jdbc.sql("""
                        select coalesce(list_file, source_root) as path from living_experiment
                        where source_kind = 'filesystem'
                        order by experiment_id desc limit :most
                        """)
                .param("most", SOURCES_MAX)
                .query((row, n) -> path(row.getBytes("path")))
                .list()
                .forEach(each -> each.ifPresent(sources::add));
        return sources;
    }

    private static Optional<Path> path(byte[] bytes) {
        try {
            return Optional.of(FilePath.pathOf(bytes));
        } catch (InvalidPathException otherEncoding) {
            // The check of Java says so.
            return Optional.empty();
        }
    }

    /** Returns the mount points above these paths that do not answer. */
    private static Set<Path> silentMounts(Collection<Path> paths) {
        List<Path> mounts = mounts();
        Set<Path> used = paths.stream()
                .flatMap(path -> mount(path, mounts).stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        Set<Path> answered =
                QUESTION.aboutEach(ABOUT, used, FileQuestion.PERSON).keySet();
        used.removeAll(answered);
        return used;
    }

    private static Optional<Path> mount(Path path, Collection<Path> mounts) {
        return mounts.stream().filter(path::startsWith).max(Comparator.comparingInt(Path::getNameCount));
    }

    private static List<Path> mounts() {
        // NB: the kernel answers, no file server.
        try (Stream<String> lines = Files.lines(MOUNTS)) {
            return lines.map(line -> line.split(" ", 3)[1])
                    .map(name -> OCTAL.matcher(name)
                            .replaceAll(code -> String.valueOf((char) Integer.parseInt(code.group(1), 8))))
                    .map(Path::of)
                    .toList();
        } catch (IOException | RuntimeException otherSystem) {
            return List.of();
        }
    }

    /** Returns how many were not asked, because too many do not answer. */
    private static int askEach(List<Path> paths, Map<Standing, List<Path>> found) {
        for (int at = 0; at < paths.size(); at += AT_ONCE) {
            List<Path> some = paths.subList(at, Math.min(paths.size(), at + AT_ONCE));
            Map<Path, Optional<Standing>> answers = QUESTION.aboutEach(ABOUT, some, FileQuestion.PERSON);
            some.forEach(path -> add(
                    found,
                    answers.containsKey(path)
                            ? answers.getOrDefault(path, Optional.empty()).orElse(Standing.UNREADABLE)
                            : Standing.SILENT,
                    path));
            if (answers.size() < some.size()) {
                return Math.max(0, paths.size() - at - AT_ONCE);
            }
        }
        return 0;
    }

    private static void add(Map<Standing, List<Path>> found, Standing standing, Path path) {
        found.computeIfAbsent(standing, _ -> new ArrayList<>()).add(path);
    }

    private static Standing ask(Path path) throws IOException {
        try {
            if (!Files.readAttributes(path, BasicFileAttributes.class).isDirectory()) {
                return Files.isReadable(path) ? Standing.READABLE : Standing.UNREADABLE;
            }
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
                return entries.iterator().hasNext() ? Standing.READABLE : Standing.EMPTY;
            }
        } catch (NoSuchFileException e) {
            return Standing.MISSING;
        } catch (AccessDeniedException e) {
            return Standing.UNREADABLE;
        }
    }

    private static List<Result> results(Map<Standing, List<Path>> found, int all, int left) {
        List<Result> results = new ArrayList<>();
        found.forEach((standing, paths) -> results.add(result(standing, paths, all)));
        if (left > 0) {
            results.add(Result.warning(
                    ABOUT,
                    "%,d of %,d were not checked, because others do not answer".formatted(left, all),
                    "Repair what does not answer, and run dozo doctor again."));
        }
        return results;
    }

    private static Result result(Standing standing, List<Path> paths, int all) {
        String some = "%,d of %,d ".formatted(paths.size(), all);
        String names = ": "
                + paths.stream().limit(NAMED_MAX).map(Path::toString).collect(Collectors.joining(", "))
                + (paths.size() > NAMED_MAX ? ", …" : "");
        return switch (standing) {
            case READABLE -> Result.ok(ABOUT, some + "can be read");
            case EMPTY ->
                Result.warning(
                        ABOUT, some + "are empty" + names, "Mount their file systems; an empty source is never safe.");
            case MISSING ->
                Result.warning(ABOUT, some + "do not exist" + names, "Mount their file systems, or move them back.");
            case UNREADABLE ->
                Result.broken(
                        ABOUT,
                        some + "cannot be read" + names,
                        "Let the user of the service read these folders and files.");
            case SILENT ->
                Result.broken(
                        ABOUT,
                        some + "do not answer within %d s".formatted(FileQuestion.PERSON.toSeconds()) + names,
                        "Check their file server and the mount (df hangs, too), and mount them again.");
        };
    }
}
