package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Real files beside this clone, if there are any. */
public final class RealFiles {

    private RealFiles() {}

    /** Returns the folder of all of them; without it a test is skipped. */
    public static Path folder() {
        String shared = System.getenv("DOZO_SHARED_DATA");
        assertThat(shared != null || !"true".equals(System.getenv("DOZO_DEMAND_SHARED_DATA")))
                .as("the shared data are demanded and not there")
                .isTrue();
        assumeTrue(shared != null, "no shared data beside this clone");
        return Path.of(shared);
    }

    /** Returns the files below one of its folders that have content, in the order of their names; with one of these endings, if any are given. */
    public static List<Path> below(String name, String... endings) throws IOException {
        try (Stream<Path> all = Files.walk(folder().resolve(name))) {
            return all.filter(file -> Files.isRegularFile(file) && file.toFile().length() > 0)
                    .filter(file -> endings.length == 0
                            || Stream.of(endings)
                                    .anyMatch(ending -> file.toString().endsWith(ending)))
                    .sorted()
                    .toList();
        }
    }

    /** Judges a real file. */
    static Verdict judge(Path file) throws IOException {
        return Judged.of(file.getFileName().toString(), Files.readAllBytes(file));
    }
}
