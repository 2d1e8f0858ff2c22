package dozo.remote;

import java.nio.ByteBuffer;
import java.security.MessageDigest;

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

    /** Adds the content to a digest. */
    public void addTo(MessageDigest digest) {
        digest.update(bytes, 0, length());
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
