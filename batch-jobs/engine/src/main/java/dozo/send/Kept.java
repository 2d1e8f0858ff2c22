package dozo.send;

import dozo.file.Holes;
import dozo.remote.Block;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * The part to write of a block that was filled from a sparse file: the first run of data. Zeros before it are left out
 * and become a hole. What follows it is read again.
 *
 * @param skipped the number of zeros before the content
 * @param written the bytes of content left in the block
 */
record Kept(int skipped, int written) {

    /**
     * Cuts a block to the part to write.
     *
     * @param holes whether to leave zeros out at all
     * @param offset where in the file the block begins
     * @param read receives the consumed part of the block, including zeros
     */
    static Kept of(Block block, boolean holes, long offset, Consumer<Block> read) {
        ByteBuffer content = block.content();
        int begin = content.arrayOffset();
        int end = begin + content.position();
        int skipped = holes ? Holes.zeros(content.array(), begin, end, offset) : 0;
        int written = holes ? Holes.data(content.array(), begin + skipped, end, offset + skipped) : end - begin;
        content.position(skipped + written);
        read.accept(block);
        if (skipped > 0) {
            content.flip().position(skipped);
            content.compact();
        }
        return new Kept(skipped, written);
    }

    /** Returns how many bytes of the file it covers. */
    int bytes() {
        return skipped + written;
    }
}
