package dozo.send;

import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.content.Inspection;
import dozo.file.Digest;
import dozo.file.Entry;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** The digest of a whole file, whose bytes are inspected while they pass if the engine inspects content. */
final class ContentDigest extends MessageDigest {

    private final MessageDigest digest = Digest.algorithm();
    private final @Nullable Inspection inspection;

    ContentDigest(Engine engine, Entry file) {
        super("SHA-256");
        inspection = engine.inspects()
                ? new Inspection(
                        new String(file.path().name(), UTF_8), file.facts().sizeBytes())
                : null;
    }

    /** Returns what was read, after the last byte. */
    Content content() {
        Digest read = Digest.of(digest.digest());
        return inspection == null
                ? new Content(read)
                : new Content(read, inspection.verdict(), inspection.relation().orElse(null));
    }

    @Override
    protected void engineUpdate(byte one) {
        engineUpdate(new byte[] {one}, 0, 1);
    }

    @Override
    protected void engineUpdate(byte[] bytes, int from, int length) {
        if (inspection != null) {
            inspection.take(ByteBuffer.wrap(bytes, from, length));
        }
        digest.update(bytes, from, length);
    }

    @Override
    protected void engineUpdate(ByteBuffer bytes) {
        if (inspection != null) {
            inspection.take(bytes);
        }
        digest.update(bytes);
    }

    @Override
    protected byte[] engineDigest() {
        throw new UnsupportedOperationException("ask for the content");
    }

    @Override
    protected void engineReset() {
        throw new UnsupportedOperationException("a file is read once");
    }
}
