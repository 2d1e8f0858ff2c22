package dozo.certificate;

import dozo.file.Digest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The public key that signatures of a note are checked with (C2SP signed-note).
 *
 * @param name without spaces and plus signs, in ASCII
 * @param type {@link #LOG} or {@link #COSIGNATURE}
 * @param publicKey Ed25519, 64 hexadecimal digits
 */
public record NoteKey(String name, int type, String publicKey) {

    /** Signs checkpoints of a log. */
    public static final int LOG = 1;

    /** Cosigns checkpoints, with a time. */
    public static final int COSIGNATURE = 4;

    static final int ID_BYTES = 4;

    private static final int KEY_BYTES = 32;
    private static final Pattern VKEY = Pattern.compile("([!-*,-~]{1,200})\\+([0-9a-f]{8})\\+([A-Za-z0-9+/]{44})");

    /** What precedes the 32 bytes of an Ed25519 key in DER. */
    private static final String DER = "302a300506032b6570032100";

    /** Returns the key of a key pair of this service. */
    static NoteKey of(String name, int type, SigningKey key) {
        byte[] der = key.published().getPublic().getEncoded();
        return new NoteKey(name, type, HexFormat.of().formatHex(der, der.length - KEY_BYTES, der.length));
    }

    /** Parses the text form; empty if it is not one of a key of this type. */
    public static Optional<NoteKey> of(String vkey, int type) {
        Matcher parts = VKEY.matcher(vkey);
        if (!parts.matches()) {
            return Optional.empty();
        }
        byte[] key = Base64.getDecoder().decode(parts.group(3));
        NoteKey read = new NoteKey(parts.group(1), type, HexFormat.of().formatHex(key, 1, key.length));
        return read.vkey().equals(vkey) ? Optional.of(read) : Optional.empty();
    }

    /** Returns the text form: name, identifier, and type with key. */
    public String vkey() {
        return "%s+%s+%s"
                .formatted(
                        name,
                        HexFormat.of().formatHex(id()),
                        Base64.getEncoder().encodeToString(typed()));
    }

    /** Returns the same key for a log of another name. */
    NoteKey named(String other) {
        return new NoteKey(other, type, publicKey);
    }

    byte[] id() {
        byte[] named = (name + "\n").getBytes(StandardCharsets.US_ASCII);
        byte[] all = Arrays.copyOf(named, named.length + 1 + KEY_BYTES);
        System.arraycopy(typed(), 0, all, named.length, 1 + KEY_BYTES);
        return Arrays.copyOf(Digest.ofContent(all).bytes(), ID_BYTES);
    }

    boolean isSigned(byte[] message, byte[] signature) {
        return SigningKey.isSigned(HexFormat.of().parseHex(DER + publicKey), message, signature);
    }

    private byte[] typed() {
        return HexFormat.of().parseHex("%02x%s".formatted(type, publicKey));
    }
}
