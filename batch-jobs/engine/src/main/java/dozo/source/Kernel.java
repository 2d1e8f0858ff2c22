package dozo.source;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.Owner;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Linux system calls for folders and files, for one thread at a time, with their buffers (ADR 0017). Each returns the
 * result of the call, or an error number as a negative value. Names are addresses of NUL-terminated bytes.
 *
 * <p>Numbers and layouts are those of x86-64 and aarch64: {@code struct statx} and {@code struct linux_dirent64} are
 * the same on both.
 */
@SuppressWarnings("restricted") // native calls; the launcher enables them
final class Kernel implements AutoCloseable {

    /** The most bytes that one {@link #readFolder} returns: some two thousand names. */
    static final int FOLDER_BYTES = 64 * 1024;

    /** The longest path of a call, without its NUL. */
    static final int PATH_BYTES_MAX = 4095;

    /** No Linux file system supports a longer link text; a text that fills the buffer counts as incomplete. */
    static final int LINK_BYTES_MAX = 64 * 1024;

    private static final String MACHINE = System.getProperty("os.arch", "");
    private static final boolean ARM = MACHINE.equals("aarch64");
    private static final long SYS_OPENAT2 = 437;
    /** No Linux file system supports longer names of extended attributes. */
    private static final int ATTRIBUTE_NAME_BYTES_MAX = 255;

    private static final long FEW_BYTES = 1024;

    private static final int AT_FDCWD = -100;
    private static final int O_DIRECTORY = ARM ? 0x4000 : 0x10000;
    private static final int O_NOFOLLOW = ARM ? 0x8000 : 0x20000;
    private static final int O_CLOEXEC = 0x80000;
    private static final int O_PATH = 0x200000;
    private static final long RESOLVE_NO_SYMLINKS = 0x04;
    private static final long RESOLVE_BENEATH = 0x08;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int AT_NO_AUTOMOUNT = 0x800;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int FADV_DONTNEED = 4;
    private static final long UTIME_OMIT = (1L << 30) - 2;
    private static final long NANOS = 1_000_000_000;
    private static final int STATX_OWNER = 0x08 | 0x10;

    /** Type, mode, number of links, user, group, times of modification and change, inode number, size. */
    private static final int STATX_WANTED = 0x01 | 0x02 | 0x04 | STATX_OWNER | 0x40 | 0x80 | 0x100 | 0x200;

    /** The space it occupies. Only for open files: for names, some file systems would need a request for it. */
    private static final int STATX_BLOCKS = 0x400;

    private static final int BLOCK_BYTES = 512;

    private static final int TYPE_IN_RECORD = 18;
    private static final int NAME_IN_RECORD = 19;

    private static final byte UNKNOWN_TYPE = 0;
    private static final byte DIRECTORY_TYPE = 4;
    private static final byte LINK_TYPE = 10;

    private static final int TYPE_MASK = 0170000;
    private static final int REGULAR = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int LINK = 0120000;
    private static final int MODE_MASK = 07777;

    private static final byte[] TOP = {'/'};

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final StructLayout CAPTURED = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURED.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBC = LINKER.defaultLookup();
    // Addresses are plain numbers: a MemorySegment for each name would be garbage for each file.
    private static final MethodHandle OPENAT2 = call(
            "syscall", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG), Linker.Option.firstVariadicArg(1));
    private static final MethodHandle OPENAT =
            call("openat", FunctionDescriptor.of(INT, INT, LONG, INT), Linker.Option.firstVariadicArg(3));
    private static final MethodHandle GETDENTS = call("getdents64", FunctionDescriptor.of(LONG, INT, LONG, LONG));
    private static final MethodHandle STATX = call("statx", FunctionDescriptor.of(INT, INT, LONG, INT, INT, LONG));
    private static final MethodHandle READLINKAT =
            call("readlinkat", FunctionDescriptor.of(LONG, INT, LONG, LONG, LONG));
    private static final MethodHandle LLISTXATTR = call("llistxattr", FunctionDescriptor.of(LONG, LONG, LONG, LONG));
    private static final MethodHandle LGETXATTR =
            call("lgetxattr", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG));
    private static final MethodHandle LSETXATTR =
            call("lsetxattr", FunctionDescriptor.of(INT, LONG, LONG, LONG, LONG, INT));
    private static final MethodHandle LREMOVEXATTR = call("lremovexattr", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle UTIMENSAT = call("utimensat", FunctionDescriptor.of(INT, INT, LONG, LONG, INT));
    private static final MethodHandle SYNCFS = call("syncfs", FunctionDescriptor.of(INT, INT));
    private static final MethodHandle FADVISE = call("posix_fadvise", FunctionDescriptor.of(INT, INT, LONG, LONG, INT));
    private static final MethodHandle CLOSE = call("close", FunctionDescriptor.of(INT, INT));

    private final Arena arena;
    private final MemorySegment errno;
    private final MemorySegment how;
    private final MemorySegment path;
    private final MemorySegment empty;
    private final MemorySegment link;
    private final MemorySegment facts;
    private final MemorySegment names;
    private final MemorySegment attribute;

    /** The entries of a tree mostly have one owner. */
    private @Nullable Owner lastOwner;

    /** @param arena whose threads may call; it is closed with this */
    Kernel(Arena arena) {
        this.arena = arena;
        errno = arena.allocate(CAPTURED);
        how = arena.allocate(24, Long.BYTES);
        path = arena.allocate(PATH_BYTES_MAX + 1);
        empty = arena.allocate(1);
        link = arena.allocate(LINK_BYTES_MAX);
        facts = arena.allocate(256, Long.BYTES);
        names = arena.allocate(FOLDER_BYTES, Long.BYTES);
        attribute = arena.allocate(ATTRIBUTE_NAME_BYTES_MAX + 1);
    }

    /** Creates calls for the current thread only. */
    Kernel() {
        this(Arena.ofConfined());
    }

    /** Returns whether this machine has these calls. */
    static boolean isHere() {
        return System.getProperty("os.name", "").equals("Linux")
                && Set.of("amd64", "aarch64").contains(MACHINE);
    }

    /** Opens the file system's root folder. */
    int openTop() {
        return openat(AT_FDCWD, TOP, 0, TOP.length, O_DIRECTORY | O_CLOEXEC | O_PATH);
    }

    /**
     * Opens the folder with {@code bytes[start, end)} as its path below an open one. No link is followed and nothing
     * above is reached, whatever happens to the tree meanwhile.
     *
     * @param toRead false if it is only passed through
     */
    int openBelow(int folder, byte[] bytes, int start, int end, boolean toRead) {
        setPath(bytes, start, end);
        how.set(LONG, 0, O_DIRECTORY | O_CLOEXEC | (toRead ? 0 : O_PATH));
        how.set(LONG, 16, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        try {
            long opened = (long) OPENAT2.invokeExact(
                    errno, SYS_OPENAT2, (long) folder, path.address(), how.address(), how.byteSize());
            return (int) orErrno(opened);
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Does the same for one name, for kernels before 5.6 and containers that forbid the newer call. */
    int openName(int folder, byte[] bytes, int start, int end, boolean toRead) {
        return openat(folder, bytes, start, end, O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | (toRead ? 0 : O_PATH));
    }

    /**
     * Opens what has the name {@code bytes[start, end)} in an open folder, including a link itself, but not for
     * reading.
     */
    int openToLook(int folder, byte[] bytes, int start, int end) {
        return openat(folder, bytes, start, end, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    }

    /** Reads on in an open folder. Returns how many bytes of records were read, 0 at its end. */
    int readFolder(int folder) {
        try {
            return (int) orErrno((long) GETDENTS.invokeExact(errno, folder, names.address(), names.byteSize()));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Returns the length of the record at this position of the folder's buffer; the next one follows it. */
    int recordBytes(int at) {
        return Short.toUnsignedInt(names.get(ValueLayout.JAVA_SHORT, at + 16));
    }

    /** Returns the name in that record. */
    byte[] name(int at) {
        // A record is padded to a multiple of eight bytes, so its NUL is among the last eight.
        int start = at + NAME_IN_RECORD;
        int end = Math.max(start, at + recordBytes(at) - Long.BYTES);
        while (names.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        byte[] name = new byte[end - start];
        MemorySegment.copy(names, ValueLayout.JAVA_BYTE, start, name, 0, name.length);
        return name;
    }

    /** Returns whether that record is of a folder, without a look at it; true if the file system does not tell. */
    boolean mayBeFolder(int at) {
        byte type = names.get(ValueLayout.JAVA_BYTE, at + TYPE_IN_RECORD);
        return type == DIRECTORY_TYPE || type == UNKNOWN_TYPE;
    }

    /** Returns whether that record is of a link, as far as the file system tells. */
    boolean isLink(int at) {
        return names.get(ValueLayout.JAVA_BYTE, at + TYPE_IN_RECORD) == LINK_TYPE;
    }

    /** Looks up the name of that record in its folder, without following a link. */
    int lookAt(int folder, int at) {
        return statx(
                folder, names.address() + at + NAME_IN_RECORD, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_WANTED);
    }

    /** Looks up an open folder or file itself. */
    int lookAtOpen(int opened) {
        return statx(opened, empty.address(), AT_EMPTY_PATH, STATX_WANTED | STATX_BLOCKS);
    }

    /** Returns the kind of what was looked up last; empty for a socket, device or fifo. */
    Optional<EntryKind> kind() {
        return switch (mode() & TYPE_MASK) {
            case REGULAR -> Optional.of(EntryKind.FILE);
            case DIRECTORY -> Optional.of(EntryKind.DIRECTORY);
            case LINK -> Optional.of(EntryKind.LINK);
            default -> Optional.empty();
        };
    }

    /** Returns the facts of what was looked up last. */
    Facts facts(EntryKind kind, byte @Nullable [] linkTarget) {
        return Facts.told(
                kind,
                facts.get(LONG, 40),
                Times.nanos(facts.get(LONG, 112), facts.get(INT, 120)),
                Times.nanos(facts.get(LONG, 96), facts.get(INT, 104)),
                mode() & MODE_MASK,
                facts.get(INT, 16),
                inode(),
                linkTarget,
                owner());
    }

    private @Nullable Owner owner() {
        int user = facts.get(INT, 20);
        int group = facts.get(INT, 24);
        if ((facts.get(INT, 0) & STATX_OWNER) != STATX_OWNER || user == -1 || group == -1) {
            return null;
        }
        Owner last = lastOwner;
        if (last == null || (int) last.user() != user || (int) last.group() != group) {
            last = Owner.of(user, group);
            lastOwner = last;
        }
        return last;
    }

    /**
     * Returns whether the open file looked up last occupies less space than its length: it has holes, or is compressed.
     */
    boolean isSparse() {
        return (facts.get(INT, 0) & STATX_BLOCKS) != 0
                && facts.get(LONG, 48) < (facts.get(LONG, 40) + BLOCK_BYTES - 1) / BLOCK_BYTES;
    }

    long inode() {
        return facts.get(LONG, 32);
    }

    /** Returns major and minor number of the device. */
    long device() {
        return (long) facts.get(INT, 136) << 32 | Integer.toUnsignedLong(facts.get(INT, 140));
    }

    /** Reads the text of the link in the record at this position. Returns its length in bytes. */
    int readLink(int folder, int at) {
        try {
            return (int) orErrno((long) READLINKAT.invokeExact(
                    errno, folder, names.address() + at + NAME_IN_RECORD, link.address(), link.byteSize()));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    byte[] linkText(int bytes) {
        return link.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Opens a folder to sync its file system; links are followed. Returns a negative number for an error. */
    int openToSync(byte[] absolute) {
        return openat(AT_FDCWD, absolute, 0, absolute.length, O_DIRECTORY | O_CLOEXEC);
    }

    /**
     * Asks the kernel to drop what it keeps of a file in memory, under its absolute path. What is not written yet, or is mapped,
     * stays; so does everything in file systems that are memory. Returns a negative number for an error.
     */
    int dropFromMemory(byte[] absolute) {
        int file = openat(AT_FDCWD, absolute, 0, absolute.length, O_CLOEXEC);
        if (file < 0) {
            return file;
        }
        try {
            // NB: unlike the other calls, it returns the number of the error.
            return -(int) FADVISE.invokeExact(errno, file, 0L, 0L, FADV_DONTNEED);
        } catch (Throwable e) {
            throw defect(e);
        } finally {
            close(file);
        }
    }

    /** Writes everything of an open folder's file system to the disk. Returns a negative number for an error. */
    int syncFileSystem(int folder) {
        try {
            return (int) orErrno((int) SYNCFS.invokeExact(errno, folder));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /**
     * Opens the folder with this path, through links if there are any, to open what is in it.
     *
     * @param bytes absolute
     */
    int openPath(byte[] bytes) {
        return openat(AT_FDCWD, bytes, 0, bytes.length, O_DIRECTORY | O_CLOEXEC | O_PATH);
    }

    /** Sets the time of modification of a path, whose last name may be a link and is not followed. */
    int setModified(byte[] of, long nanosSince1970) {
        setPath(of, 0, of.length);
        names.set(LONG, 0, 0);
        names.set(LONG, 8, UTIME_OMIT);
        names.set(LONG, 16, Math.floorDiv(nanosSince1970, NANOS));
        names.set(LONG, 24, Math.floorMod(nanosSince1970, NANOS));
        try {
            return (int) orErrno(
                    (int) UTIMENSAT.invokeExact(errno, AT_FDCWD, path.address(), names.address(), AT_SYMLINK_NOFOLLOW));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /**
     * Lists the names of the extended attributes of a path, whose last name may be a link and is not followed. Returns
     * the number of their bytes. The calls for attributes use the memory of {@link #readFolder} and {@link #readLink}.
     */
    int listAttributes(byte[] of) {
        setPath(of, 0, of.length);
        // The kernel clears a buffer of its own of the same size, which would take longer than the rest of the call.
        int bytes = listAttributes(FEW_BYTES);
        return bytes == -Errno.ERANGE ? listAttributes(LINK_BYTES_MAX) : bytes;
    }

    private int listAttributes(long bytesMax) {
        try {
            return (int) orErrno((long) LLISTXATTR.invokeExact(errno, path.address(), link.address(), bytesMax));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Returns the listed names, each with a NUL at its end. */
    byte[] attributeNames(int bytes) {
        return linkText(bytes);
    }

    /** Reads an attribute of the path of the last {@link #listAttributes}. Returns the number of its bytes. */
    int readAttribute(byte[] name) {
        setAttribute(name);
        try {
            return (int) orErrno((long) LGETXATTR.invokeExact(
                    errno, path.address(), attribute.address(), names.address(), names.byteSize()));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    byte[] attributeValue(int bytes) {
        return names.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Sets an attribute of a path, whose last name is not followed if it is a link. */
    int setAttribute(byte[] of, byte[] name, byte[] value) {
        setPath(of, 0, of.length);
        setAttribute(name);
        MemorySegment.copy(value, 0, names, ValueLayout.JAVA_BYTE, 0, value.length);
        try {
            return (int) orErrno((int) LSETXATTR.invokeExact(
                    errno, path.address(), attribute.address(), names.address(), (long) value.length, 0));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Removes an attribute of a path, whose last name is not followed if it is a link. */
    int removeAttribute(byte[] of, byte[] name) {
        setPath(of, 0, of.length);
        setAttribute(name);
        try {
            return (int) orErrno((int) LREMOVEXATTR.invokeExact(errno, path.address(), attribute.address()));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    private void setAttribute(byte[] name) {
        MemorySegment.copy(name, 0, attribute, ValueLayout.JAVA_BYTE, 0, name.length);
        attribute.set(ValueLayout.JAVA_BYTE, name.length, (byte) 0);
    }

    /** Closes an open folder. It was only read, so a failure does not matter. */
    void close(int folder) {
        try {
            int _ = (int) CLOSE.invokeExact(errno, folder);
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Frees the memory. */
    @Override
    public void close() {
        arena.close();
    }

    private int mode() {
        return Short.toUnsignedInt(facts.get(ValueLayout.JAVA_SHORT, 28));
    }

    private int statx(int folder, long name, int flags, int wanted) {
        try {
            return (int) orErrno((int) STATX.invokeExact(errno, folder, name, flags, wanted, facts.address()));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    private int openat(int folder, byte[] bytes, int start, int end, int flags) {
        setPath(bytes, start, end);
        try {
            return (int) orErrno((int) OPENAT.invokeExact(errno, folder, path.address(), flags));
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    private void setPath(byte[] bytes, int start, int end) {
        MemorySegment.copy(bytes, start, path, ValueLayout.JAVA_BYTE, 0, end - start);
        path.set(ValueLayout.JAVA_BYTE, end - start, (byte) 0);
    }

    private long orErrno(long result) {
        return result >= 0 ? result : -errno.get(INT, ERRNO);
    }

    private static MethodHandle call(String name, FunctionDescriptor shape, Linker.Option... more) {
        Linker.Option[] options = Arrays.copyOf(more, more.length + 1);
        options[more.length] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LIBC.findOrThrow(name), shape, options);
    }

    /** Returns a defect: a call reports errors by its result, so an exception is a mistake here. */
    private static IllegalStateException defect(Throwable thrown) {
        return new IllegalStateException("a system call was made the wrong way", thrown);
    }
}
