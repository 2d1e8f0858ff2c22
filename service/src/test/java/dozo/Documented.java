package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.springframework.util.FileSystemUtils;

/** The documentation's pages, as its site is made from. */
public final class Documented {

    private Documented() {}

    /** Copies the pages into a new folder, and has the program complete them. */
    public static Path completed(Path folder) throws IOException {
        FileSystemUtils.copyRecursively(Path.of("..", "docs"), folder);
        assertThat(ReferencePages.in(folder.resolve("reference"))).isZero();
        return folder;
    }
}
