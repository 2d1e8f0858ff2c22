package dozo.file;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dozo.crypto.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;

/** A SHA-256 digest (FIPS 180-4), 32 bytes: the digest of record. */
public final class Digest {

    /** Bytes in a digest. */
    public static final int LENGTH_BYTES = 32;

    /** The digest of no bytes; also used for folders, which have none. */
    public static final Digest OF_NOTHING = ofContent(new byte[0]);

    private final byte[] bytes;

    private Digest(byte[] bytes) {
        if (bytes.length != LENGTH_BYTES) {
            throw new IllegalArgumentException("expected a SHA-256 digest of 32 bytes, not " + bytes.length);
        }
        this.bytes = bytes;
    }

    /** Returns the digest with these 32 bytes. */
    public static Digest of(byte[] bytes) {
        return new Digest(bytes.clone());
    }

    /** Returns the digest written as 64 hexadecimal digits. */
    @JsonCreator
    public static Digest ofHex(String hex) {
        return new Digest(HexFormat.of().parseHex(hex));
    }

    /** Returns the digest of these bytes. */
    public static Digest ofContent(byte[] content) {
        return new Digest(algorithm().digest(content));
    }

    /** Returns the digest of this text's UTF-8 bytes. */
    public static Digest ofText(String text) {
        return ofContent(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a new SHA-256 computation. */
    public static MessageDigest algorithm() {
        return Sha256.fresh();
    }

    /** Returns a copy of the 32 bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Digest digest && Arrays.equals(bytes, digest.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns 64 lower-case hexadecimal digits. */
    @Override
    @JsonValue
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
