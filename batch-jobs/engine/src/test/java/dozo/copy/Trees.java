package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Program;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.source.JavaWalk;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Fills folders of this machine, lists them, and compares them byte for byte. */
public final class Trees {

    private static final long NANOS = 1_000_000_000L;

    private static final byte[] BLOCK = new byte[1 << 20];

    static {
        new SplittableRandom(1).nextBytes(BLOCK);
    }

    private Trees() {}

    /** Checks for the same names, kinds, modes, whole seconds and bytes; in the copy the owner may always read. */
    static void assertSame(Path source, Path copy) throws IOException {
        assertThat(facts(copy)).isEqualTo(facts(source));
        for (Map.Entry<FilePath, String> entry : facts(source).entrySet()) {
            Path one = entry.getKey().under(source);
            if (Files.isRegularFile(one, LinkOption.NOFOLLOW_LINKS)) {
                assertThat(Files.mismatch(one, entry.getKey().under(copy)))
                        .as("content of " + entry.getKey())
                        .isEqualTo(-1);
            }
        }
    }

    /** Returns everything below a folder, and the folder itself, with the facts that a copy keeps. */
    static Map<FilePath, String> facts(Path root) throws IOException {
        Map<FilePath, String> found = new TreeMap<>();
        JavaWalk.of(root).forEach((path, facts) -> {
            String kept = facts.kind() == EntryKind.LINK
                    ? "to " + FilePath.render(facts.linkTarget())
                    : "%d bytes, mode %o, at %d"
                            .formatted(facts.sizeBytes(), facts.mode(), Math.floorDiv(facts.modifiedNanos(), NANOS));
            found.put(path, facts.kind() + " " + kept);
        });
        return found;
    }

    /** Creates a file of this many bytes that never repeat, and differ from those of a file of another length. */
    static Path write(Path file, long bytes) throws IOException {
        byte[] block = BLOCK.clone();
        try (OutputStream out = Files.newOutputStream(file)) {
            for (long at = 0; at < bytes; at += block.length) {
                ByteBuffer.wrap(block).putInt((int) (at / block.length)).putLong(bytes);
                out.write(block, 0, (int) Math.min(block.length, bytes - at));
            }
        }
        return file;
    }

    /** Returns what distinguishes a file from another one with the same content; two names of one file have the same. */
    public static Object inode(Path path) {
        try {
            return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns bytes that do not compress; the same for the same length. */
    public static byte[] random(int length) {
        return random(length, length);
    }

    public static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /** Returns what is in a folder, in the order of the names. */
    public static List<Path> in(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    /** Returns the names in a folder, in their order. */
    public static List<String> names(Path folder) throws IOException {
        return in(folder).stream().map(path -> path.getFileName().toString()).toList();
    }

    /** Returns the files of a folder, without those of folders in it and without links to files, in the order of the names. */
    public static List<Path> files(Path folder) throws IOException {
        return in(folder).stream()
                .filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    /** Returns a folder and everything below it, each folder before its content; links are not followed. */
    public static List<Path> all(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.sorted().toList();
        }
    }

    /** Returns whether the file system of a path keeps content in the system's page cache, and drops it when asked to. */
    public static boolean dropsFromMemory(Path path) throws IOException {
        return List.of("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay")
                .contains(Files.getFileStore(path).type());
    }

    /** Returns the disk space of a file, or of all files of a folder, in bytes. */
    public static long room(Path path) throws IOException, InterruptedException {
        String said = Program.succeed("du", "-s", "-B1", path.toString());
        return Long.parseLong(said.substring(0, said.indexOf('\t')));
    }

    /** Creates a file that is one hole. */
    static void hole(Path file, long bytes) throws IOException {
        try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(bytes);
        }
    }

    /** Changes a byte of a file, and nothing else about it; of a letter its case. */
    public static void flip(Path file, long at) throws IOException {
        FileTime time = Files.getLastModifiedTime(file);
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.seek(at);
            int before = content.read();
            content.seek(at);
            content.write(before ^ 0x20);
        }
        Files.setLastModifiedTime(file, time);
    }

    /** Returns the path of a name whose bytes are those of another encoding. */
    public static Path named(Path folder, String name, String encoding) {
        return FilePath.ROOT.resolve(name.getBytes(Charset.forName(encoding))).under(folder);
    }

    /** Creates a named pipe. */
    public static void fifo(Path path) throws IOException, InterruptedException {
        Program.succeed("mkfifo", path.toString());
    }

    /** Deletes a file, a link, or a folder with its content. */
    public static void delete(Path path) throws IOException {
        for (Path each : all(path).reversed()) {
            Files.delete(each);
        }
    }
}
