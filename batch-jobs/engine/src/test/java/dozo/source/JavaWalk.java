package dozo.source;

import dozo.file.Facts;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Finds what is below a folder, by Java's own walk. */
public final class JavaWalk {

    private JavaWalk() {}

    /** Returns everything below the folder, and the folder itself as the root. */
    public static Map<FilePath, Facts> of(Path root) throws IOException {
        Map<FilePath, Facts> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                found.put(FilePath.between(root, each), DirectoryTree.facts(each));
            }
        }
        return found;
    }
}
