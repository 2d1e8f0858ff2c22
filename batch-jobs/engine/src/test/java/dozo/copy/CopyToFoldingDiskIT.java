package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.remote.FoldingMount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies from a site onto a disk that takes different names for one: each name is verified there, or is a finding. */
@Timeout(200)
class CopyToFoldingDiskIT extends CopyTest {

    private Path source;
    private Path disk;
    private FoldingMount mount;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        source = Files.createDirectory(root.resolve("source"));
        disk = Files.createDirectory(folder.resolve("disk"));
        mount = new FoldingMount(Files.createDirectory(folder.resolve("shown")), disk);
        site = openSsh();
    }

    @AfterEach
    void stop() throws Exception {
        if (site != null) {
            site.close();
        }
        mount.close();
    }

    @Test
    void ofNamesThatAreOneHereOneArrivesAndTheOthersAreFindings() throws Exception {
        Map<String, String> twins = new TreeMap<>();
        twin(twins, "SCAN.dat", "scan.dat");
        twin(twins, "\u00e9.txt", "e\u0301.txt");
        twin(twins, "report", "report.");
        twin(twins, "of one content", "OF ONE CONTENT");
        for (String name : twins.keySet()) {
            Files.writeString(
                    source.resolve(name), name.equalsIgnoreCase("of one content") ? "same" : "content of " + name);
        }
        twin(twins, "link", "LINK");
        Files.createSymbolicLink(source.resolve("link"), Path.of("SCAN.dat"));
        Files.createSymbolicLink(source.resolve("LINK"), Path.of("scan.dat"));
        twin(twins, "Sub", "sub");
        Files.writeString(Files.createDirectory(source.resolve("Sub")).resolve("x"), "x of Sub");
        Files.writeString(Files.createDirectory(source.resolve("sub")).resolve("x"), "x of sub");
        Files.writeString(source.resolve("alone"), "alone");

        Progress first = copy();

        Map<String, String> there = there();
        assertThat(first.complete()).isFalse();
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.DESTINATION_REFUSED);
        assertThat(findings)
                .as("one of each pair, and what is in one of the folders")
                .hasSize(twins.size() / 2 + 1);
        for (Finding finding : findings) {
            String name = finding.path().toString();
            assertThat(there).doesNotContainKey(name);
            assertThat(finding.message()).contains(name.endsWith("/x") ? name.substring(0, 3) : twins.get(name));
        }
        there.forEach((name, content) -> assertThat(content).as(name).isEqualTo(content(source.resolve(name))));
        assertThat(there).hasSize(twins.size() / 2 + 1);

        findings.clear();
        Progress second = copy();
        assertThat(there()).isEqualTo(there);
        assertThat(findings).hasSize(twins.size() / 2 + 1);
        assertThat(second.entriesVerified()).isEqualTo(first.entriesVerified());
    }

    @Test
    void aChangedFileReplacesTheEarlierOneOfItsNameAndAHardLinkIsNoOtherName() throws Exception {
        Files.writeString(source.resolve("scan.dat"), "before");
        assertThat(copy().complete()).isTrue();
        Files.createLink(disk.resolve("to/unrelated"), disk.resolve("to/scan.dat"));
        Files.writeString(source.resolve("scan.dat"), "and after");

        assertThat(copy().complete()).isTrue();

        assertThat(there()).containsEntry("scan.dat", "and after").containsEntry("unrelated", "before");
    }

    private Progress copy() throws Exception {
        return run(
                new CopyFromSite(site.address(), List.of(FilePath.of("source")), disk.resolve("to"), false, lanes(2)));
    }

    private static void twin(Map<String, String> twins, String one, String other) {
        twins.put(one, other);
        twins.put(other, one);
    }

    /** Returns the files and links by name. */
    private Map<String, String> there() throws IOException {
        Map<String, String> there = new TreeMap<>();
        Path to = disk.resolve("to");
        try (Stream<Path> all = Files.walk(to)) {
            all.filter(path -> !Files.isDirectory(path))
                    .forEach(path -> there.put(to.relativize(path).toString(), content(path)));
        }
        return there;
    }

    private static String content(Path path) {
        try {
            return Files.isSymbolicLink(path) ? "to " + Files.readSymbolicLink(path) : Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
