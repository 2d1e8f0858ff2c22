package dozo.rebuild;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A table of digests by path, in a file without a name that is mapped into memory: a list of many million files does not
 * need a heap of its size. A path is represented by the first half of its SHA-256. Filled by one thread, then asked by
 * many.
 */
final class PathDigests implements AutoCloseable {

    private static final int DIGEST_LONGS = Digest.LENGTH_BYTES / Long.BYTES;

    /** A slot: two longs of the path's digest, the file's digest, and its state. */
    private static final int SLOT_LONGS = 2 + DIGEST_LONGS + 1;

    private static final int STATE = SLOT_LONGS - 1;
    private static final long FREE = 0;
    private static final long LISTED = 1;
    private static final long TAKEN = 2;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment slots;
    private final long mask;
    private final LongAdder taken = new LongAdder();
    private long listed;

    private PathDigests(long count) throws IOException {
        mask = count - 1;
        Path path = Files.createTempFile("dozo-", ".list");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            Files.delete(path);
            slots = file.map(MapMode.READ_WRITE, 0, count * SLOT_LONGS * Long.BYTES, arena);
        }
    }

    /** Returns an empty table for at most so many paths. */
    static PathDigests ofUpTo(long paths) throws IOException {
        return new PathDigests(Math.max(2, Long.highestOneBit(Math.max(1, paths) * 3 / 2) * 2));
    }

    /** Adds a path; returns whether it was not there with another digest. */
    boolean put(FilePath path, Digest digest) {
        ByteBuffer key = key(path);
        long slot = slot(key);
        if (state(slot) != FREE) {
            return digest.equals(digestAt(slot));
        }
        ByteBuffer bytes = ByteBuffer.wrap(digest.bytes());
        set(slot, 0, key.getLong(0));
        set(slot, 1, key.getLong(Long.BYTES));
        for (int i = 0; i < DIGEST_LONGS; i++) {
            set(slot, 2 + i, bytes.getLong(i * Long.BYTES));
        }
        set(slot, STATE, LISTED);
        listed++;
        return true;
    }

    @Nullable
    Digest find(FilePath path) {
        long slot = slot(key(path));
        return state(slot) == FREE ? null : digestAt(slot);
    }

    /** Returns the digest and marks the path; null if it is not here. No two threads may take the same path. */
    @Nullable
    Digest take(FilePath path) {
        long slot = slot(key(path));
        if (state(slot) == FREE) {
            return null;
        }
        if (state(slot) == LISTED) {
            set(slot, STATE, TAKEN);
            taken.increment();
        }
        return digestAt(slot);
    }

    boolean isTaken(FilePath path) {
        return state(slot(key(path))) == TAKEN;
    }

    boolean allTaken() {
        return taken.sum() == listed;
    }

    private static ByteBuffer key(FilePath path) {
        return ByteBuffer.wrap(Digest.ofContent(path.bytes()).bytes());
    }

    /** Returns the slot of a path, or the free one where it would be. */
    private long slot(ByteBuffer key) {
        long slot = key.getLong(0) & mask;
        while (state(slot) != FREE && !(get(slot, 0) == key.getLong(0) && get(slot, 1) == key.getLong(Long.BYTES))) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private long state(long slot) {
        return get(slot, STATE);
    }

    private Digest digestAt(long slot) {
        ByteBuffer bytes = ByteBuffer.allocate(Digest.LENGTH_BYTES);
        for (int i = 0; i < DIGEST_LONGS; i++) {
            bytes.putLong(get(slot, 2 + i));
        }
        return Digest.of(bytes.array());
    }

    private long get(long slot, int index) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, slot * SLOT_LONGS + index);
    }

    private void set(long slot, int index, long value) {
        slots.setAtIndex(ValueLayout.JAVA_LONG, slot * SLOT_LONGS + index, value);
    }

    @Override
    public void close() {
        arena.close();
    }
}
