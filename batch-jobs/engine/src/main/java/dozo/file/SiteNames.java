package dozo.file;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * How the names of an experiment's folders, files and links are written at its sites: as they are at the source, or as codes
 * that tell nobody without the key what they stand for (ADR 0092).
 *
 * <p>The code of a name is the HMAC-SHA-256 (RFC 2104) of its bytes, cut to 128 bits, in 32 lower-case hexadecimal digits: valid
 * on every file system, also where upper and lower case are the same. Equal names of one experiment have equal codes. The
 * function {@code coded_path} in the database does the same.
 *
 * <p>Of a catalogue that was rebuilt from the bags at a site, without records, the key may be lost: then the codes are the only
 * names there are.
 */
public final class SiteNames {

    /** Names stay as they are. */
    public static final SiteNames KEPT = new SiteNames(false, null);

    /** Names are codes already, and stay as they are: nobody knows what they stood for. */
    public static final SiteNames LOST = new SiteNames(true, null);

    /** The length of a key. */
    public static final int KEY_BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    private static final int CODE_BYTES = 16;

    private final boolean codes;
    private final byte @Nullable [] key;

    /** The folder that was asked for last, with its codes: entries of a folder come together. */
    private volatile Coded last = new Coded(FilePath.ROOT, FilePath.ROOT);

    private record Coded(FilePath folder, FilePath code) {}

    private SiteNames(boolean codes, byte @Nullable [] key) {
        this.codes = codes;
        this.key = key;
    }

    /** Returns names as codes made with this key of {@value #KEY_BYTES} bytes; null: as they are. */
    public static SiteNames of(byte @Nullable [] key) {
        if (key != null && key.length != KEY_BYTES) {
            throw new IllegalArgumentException("expected a key of %d bytes, not %d".formatted(KEY_BYTES, key.length));
        }
        return key == null ? KEPT : new SiteNames(true, key.clone());
    }

    /** Returns whether the names at the sites are codes. */
    public boolean areCodes() {
        return codes;
    }

    /** Returns a path below the source's root as it is at the site. */
    public FilePath of(FilePath path) {
        if (key == null || path.isRoot()) {
            return path;
        }
        FilePath folder = path.parent();
        Coded known = last;
        if (!known.folder.equals(folder)) {
            known = new Coded(folder, of(folder));
            last = known;
        }
        return known.code.resolve(code(path.name()));
    }

    /**
     * Returns the text of a link as it is at the site: each name is replaced, but not {@code .} and {@code ..}, so that a link to
     * a path of the same tree leads to that path's copy.
     */
    public byte[] ofLink(byte[] text) {
        if (key == null) {
            return text;
        }
        ByteArrayOutputStream coded = new ByteArrayOutputStream();
        int start = 0;
        for (int i = 0; i <= text.length; i++) {
            if (i < text.length && text[i] != '/') {
                continue;
            }
            coded.writeBytes(ofStep(Arrays.copyOfRange(text, start, i)));
            if (i < text.length) {
                coded.write('/');
            }
            start = i + 1;
        }
        return coded.toByteArray();
    }

    private byte[] ofStep(byte[] step) {
        boolean isName = step.length > 2 || !new String(step, US_ASCII).matches("\\.{0,2}");
        return isName ? code(step) : step;
    }

    private byte[] code(byte[] name) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(requireNonNull(key), ALGORITHM));
            return HexFormat.of().formatHex(mac.doFinal(name), 0, CODE_BYTES).getBytes(US_ASCII);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("HMAC-SHA-256 is part of every Java", e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SiteNames names && codes == names.codes && Arrays.equals(key, names.key);
    }

    @Override
    public int hashCode() {
        return Boolean.hashCode(codes) + Arrays.hashCode(key);
    }

    /** Returns one word; never the key. */
    @Override
    public String toString() {
        return equals(LOST) ? "lost" : areCodes() ? "codes" : "kept";
    }
}
