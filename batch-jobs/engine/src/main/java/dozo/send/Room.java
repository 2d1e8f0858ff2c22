package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.remote.Block;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A block on a channel that is filled from a source. While the source is slow, others use the block: a channel has few, and a
 * source that hangs must not keep them all.
 */
final class Room {

    private final RemoteFile file;
    private final long bytesMax;

    /** Given back by the thread that watches sources, while the owner waits; otherwise used by the owner only. */
    private volatile @Nullable Block block;

    /**
     * Waits for a block.
     *
     * @param bytesMax the content to leave room for, if it is less than a block
     */
    Room(RemoteFile file, long bytesMax) throws RemoteException, InterruptedException {
        this.file = file;
        this.bytesMax = bytesMax;
        var _ = content();
    }

    /** Returns the block's content, after waiting for another block if it was given back. */
    ByteBuffer content() throws RemoteException, InterruptedException {
        Block held = block;
        if (held == null) {
            held = file.block();
            held.content().limit((int) Math.min(held.content().capacity(), bytesMax));
            block = held;
        }
        return held.content();
    }

    /** Returns the block, which is held. */
    Block block() {
        return requireNonNull(block);
    }

    boolean isHeld() {
        return block != null;
    }

    /** Writes the block, which is held, at this offset of the file. The room must not be used again. */
    void write(long offset) throws RemoteException, InterruptedException {
        file.write(offset, block());
    }

    /** Gives the block back unwritten, if it is held. */
    void giveBack() {
        Block held = block;
        if (held != null) {
            block = null;
            held.giveBack();
        }
    }
}
