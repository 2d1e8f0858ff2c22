package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A folder is opened only through folders, by one call or by one call per name. */
class FolderOpenerTest {

    @TempDir
    Path root;

    @BeforeEach
    void makeFolders() throws IOException {
        Files.createDirectories(root.resolve("a/b/c"));
        Files.createFile(root.resolve("a/file"));
        Files.createSymbolicLink(root.resolve("link"), Path.of("a"));
        Files.createSymbolicLink(root.resolve("a/b/last"), Path.of("c"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFolderIsOpenedAtAnyDepth(boolean byNames) throws Exception {
        assertThat(opened("a/b/c", byNames)).isEqualTo(inode("a/b/c"));
        assertThat(opened("a", byNames)).isEqualTo(inode("a"));
        assertThat(opened("", byNames)).isEqualTo(inode(""));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noLinkIsFollowedNeitherOnTheWayNorAtItsEnd(boolean byNames) {
        assertThat(Errno.of((int) -opened("link/b/c", byNames))).isEqualTo(Errno.NO_FOLDER);
        assertThat(Errno.of((int) -opened("a/b/last", byNames))).isEqualTo(Errno.NO_FOLDER);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsNoFolderOrNotThereIsToldApart(boolean byNames) {
        assertThat(Errno.of((int) -opened("a/file", byNames))).isEqualTo(Errno.NO_FOLDER);
        assertThat(Errno.of((int) -opened("a/file/x", byNames))).isEqualTo(Errno.NO_FOLDER);
        assertThat(Errno.of((int) -opened("a/none/c", byNames))).isEqualTo(Errno.GONE);
    }

    @Test
    void aNameThatIsTooLongForTheFileSystemIsAnError() {
        assertThat(opened("a/" + "n".repeat(4000) + "/" + "n".repeat(4000), false))
                .isNegative();
    }

    /** Returns the inode number of what was opened, or an error as a negative value. */
    private long opened(String path, boolean byNames) {
        try (Kernel kernel = new Kernel()) {
            int machine = kernel.openTop();
            int top = new FolderOpener(kernel, machine, byNames).open(FilePath.between(Path.of("/"), root));
            kernel.close(machine);
            int folder = new FolderOpener(kernel, top, byNames).open(FilePath.of(path));
            try {
                return folder < 0 || kernel.lookAtOpen(folder) < 0 ? folder : kernel.inode();
            } finally {
                kernel.close(top);
                if (folder >= 0) {
                    kernel.close(folder);
                }
            }
        }
    }

    private long inode(String path) throws IOException {
        return (Long) Files.getAttribute(root.resolve(path), "unix:ino");
    }
}
