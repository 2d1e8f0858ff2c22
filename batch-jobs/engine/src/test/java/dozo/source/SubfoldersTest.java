package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.source.Subfolders.Name;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder's folders are listed by name, page by page, and no link is followed. */
class SubfoldersTest {

    private static final byte[] FIRST = {};

    @TempDir
    Path temporary;

    private Path folder = Path.of("");

    @BeforeEach
    void resolve() throws IOException {
        folder = temporary.toRealPath();
    }

    @Test
    void foldersAndLinksAreListedByNameAndFilesOnlyCounted() throws IOException {
        Files.createDirectory(folder.resolve("b"));
        Files.createDirectory(FilePath.of(new byte[] {(byte) 0x94, (byte) 0x5c}).under(folder));
        Files.createSymbolicLink(folder.resolve("a"), folder.resolve("b"));
        Files.writeString(folder.resolve("file"), "x");

        Subfolders all = Subfolders.of(folder, FIRST, 10);

        assertThat(all.names())
                .extracting(Name::bytes)
                .containsExactly(bytes("a"), bytes("b"), new byte[] {(byte) 0x94, (byte) 0x5c});
        assertThat(all.names()).extracting(Name::link).containsExactly(true, false, false);
        assertThat(all.others()).isEqualTo(1);
        assertThat(all.more()).isFalse();
    }

    @Test
    void aFolderWithManyFoldersIsReadPageByPage() throws IOException {
        for (int i = 0; i < 10_000; i++) {
            Files.createDirectory(folder.resolve("%04d".formatted(i)));
        }

        Subfolders first = Subfolders.of(folder, FIRST, 100);
        Subfolders second = Subfolders.of(folder, bytes("0099"), 100);
        Subfolders last = Subfolders.of(folder, bytes("9899"), 100);

        assertThat(names(first)).hasSize(100).startsWith("0000").endsWith("0099");
        assertThat(names(second)).hasSize(100).startsWith("0100").endsWith("0199");
        assertThat(names(last)).hasSize(100).endsWith("9999");
        assertThat(List.of(first.more(), second.more(), last.more())).containsExactly(true, true, false);
    }

    @Test
    void aFolderTellsItsTimeAndIsNotReachedByALink() throws IOException {
        Path there = Files.createDirectory(folder.resolve("there"));
        Files.setLastModifiedTime(there, FileTime.from(Instant.parse("1969-07-20T20:17:40Z")));
        Path link = Files.createSymbolicLink(folder.resolve("link"), there);

        assertThat(Subfolders.changed(there)).isEqualTo("1969-07-20T20:17:40Z");
        assertThatThrownBy(() -> Subfolders.changed(link)).isInstanceOf(NotDirectoryException.class);
        assertThatThrownBy(() -> Subfolders.of(link, FIRST, 10)).isInstanceOf(NotDirectoryException.class);
        assertThatThrownBy(() -> Subfolders.changed(folder.resolve("never"))).isInstanceOf(NoSuchFileException.class);
    }

    private static List<String> names(Subfolders folders) {
        return folders.names().stream().map(name -> new String(name.bytes())).toList();
    }

    private static byte[] bytes(String name) {
        return name.getBytes();
    }
}
