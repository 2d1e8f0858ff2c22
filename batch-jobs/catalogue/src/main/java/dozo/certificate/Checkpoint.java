package dozo.certificate;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Size and root of a log's Merkle tree (C2SP tlog-checkpoint).
 *
 * @param origin the name of the log
 */
public record Checkpoint(String origin, long size, Digest root) {

    /** The folder of the checkpoints at a site, below its root. */
    public static final FilePath FOLDER = FilePath.of(".dozo/checkpoints");

    private static final Pattern TEXT =
            Pattern.compile("([^ +\n]{1,200})\n(0|[1-9][0-9]{0,17})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*");

    /** Parses the signed text; empty if it is not a checkpoint. */
    public static Optional<Checkpoint> of(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        return hash(parts.group(3))
                .map(root -> new Checkpoint(parts.group(1), Long.parseLong(parts.group(2)), Digest.of(root)));
    }

    /** Parses a hash; empty if it is not 32 bytes in base64. */
    static Optional<byte[]> hash(String base64) {
        try {
            byte[] hash = Base64.getDecoder().decode(base64);
            return hash.length == Digest.LENGTH_BYTES && base64(hash).equals(base64)
                    ? Optional.of(hash)
                    : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    static String base64(byte[] hash) {
        return Base64.getEncoder().encodeToString(hash);
    }

    /** Returns the text to sign. */
    public String text() {
        return "%s\n%d\n%s\n".formatted(origin, size, base64(root.bytes()));
    }

    boolean hasRoot(byte[] other) {
        return Arrays.equals(root.bytes(), other);
    }

    /** Returns the path of a note's file at a site, below the site's root. It differs between logs. */
    public static FilePath file(long size, String note) {
        String digest = Digest.ofContent(note.getBytes(StandardCharsets.UTF_8)).toString();
        return FOLDER.resolve("%012d-%s".formatted(size, digest.substring(0, 16)));
    }
}
