package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.loopback.FoldingSite;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.SiteCheck;
import dozo.source.JavaWalk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies to a site that takes different names for one: each name is verified there, or is a finding. */
@Timeout(300)
class CopyToFoldingSiteIT extends CopyTest {

    private Path source;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        source = Files.createDirectory(folder.resolve("source"));
        site = FoldingSite.start(folder.resolve("state"), root);
    }

    @AfterEach
    void stop() {
        site.close();
    }

    @Test
    void aCheckNamesWhatTheSiteDoesNotDistinguish() throws Exception {
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(SiteCheck.of(lanes.next()).findings())
                    .anySatisfy(finding -> assertThat(finding).contains("upper and lower case"))
                    .anySatisfy(finding -> assertThat(finding).contains("NFC, NFD"));
        }
        assertThat(root.resolve(".dozo/incoming")).isEmptyDirectory();
    }

    @Test
    void ofNamesThatAreOneThereOneArrivesAndTheOthersAreFindings() throws Exception {
        Map<String, String> twins = new HashMap<>();
        twin(twins, "SCAN.dat", "scan.dat");
        twin(twins, "\u00e9.txt", "e\u0301.txt");
        twin(twins, "of one content", "OF ONE CONTENT");
        twin(twins, "Sub/x", "sub/x");
        Files.writeString(source.resolve("of one content"), "same");
        Files.writeString(source.resolve("OF ONE CONTENT"), "same");
        twin(twins, "report", "report.");
        twins.put("report", "another name");
        twins.put("report.", "another name");
        twins.put("Sub", "sub");
        twins.put("sub", "Sub");
        twins.put("link", "LINK");
        twins.put("LINK", "link");
        Files.createSymbolicLink(source.resolve("link"), Path.of("SCAN.dat"));
        Files.createSymbolicLink(source.resolve("LINK"), Path.of("scan.dat"));
        Files.writeString(source.resolve("alone"), "alone");

        Progress first = copy();

        assertThat(first.complete()).isFalse();
        assertThat(findings).hasSize(twins.size() / 2);
        for (Finding finding : findings) {
            assertThat(finding.problem()).isEqualTo(Problem.SITE_REFUSED);
            String name = finding.path().toString();
            assertThat(finding.message())
                    .contains(name.endsWith("/x") ? name.substring(0, 3) : String.valueOf(twins.get(name)));
        }
        Map<String, String> stored = stored();
        assertThat(stored).hasSize(twins.size() / 2 + 2);
        stored.forEach((name, content) -> assertThat(content).as(name).isEqualTo(content(source.resolve(name))));
        Progress second = copy();
        assertThat(stored()).isEqualTo(stored);
        assertThat(findings).hasSize(twins.size());
        assertThat(second.entriesVerified()).isEqualTo(first.entriesVerified());
    }

    @Test
    void aChangedFileReplacesTheEarlierOneOfItsName() throws Exception {
        Files.writeString(source.resolve("scan.dat"), "before");
        Files.createSymbolicLink(source.resolve("link"), Path.of("before"));
        assertThat(copy().complete()).isTrue();
        Files.writeString(source.resolve("scan.dat"), "and after");
        Files.delete(source.resolve("link"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("after"));

        assertThat(copy().complete()).isTrue();

        assertThat(stored()).containsEntry("scan.dat", "and after").containsEntry("link", "to after");
        Files.move(source.resolve("scan.dat"), source.resolve("Scan.dat"));
        assertThat(copy().complete()).isFalse();
        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.message()).contains("scan.dat, which exists there"));
        assertThat(stored()).containsEntry("scan.dat", "and after").hasSize(3);
    }

    private Progress copy() throws Exception {
        return run(new CopyToSite(site.address(), List.of(source), FilePath.of("to"), false, lanes(2)));
    }

    private void twin(Map<String, String> twins, String one, String other) throws IOException {
        twins.put(one, other);
        twins.put(other, one);
        for (String name : List.of(one, other)) {
            Path file = source.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, name);
            Files.setLastModifiedTime(file, LONG_AGO);
        }
    }

    /** Returns what is in the copy, with the content of files and the targets of links. */
    private Map<String, String> stored() throws IOException {
        Map<String, String> stored = new TreeMap<>();
        Path to = root.resolve("to");
        JavaWalk.of(to).keySet().forEach(path -> stored.put(path.toString(), content(path.under(to))));
        return stored;
    }

    private static String content(Path path) {
        try {
            return Files.isSymbolicLink(path)
                    ? "to " + Files.readSymbolicLink(path)
                    : Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) ? "folder" : Files.readString(path);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
