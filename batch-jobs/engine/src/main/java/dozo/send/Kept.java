package dozo.send;

import dozo.file.Holes;
import dozo.remote.Block;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * What is kept of a block that was filled from a sparse file: the first run of bytes that are to be written; zeros before it are left
 * out, so that they become a hole. What comes behind it is read again.
 *
 * @param skipped how many zeros come before the content of the block
 * @param written how many bytes the content has then
 */
record Kept(int skipped, int written) {

    /**
     * Cuts a block to what is to be written.
     *
     * @param holes whether zeros are left out at all
     * @param offset where in the file the block begins
     * @param read takes what is used up of the block, the zeros too
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

    /** How far it reaches in the file. */
    int bytes() {
        return skipped + written;
    }
}
