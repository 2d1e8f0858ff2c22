package dozo.demo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demonstration's experiments are always the same, always complete, and as difficult as real ones. */
class SyntheticExperimentsTest {

    @TempDir
    static Path folder;

    static List<Path> experiments;

    @BeforeAll
    static void make() throws IOException {
        experiments = SyntheticExperiments.make(folder);
    }

    @Test
    void madeTwiceIsTheSameAndTouchesNothing() throws IOException {
        Map<FilePath, Fact> before = facts(folder);

        assertThat(SyntheticExperiments.make(folder)).isEqualTo(experiments);

        assertThat(facts(folder)).isEqualTo(before);
        assertThat(before.values().stream().mapToLong(Fact::sizeBytes).sum()).isBetween(330_000_000L, 380_000_000L);
    }

    @Test
    void whatAKilledCallLeftIsMadeAnewWithTheSameBytesAndTimes() throws IOException {
        Path bids = experiments.get(2);
        Map<FilePath, Fact> before = facts(bids);
        Path unfinished = folder.resolve(SyntheticExperiments.UNFINISHED);
        Files.move(bids, unfinished);
        Files.delete(unfinished.resolve("participants.tsv"));
        Files.writeString(unfinished.resolve("README"), "half a");
        Files.writeString(unfinished.resolve("left over"), "");

        SyntheticExperiments.make(folder);

        assertThat(unfinished).doesNotExist();
        assertThat(withoutInodes(facts(bids))).isEqualTo(withoutInodes(before));
    }

    @Test
    void dicomFilesAreWellFormedToTheLastByte() throws IOException {
        Set<String> instances = new HashSet<>();
        Set<String> studies = new HashSet<>();
        for (Path file : filesEnding(experiments.get(0), ".dcm")) {
            Map<Integer, String> elements = parsed(file);
            instances.add(elements.get(0x00080018));
            studies.add(elements.get(0x0020000D));
            assertThat(elements)
                    .containsEntry(0x00080016, "1.2.840.10008.5.1.4.1.1.4")
                    .containsEntry(0x00020003, elements.get(0x00080018))
                    .containsEntry(0x00080060, "MR")
                    .containsEntry(0x00180087, "3");
            assertThat(elements.get(0x00080018)).matches("2\\.25\\.[1-9][0-9]{1,38}");
        }
        assertThat(instances).hasSize(120);
        assertThat(studies).hasSize(1);
    }

    @Test
    void namesAreOnDiskInTheirOwnBytes() throws IOException {
        Set<FilePath> names = facts(folder).keySet();
        FilePath top = FilePath.of("2026-04-19_脳機能".getBytes(Charset.forName("windows-31j")));

        for (String charset : List.of("windows-31j", "EUC-JP", "UTF-8")) {
            assertThat(names)
                    .contains(top.resolve(FilePath.of("被験者01_予備実験/ソース表示.txt".getBytes(Charset.forName(charset)))));
        }
        assertThat(top.bytes()).endsWith(0x94, 0x5C);
        assertThat(names)
                .contains(top.resolve("notes/-rf"), top.resolve("notes/first line\nsecond line.txt"))
                .anyMatch(name -> name.name().length == 255);
    }

    @Test
    void treeHasLinksAnEmptyFolderAndARealImage() throws IOException {
        Path bids = experiments.get(2);

        assertThat(Files.readSymbolicLink(bids.resolve("derivatives/latest"))).isEqualTo(Path.of("../sub-01/func"));
        assertThat(bids.resolve("derivatives/latest")).isDirectory();
        Path dangling = bids.resolve("sub-02/anat/sub-02_T1w.nii.gz");
        assertThat(Files.isSymbolicLink(dangling)).isTrue();
        assertThat(Files.exists(dangling)).isFalse();
        assertThat(bids.resolve("sub-02/func")).isEmptyDirectory();
        Path image = bids.resolve("sub-01/anat/sub-01_T1w.nii.gz");
        assertThat(Files.isSameFile(image, bids.resolve("sourcedata/sub-01_T1w.nii.gz")))
                .isTrue();
        try (InputStream in = new GZIPInputStream(Files.newInputStream(image))) {
            byte[] nifti = in.readAllBytes();
            assertThat(nifti).hasSize(352 + 160 * 192 * 192 * 2);
            assertThat(new String(nifti, 344, 4, US_ASCII)).isEqualTo("n+1\0");
        }
    }

    private static Map<Integer, String> parsed(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(bytes.slice(128, 4)).isEqualTo(ByteBuffer.wrap("DICM".getBytes(US_ASCII)));
        bytes.position(132);
        Map<Integer, String> elements = new TreeMap<>();
        int last = 0;
        int metaEnd = -1;
        while (bytes.hasRemaining()) {
            int start = bytes.position();
            int tag = bytes.getShort() << 16 | Short.toUnsignedInt(bytes.getShort());
            String vr = "" + (char) bytes.get() + (char) bytes.get();
            boolean longLength = vr.equals("OB") || vr.equals("OW");
            int length =
                    longLength ? bytes.position(bytes.position() + 2).getInt() : Short.toUnsignedInt(bytes.getShort());
            byte[] value = new byte[length];
            bytes.get(value);
            assertThat(length % 2).isZero();
            assertThat(tag).as("ascending order").isGreaterThan(last);
            if (tag == 0x00020000) {
                metaEnd = bytes.position()
                        + ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getInt();
            } else if (tag >>> 16 != 2 && last >>> 16 == 2) {
                assertThat(start).as("end of group 2").isEqualTo(metaEnd);
            }
            elements.put(tag, length > 64 ? length + " bytes" : new String(value, US_ASCII).replaceFirst("[ \0]$", ""));
            last = tag;
        }
        assertThat(last).isEqualTo(0x7FE00010);
        assertThat(elements).containsEntry(last, "131072 bytes");
        return elements;
    }

    private static List<Path> filesEnding(Path root, String end) throws IOException {
        try (Stream<Path> paths = Files.walk(root)) {
            return paths.filter(path -> path.toString().endsWith(end)).toList();
        }
    }

    private record Fact(FileTime modified, long sizeBytes, Object inode, String content) {}

    private static Map<FilePath, Fact> facts(Path root) throws IOException {
        Map<FilePath, Fact> facts = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                facts.put(FilePath.between(root, path), fact(path));
            }
        }
        return facts;
    }

    private static Fact fact(Path path) throws IOException {
        Object inode = Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        boolean file = Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
        String content =
                Files.isSymbolicLink(path) ? Files.readSymbolicLink(path).toString() : file ? digest(path) : "";
        FileTime modified = Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS);
        return new Fact(modified, file ? Files.size(path) : 0, inode, content);
    }

    private static String digest(Path file) throws IOException {
        MessageDigest algorithm = Digest.algorithm();
        byte[] buffer = new byte[1 << 20];
        try (InputStream in = Files.newInputStream(file)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                algorithm.update(buffer, 0, n);
            }
        }
        return Digest.of(algorithm.digest()).toString();
    }

    private static Map<FilePath, Fact> withoutInodes(Map<FilePath, Fact> facts) {
        Map<FilePath, Fact> same = new TreeMap<>(facts);
        same.replaceAll((path, fact) -> new Fact(fact.modified, fact.sizeBytes, 0, fact.content));
        return same;
    }
}
