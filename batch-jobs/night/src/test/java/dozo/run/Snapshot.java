package dozo.run;

import dozo.file.Digest;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Describes a folder's content in words that are equal if the folders are: kinds, modes, times, contents and hard
 * links.
 */
final class Snapshot {

    private Snapshot() {}

    static Map<FilePath, String> of(Path folder) throws IOException {
        Map<FilePath, String> entries = new TreeMap<>();
        Map<Long, FilePath> groups = new HashMap<>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : (Iterable<Path>) all.sorted()::iterator) {
                FilePath name = FilePath.between(folder, path);
                if (!name.isRoot()) {
                    entries.put(name, entry(path, name, groups));
                }
            }
        }
        return entries;
    }

    private static String entry(Path path, FilePath name, Map<Long, FilePath> groups) throws IOException {
        Facts facts = DirectoryTree.facts(path);
        String content = switch (facts.kind()) {
            case FILE -> Digest.ofContent(Files.readAllBytes(path)).toString();
            case DIRECTORY -> "";
            case LINK -> FilePath.render(facts.linkTarget());
        };
        FilePath first = facts.hardLink() == null ? name : groups.computeIfAbsent(facts.hardLink(), inode -> name);
        return "%s %o %d %s%s"
                .formatted(
                        facts.kind(),
                        facts.mode(),
                        facts.modifiedNanos(),
                        content,
                        first.equals(name) ? "" : " is " + first);
    }
}
