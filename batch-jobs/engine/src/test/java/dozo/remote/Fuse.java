package dozo.remote;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What the file servers of tests have in common in their conversation with the kernel by {@code /dev/fuse}. */
abstract class Fuse {

    static final int ENOENT = 2;
    static final int EIO = 5;
    static final int ENOSYS = 38;
    static final int IN_HEADER = 40;
    static final int OUT_HEADER = 16;
    static final int NOT_CACHED = 1;
    static final long ROOT = 1;

    static void putFacts(ByteBuffer out, Path path) throws IOException {
        Map<String, Object> facts = Files.readAttributes(path, "unix:*", LinkOption.NOFOLLOW_LINKS);
        long modified = ((FileTime) facts.get("lastModifiedTime")).to(TimeUnit.NANOSECONDS);
        long changed = ((FileTime) facts.get("ctime")).to(TimeUnit.NANOSECONDS);
        out.putLong((Long) facts.get("ino")).putLong((Long) facts.get("size")).putLong(0);
        out.putLong(0).putLong(modified / 1_000_000_000).putLong(changed / 1_000_000_000);
        out.putInt(0).putInt((int) (modified % 1_000_000_000)).putInt((int) (changed % 1_000_000_000));
        out.putInt((Integer) facts.get("mode")).putInt((Integer) facts.get("nlink"));
        out.putInt(0).putInt(0).putInt(0).putInt(4096).putInt(0);
    }

    static ByteBuffer content(Path file, long offset, int length) throws IOException {
        ByteBuffer out = buffer(length);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int n = 0;
            for (long at = offset; out.hasRemaining() && n >= 0; at += n) {
                n = channel.read(out, at);
            }
        }
        return out;
    }

    static ByteBuffer names(Path folder, long offset, int length) throws IOException {
        List<Path> children = new ArrayList<>();
        try (Stream<Path> all = Files.list(folder)) {
            all.sorted().forEach(children::add);
        }
        ByteBuffer out = buffer(length);
        for (int i = (int) offset; i < children.size(); i++) {
            byte[] name = children.get(i).getFileName().toString().getBytes(StandardCharsets.UTF_8);
            int bytes = 24 + (name.length + 7) / 8 * 8;
            if (out.remaining() < bytes) {
                break;
            }
            int end = out.position() + bytes;
            out.putLong(i + 2).putLong(i + 1).putInt(name.length).putInt(0).put(name);
            out.position(end);
        }
        return out;
    }

    /** Returns room for an answer after its header. */
    static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(OUT_HEADER + bytes)
                .order(ByteOrder.nativeOrder())
                .position(OUT_HEADER);
    }

    private static int numberOfDevice() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(each -> target(each).equals("/dev/fuse"))
                    .mapToInt(each -> Integer.parseInt(each.getFileName().toString()))
                    .max()
                    .orElseThrow();
        }
    }

    static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    /** Mounts the opened device. */
    static void mount(Path at, long flags) throws IOException {
        if (mount(at, flags, "fd=%d,rootmode=40000,user_id=0,group_id=0".formatted(numberOfDevice())) != 0) {
            throw new IOException("only root can mount a file system");
        }
    }

    private static int mount(Path at, long flags, String options) throws IOException {
        Linker linker = Linker.nativeLinker();
        MethodHandle mount = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("mount"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return (int) mount.invokeExact(
                    arena.allocateFrom("slow"),
                    arena.allocateFrom(at.toString()),
                    arena.allocateFrom("fuse"),
                    flags,
                    (MemorySegment) arena.allocateFrom(options));
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }
}
