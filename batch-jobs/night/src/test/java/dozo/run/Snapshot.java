package dozo.run;

import dozo.file.Attributes.Attribute;
import dozo.file.Digest;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.source.DirectoryTree;
import dozo.source.ExtendedAttributes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Describes a folder's content in words that are equal if the folders are: kinds, modes, times, contents and hard
 * links; {@link #withRights} also owners, ACLs and extended attributes.
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

    static Map<FilePath, String> withRights(Path folder) throws IOException {
        Map<FilePath, String> entries = of(folder);
        for (Map.Entry<FilePath, String> entry : entries.entrySet()) {
            Path path = entry.getKey().under(folder);
            StringBuilder rights = new StringBuilder();
            for (Attribute attribute : ExtendedAttributes.of(path).all()) {
                rights.append(' ')
                        .append(attribute.name())
                        .append('=')
                        .append(HexFormat.of().formatHex(attribute.value()));
            }
            entry.setValue("%s %s%s"
                    .formatted(entry.getValue(), DirectoryTree.facts(path).owner(), rights));
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
