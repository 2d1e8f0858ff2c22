package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.db.ChildJava;
import dozo.loopback.FoldingSite;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A writable view of a folder by a file system that takes names for one as {@link FoldingSite} does. Its server is a separate
 * process, which ends by itself after some minutes. Only root can mount one, so these tests do not run without root.
 */
public final class FoldingMount implements AutoCloseable {

    private final Path mounted;
    private final Process server;

    /** Shows a folder at another, existing one. */
    public FoldingMount(Path shown, Path at) throws Exception {
        mounted = at;
        server = ChildJava.of(FoldingMount.class)
                .options("-Xmx64m")
                .arguments(shown.toString(), at.toString())
                .process()
                .redirectErrorStream(true)
                .start();
        String said = server.inputReader(StandardCharsets.US_ASCII).readLine();
        assumeTrue("mounted".equals(said), "only root, where there is FUSE, can mount a file system: " + said);
    }

    @Override
    public void close() throws Exception {
        server.getOutputStream().close();
        assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
        Tmpfs.unmount(mounted);
    }

    /** Arguments: the folder to show, and the folder to show it at. Ends with its input. */
    public static void main(String[] arguments) throws Exception {
        Server server = new Server(Path.of(arguments[0]), Path.of(arguments[1]));
        Thread.ofPlatform().daemon().start(server::serve);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Thread.sleep(Server.LIFE_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
            Runtime.getRuntime().halt(1);
        });
        System.out.println("mounted");
        var _ = System.in.read();
        Runtime.getRuntime().halt(0);
    }

    /** Answers one request of the kernel after the other. A node's number is that of the shown file. */
    private static final class Server extends Fuse {

        private static final long LIFE_MILLIS = 240_000;
        private static final int WRITE_MAX = 64 << 10;

        private static final int EEXIST = 17;
        private static final int ENOTEMPTY = 39;

        private static final int SET_MODE = 1;
        private static final int SET_SIZE = 1 << 3;
        private static final int SET_TIME = 1 << 5;
        private static final int SET_TIME_NOW = 1 << 8;

        private final RandomAccessFile device;
        private final Map<Long, Path> paths = new HashMap<>();

        Server(Path shown, Path at) throws IOException {
            paths.put(ROOT, shown);
            device = new RandomAccessFile("/dev/fuse", "rw");
            mount(at, 0);
        }

        void serve() {
            byte[] in = new byte[WRITE_MAX + 4096];
            try {
                while (true) {
                    int n = device.read(in);
                    answer(ByteBuffer.wrap(Arrays.copyOf(in, n)).order(ByteOrder.nativeOrder()));
                }
            } catch (IOException unmounted) {
                // No more requests can come.
            }
        }

        private void answer(ByteBuffer in) throws IOException {
            int kind = in.getInt(4);
            if (kind == 2 || kind == 36 || kind == 42) {
                // FORGET, INTERRUPT, BATCH_FORGET have no answer.
                return;
            }
            int error = 0;
            ByteBuffer out = buffer(0);
            try {
                out = answerTo(in, kind);
            } catch (NoSuchFileException e) {
                error = ENOENT;
            } catch (FileAlreadyExistsException e) {
                error = EEXIST;
            } catch (DirectoryNotEmptyException e) {
                error = ENOTEMPTY;
            } catch (UnsupportedOperationException e) {
                error = ENOSYS;
            } catch (IOException e) {
                error = EIO;
            }
            out.limit(out.position()).putInt(0, out.limit()).putInt(4, -error).putLong(8, in.getLong(8));
            device.getChannel().write(out.position(0));
        }

        private ByteBuffer answerTo(ByteBuffer in, int kind) throws IOException {
            Path path = paths.get(in.getLong(16));
            in.position(IN_HEADER);
            switch (kind) {
                case 1: // LOOKUP
                    return entry(child(path, in));
                case 3: // GETATTR
                    return facts(path);
                case 4: // SETATTR
                    set(path, in);
                    return facts(path);
                case 5: // READLINK
                    byte[] text = Files.readSymbolicLink(path).toString().getBytes(StandardCharsets.UTF_8);
                    return buffer(text.length).put(text);
                case 6: // SYMLINK
                    Path link = child(path, in);
                    return entry(Files.createSymbolicLink(link, Path.of(text(in))));
                case 9: // MKDIR
                    int folderMode = in.getInt();
                    in.getInt();
                    Path folder = Files.createDirectory(child(path, in));
                    Files.setAttribute(folder, "unix:mode", folderMode & 07777);
                    return entry(folder);
                case 10, 11: // UNLINK, RMDIR
                    Files.delete(child(path, in));
                    return buffer(0);
                case 12: // RENAME
                    return renamed(path, paths.get(in.getLong()), in);
                case 13: // LINK
                    Path first = paths.get(in.getLong());
                    Path second = child(path, in);
                    Files.createLink(second, first);
                    return entry(second);
                case 14, 27: // OPEN, OPENDIR
                    return buffer(16).putLong(0).putInt(NOT_CACHED).putInt(0);
                case 15: // READ
                    return content(path, in.getLong(IN_HEADER + 8), in.getInt(IN_HEADER + 16));
                case 16: // WRITE
                    return written(path, in);
                case 17: // STATFS
                    return buffer(80)
                            .putLong(1 << 20)
                            .putLong(1 << 20)
                            .putLong(1 << 20)
                            .putLong(1 << 20)
                            .putLong(1 << 20)
                            .putInt(4096)
                            .putInt(255)
                            .putInt(4096)
                            .put(new byte[28]);
                case 18, 20, 25, 29, 30: // RELEASE, FSYNC, FLUSH, RELEASEDIR, FSYNCDIR
                    return buffer(0);
                case 26: // INIT
                    return buffer(64)
                            .putInt(7)
                            .putInt(31)
                            .putInt(1 << 17)
                            .putInt(0)
                            .putShort((short) 16)
                            .putShort((short) 16)
                            .putInt(WRITE_MAX)
                            .putInt(1)
                            .put(new byte[36]);
                case 28: // READDIR
                    return names(path, in.getLong(IN_HEADER + 8), in.getInt(IN_HEADER + 16));
                case 35: // CREATE
                    in.getInt();
                    int mode = in.getInt();
                    in.getLong();
                    Path file = child(path, in);
                    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                        Files.createFile(file);
                        Files.setAttribute(file, "unix:mode", mode & 07777);
                    }
                    ByteBuffer entry = entry(file);
                    return buffer(144)
                            .put(entry.slice(OUT_HEADER, 128))
                            .putLong(0)
                            .putInt(NOT_CACHED)
                            .putInt(0);
                default:
                    throw new UnsupportedOperationException();
            }
        }

        private ByteBuffer renamed(Path folder, Path to, ByteBuffer in) throws IOException {
            Path from = child(folder, in);
            Path target = child(to, in);
            Files.move(from, target, StandardCopyOption.ATOMIC_MOVE);
            paths.put(number(target), target);
            return buffer(0);
        }

        /** Returns what has the next name in a folder, or the path that is then created. */
        private static Path child(Path folder, ByteBuffer in) throws IOException {
            return FoldingSite.there(folder.resolve(text(in)));
        }

        private static String text(ByteBuffer in) {
            int from = in.position();
            while (in.get() != 0) {
                // The end of the text.
            }
            return new String(in.array(), from, in.position() - from - 1, StandardCharsets.UTF_8);
        }

        private static void set(Path path, ByteBuffer in) throws IOException {
            int what = in.getInt(IN_HEADER);
            if ((what & SET_MODE) != 0) {
                Files.setAttribute(path, "unix:mode", in.getInt(IN_HEADER + 68) & 07777);
            }
            if ((what & SET_SIZE) != 0) {
                try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                    file.setLength(in.getLong(IN_HEADER + 16));
                }
            }
            if ((what & (SET_TIME | SET_TIME_NOW)) == SET_TIME && !Files.isSymbolicLink(path)) {
                long nanos = in.getLong(IN_HEADER + 40) * 1_000_000_000 + in.getInt(IN_HEADER + 60);
                Files.setLastModifiedTime(path, FileTime.from(nanos, TimeUnit.NANOSECONDS));
            }
        }

        private static ByteBuffer written(Path path, ByteBuffer in) throws IOException {
            long offset = in.getLong(IN_HEADER + 8);
            int length = in.getInt(IN_HEADER + 16);
            in.position(IN_HEADER + 40).limit(IN_HEADER + 40 + length);
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                for (long at = offset; in.hasRemaining(); ) {
                    at += channel.write(in, at);
                }
            }
            return buffer(8).putInt(length).putInt(0);
        }

        private ByteBuffer entry(Path path) throws IOException {
            long number = number(path);
            paths.put(number, path);
            ByteBuffer out = buffer(128).putLong(number).put(new byte[32]);
            putFacts(out, path);
            return out;
        }

        private static long number(Path path) throws IOException {
            return (Long) Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        }

        private static ByteBuffer facts(Path path) throws IOException {
            ByteBuffer out = buffer(104).put(new byte[16]);
            putFacts(out, path);
            return out;
        }
    }
}
