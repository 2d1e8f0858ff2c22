package dozo.collect;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.collect.KnownFolders.How;
import dozo.collect.KnownFolders.Known;
import dozo.collect.KnownFolders.Recognised;
import dozo.collect.Offer.Folder;
import dozo.file.FilePath;
import dozo.source.tree.FolderPattern;
import dozo.source.tree.FolderPattern.Captured;
import dozo.source.tree.FoundFolder;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KnownFoldersTest {

    private static final Known ONE = known("one", "a", 1, 100L);

    @Test
    void aFolderThatIsWhereItWasIsTheSame() throws Exception {
        assertKnown(recognised(List.of(ONE), found("a", 1, 100L)), How.SAME, "one");
    }

    @Test
    void aRenamedFolderIsTheSame() throws Exception {
        assertKnown(recognised(List.of(ONE), found("b", 1, 100L)), How.MOVED, "one");
    }

    @Test
    void aNumberThatWasGivenToAnotherFolderIsNotTheFolder() throws Exception {
        assertKnown(recognised(List.of(ONE), found("b", 1, 200L)), How.NEW, null);
    }

    @Test
    void whereNobodyTellsWhenAFolderWasMadeItsContentDecides() throws Exception {
        Known old = known("one", "a", 1, null);

        assertKnown(recognised(true, List.of(old), found("b", 1, null)), How.MOVED, "one");
        Recognised other = recognised(false, List.of(old), found("b", 1, null)).getFirst();
        assertThat(other.how()).isEqualTo(How.PERHAPS_MOVED);
        assertThat(other.known()).isNull();
        assertThat(other.perhaps()).isEqualTo(old);
    }

    @Test
    void aTreeThatWasCopiedToAnotherFileSystemIsKnownByItsPaths() throws Exception {
        assertKnown(recognised(List.of(ONE), found("a", 77, 900L)), How.REPLACED, "one");
    }

    @Test
    void aFolderThatTookTheNameOfARenamedOneIsNew() throws Exception {
        List<Recognised> both = recognised(List.of(ONE), found("a", 2, 200L), found("b", 1, 100L));

        assertThat(both).extracting(Recognised::how).containsExactly(How.NEW, How.MOVED);
        assertThat(both.getLast().known()).isEqualTo(ONE);
    }

    @Test
    void twoThatChangedNamesKeepTheirs() throws Exception {
        Known two = known("two", "b", 2, 200L);

        List<Recognised> both = recognised(List.of(ONE, two), found("a", 2, 200L), found("b", 1, 100L));

        assertThat(both).extracting(Recognised::known).containsExactly(two, ONE);
    }

    private static void assertKnown(List<Recognised> one, How how, @Nullable String item) {
        assertThat(one).singleElement().satisfies(each -> {
            assertThat(each.how()).isEqualTo(how);
            assertThat(each.known() == null ? null : each.known().item()).isEqualTo(item);
        });
    }

    private static List<Recognised> recognised(List<Known> known, FoundFolder... found) throws Exception {
        return recognised(false, known, found);
    }

    private static List<Recognised> recognised(boolean sameContent, List<Known> known, FoundFolder... found)
            throws IOException, InterruptedException {
        return new KnownFolders(known).recognise(List.of(found), (before, folder) -> sameContent);
    }

    private static Known known(String item, String path, long inode, @Nullable Long born) {
        return new Known(item, new Folder(FilePath.of(path), inode, born, null), null, "", false);
    }

    private static FoundFolder found(String path, long inode, @Nullable Long born) {
        return new FoundFolder(
                FilePath.of(path), inode, born, FolderPattern.of("{label}"), new Captured(Map.of(), null));
    }
}
