package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finds copies in places that nobody recorded. */
class OtherPlacesIT {

    @TempDir
    Path folder;

    @Test
    void everyPlaceIsNamedWhereACopyOfANameCanLie() throws Exception {
        Path root = Files.createDirectory(folder.resolve("dr"));
        for (String file : List.of(
                "p/E1/data/a/f",
                ".dozo/versions/p/E1/2/data/a/f",
                ".dozo/versions/p/E1/2/data/a/f~2",
                ".dozo/versions/p/E1/2/data/a/f~4",
                ".dozo/versions/p/E1/2/data/a~2/f",
                ".dozo/versions/p/E1/10/data/a~2",
                ".dozo/versions/p/E1/10/data/a/f/inside",
                ".dozo/versions/p/E1/10/manifest-sha256.txt",
                ".dozo/versions/p/E1/notes/data/a/f",
                ".dozo/versions/p/E2/2/data/a/f")) {
            Files.createDirectories(root.resolve(file).getParent());
            Files.writeString(root.resolve(file), "x");
        }
        Files.createSymbolicLink(root.resolve(".dozo/versions/p/E1/10/data/a/f~2"), Path.of("dangling"));
        String longest = "n".repeat(255);
        Files.writeString(root.resolve("p/E1/data").resolve(longest), "x");
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            OtherPlaces places = OtherPlaces.at(lane, SiteFolders.of("p/E1"));

            assertThat(places.of(lane, FilePath.of("p/E1/data/a/f")))
                    .extracting(FilePath::toString)
                    .containsExactly(
                            "p/E1/data/a/f",
                            ".dozo/versions/p/E1/10/data/a/f~2",
                            ".dozo/versions/p/E1/2/data/a/f",
                            ".dozo/versions/p/E1/2/data/a/f~2",
                            ".dozo/versions/p/E1/2/data/a~2/f");
            assertThat(places.of(lane, FilePath.of("p/E1/data/" + longest)))
                    .extracting(FilePath::toString)
                    .containsExactly("p/E1/data/" + longest);
            for (String outside :
                    List.of("p/E2/data/a/f", "p/E1/a/f", ".dozo/versions/p/E1", ".dozo/versions/p/E1/2/a/f", "a")) {
                assertThat(places.of(lane, FilePath.of(outside))).as(outside).isEmpty();
            }
            assertThat(places.of(lane, FilePath.of(".dozo/versions/p/E1/2/data/a/f")))
                    .hasSize(5);
            assertThat(OtherPlaces.at(lane, SiteFolders.of("p/E3")).of(lane, FilePath.of("p/E3/data/a/f")))
                    .isEmpty();
        }
    }
}
