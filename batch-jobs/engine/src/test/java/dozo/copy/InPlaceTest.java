package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.remote.Tmpfs;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What has a name is put aside before another gets it; nothing is overwritten, and no link is followed. */
class InPlaceTest {

    @TempDir
    Path folder;

    private Path source = Path.of("");
    private Path aside = Path.of("");
    private OpenFolder openSource;
    private OpenFolder openAside;
    private InPlace inPlace;

    @BeforeEach
    void open() throws IOException {
        folder = folder.toRealPath();
        source = Files.createDirectory(folder.resolve("source"));
        aside = Files.createDirectory(folder.resolve("aside"));
        openSource = OpenFolder.open(source);
        openAside = OpenFolder.open(aside);
        inPlace = new InPlace(openSource, openAside);
    }

    @AfterEach
    void close() {
        openSource.close();
        openAside.close();
    }

    private Path temporary(String content) throws IOException {
        return Files.writeString(folder.resolve("temporary"), content);
    }

    @Test
    void whatStandsIsPutAsideEachTimeAndTheFolderKeepsItsTime() throws Exception {
        Files.writeString(Files.createDirectory(source.resolve("a")).resolve("f"), "1");
        FileTime time = FileTime.fromMillis(1_000);
        Files.setLastModifiedTime(source.resolve("a"), time);

        inPlace.place(temporary("2"), FilePath.of("a/f"));
        inPlace.place(temporary("3"), FilePath.of("a/f"));

        assertThat(source.resolve("a/f")).hasContent("3");
        assertThat(aside.resolve("put-aside/a/f")).hasContent("1");
        assertThat(aside.resolve("put-aside-2/a/f")).hasContent("2");
        assertThat(Files.getLastModifiedTime(source.resolve("a"))).isEqualTo(time);
        assertThat(folder.resolve("temporary")).doesNotExist();
        assertThat(Trees.names(aside)).containsExactly("put-aside", "put-aside-2");
    }

    @Test
    void aFolderWhoseNameWasPutAsideAsSomethingElseGoesElsewhere() throws Exception {
        Files.createSymbolicLink(source.resolve("a"), folder);

        inPlace.placeFolder(Files.createDirectory(folder.resolve("new")), FilePath.of("a"));
        Files.writeString(source.resolve("a/f"), "theirs");
        inPlace.place(temporary("ours"), FilePath.of("a/f"));

        assertThat(aside.resolve("put-aside/a")).isSymbolicLink();
        assertThat(aside.resolve("put-aside-2/a/f")).hasContent("theirs");
        assertThat(source.resolve("a/f")).hasContent("ours");
        assertThat(folder.resolve("f")).as("the link is not followed").doesNotExist();
    }

    @Test
    void aFolderThatStandsStays() throws Exception {
        Object inode = Trees.inode(Files.createDirectory(source.resolve("a")));
        Path unneeded = Files.createDirectory(folder.resolve("new"));

        inPlace.placeFolder(unneeded, FilePath.of("a"));

        assertThat(Trees.inode(source.resolve("a"))).isEqualTo(inode);
        assertThat(unneeded).doesNotExist();
    }

    @Test
    void aFurtherNameIsALinkUnlessItsFileHasTheSameBytes() throws Exception {
        Files.writeString(source.resolve("first"), "1");
        Files.writeString(source.resolve("equal"), "1");
        Files.writeString(source.resolve("other"), "2");
        Object equal = Trees.inode(source.resolve("equal"));

        for (String name : new String[] {"equal", "other", "new"}) {
            inPlace.placeLink(FilePath.of("first"), FilePath.of(name), folder.resolve("temporary"));
            assertThat(folder.resolve("temporary")).doesNotExist();
        }

        Object first = Trees.inode(source.resolve("first"));
        assertThat(Trees.inode(source.resolve("equal"))).isEqualTo(equal);
        assertThat(Trees.inode(source.resolve("other"))).isEqualTo(first);
        assertThat(Trees.inode(source.resolve("new"))).isEqualTo(first);
        assertThat(aside.resolve("put-aside/other")).hasContent("2");
    }

    @Test
    void nothingIsWrittenThroughALink() throws Exception {
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.writeString(outside.resolve("f"), "outside");
        Files.createSymbolicLink(source.resolve("a"), outside);

        assertThatThrownBy(() -> inPlace.place(temporary("2"), FilePath.of("a/f")))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> inPlace.placeLink(FilePath.of("a/f"), FilePath.of("g"), folder.resolve("t")))
                .isInstanceOf(IOException.class);

        assertThat(outside.resolve("f")).hasContent("outside");
        assertThat(Trees.names(source)).containsExactly("a");
        assertThat(Trees.names(aside)).isEmpty();
    }

    @Test
    void anotherFileSystemIsRefused() throws Exception {
        Path other = folder.resolve("other");
        try (Tmpfs disk = new Tmpfs(other, "size=1m");
                OpenFolder far = OpenFolder.open(other)) {
            assertThatThrownBy(() -> new InPlace(openSource, far)).hasMessageContaining("different file systems");
        }
    }
}
