package dozo.remote;

import java.nio.ByteBuffer;

/**
 * Room for content on its way to one channel. There are few of them, and that bounds the memory of a lane: whoever has one
 * either has it written or gives it back.
 */
public final class Block {

    private final byte[] bytes;
    private final ByteBuffer view;
    private final Pipeline owner;

    Block(byte[] bytes, Pipeline owner) {
        this.bytes = bytes;
        this.view = ByteBuffer.wrap(bytes);
        this.owner = owner;
    }

    /** The content, from 0 to its position. */
    public ByteBuffer content() {
        return view;
    }

    /** Gives it back unwritten. */
    public void giveBack() {
        owner.giveBack(this);
    }

    byte[] bytes() {
        return bytes;
    }

    int length() {
        return view.position();
    }
}
