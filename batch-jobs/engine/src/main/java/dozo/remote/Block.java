package dozo.remote;

import java.nio.ByteBuffer;
import java.security.MessageDigest;

/**
 * A buffer for content on its way to one channel. Their number is limited, which bounds the memory of a lane: each must
 * be either written or given back.
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

    /** Returns the content, from 0 to its position. */
    public ByteBuffer content() {
        return view;
    }

    /** Adds the content to a digest. */
    public void addTo(MessageDigest digest) {
        digest.update(bytes, 0, length());
    }

    /** Returns the block unwritten. */
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
