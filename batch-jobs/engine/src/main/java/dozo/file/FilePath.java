package dozo.file;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * A path below some root, as the bytes in the file system: names joined by {@code '/'}, in no particular encoding. The
 * empty path is the root itself.
 *
 * <p>It can never lead out of its root: a leading, trailing or doubled {@code '/'}, the names {@code "."} and {@code
 * ".."} and a NUL byte are always refused. Order is that of unsigned bytes.
 */
public final class FilePath implements Comparable<FilePath> {

    /** The root. */
    public static final FilePath ROOT = new FilePath(new byte[0]);

    /** No file system supports longer names. */
    private static final int NAME_BYTES_MAX = 255;

    private static final List<Charset> READABLE_AS =
            List.of(StandardCharsets.UTF_8, Charset.forName("EUC-JP"), Charset.forName("windows-31j"));

    private final byte[] bytes;

    private FilePath(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Returns the path with these bytes.
     *
     * @throws IllegalArgumentException if it is not a plain path below a root
     */
    @JsonCreator
    public static FilePath of(byte[] bytes) {
        if (bytes.length == 0) {
            return ROOT;
        }
        int start = 0;
        for (int i = 0; i <= bytes.length; i++) {
            if (i == bytes.length || bytes[i] == '/') {
                checkName(bytes, start, i);
                start = i + 1;
            } else if (bytes[i] == 0) {
                throw new IllegalArgumentException("path must not contain NUL: " + render(bytes));
            }
        }
        return new FilePath(bytes.clone());
    }

    /** Returns the path with this text's UTF-8 bytes; for names that Dozo generates. */
    public static FilePath of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns the part of {@code path} below {@code root}, byte for byte.
     *
     * @throws IllegalArgumentException if it is not below it
     */
    public static FilePath between(Path root, Path path) {
        byte[] above = rawBytes(root);
        byte[] whole = rawBytes(path);
        if (Arrays.equals(above, whole)) {
            return ROOT;
        }
        int cut = above.length == 1 ? 1 : above.length + 1;
        if (whole.length < cut || whole[cut - 1] != '/' || !Arrays.equals(above, 0, cut - 1, whole, 0, cut - 1)) {
            throw new IllegalArgumentException(path + " is not below " + root);
        }
        return of(Arrays.copyOfRange(whole, cut, whole.length));
    }

    /** Returns the bytes of an absolute path of this machine. */
    public static byte[] rawBytes(Path path) {
        Path absolute = path.toAbsolutePath();
        String text = absolute.toString();
        if (isAscii(text)) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
        // Only the URI keeps bytes that are not characters; Path.toString() replaces them.
        byte[] raw = percentDecoded(absolute.toUri().getRawPath());
        boolean slashAtEnd = raw.length > 1 && raw[raw.length - 1] == '/';
        return slashAtEnd ? Arrays.copyOf(raw, raw.length - 1) : raw;
    }

    /** Returns the bytes of a path as it was written, relative or absolute: a link's text. */
    public static byte[] rawText(Path path) {
        String text = path.toString();
        if (isAscii(text)) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
        if (path.isAbsolute()) {
            return rawBytes(path);
        }
        byte[] below = rawBytes(Path.of("/").resolve(path));
        return Arrays.copyOfRange(below, 1, below.length);
    }

    /** Returns the absolute path of this machine with these bytes; the inverse of {@link #rawBytes}. */
    public static Path pathOf(byte[] absolute) {
        if (absolute.length == 0 || absolute[0] != '/') {
            throw new IllegalArgumentException("not an absolute path: " + render(absolute));
        }
        for (byte b : absolute) {
            if (b < 0) {
                return Path.of(URI.create("file://" + percentEncoded(absolute)));
            }
        }
        return Path.of(new String(absolute, StandardCharsets.US_ASCII));
    }

    /**
     * Returns the path with this text, relative or absolute; the inverse of {@link #rawText}. NB: Java normalizes the
     * text: {@code "folder/"} loses its slash.
     */
    public static Path pathOfText(byte[] text) {
        if (text.length == 0) {
            return Path.of("");
        }
        // NB: Path.relativize would resolve "..".
        Path absolute = pathOf(text[0] == '/' ? text : join(new byte[] {'/', 'x'}, text));
        return text[0] == '/' ? absolute : absolute.subpath(1, absolute.getNameCount());
    }

    /** Returns this path below a folder of this machine. */
    public Path under(Path root) {
        if (isRoot()) {
            return root;
        }
        byte[] above = rawBytes(root);
        return pathOf(join(above.length == 1 ? new byte[0] : above, bytes));
    }

    /** Returns the path of a name in this folder. */
    public FilePath resolve(byte[] name) {
        checkName(name, 0, name.length);
        for (byte b : name) {
            if (b == '/' || b == 0) {
                throw new IllegalArgumentException("expected a single name, not a path: " + render(name));
            }
        }
        return new FilePath(isRoot() ? name.clone() : join(bytes, name));
    }

    /** Returns this path with another one below it. */
    public FilePath resolve(FilePath below) {
        if (below.isRoot()) {
            return this;
        }
        return isRoot() ? below : new FilePath(join(bytes, below.bytes));
    }

    /** Returns this path with a path of text below it. */
    public FilePath resolve(String below) {
        return resolve(of(below));
    }

    /** Returns the parent folder; for the root, the root. */
    public FilePath parent() {
        int slash = lastSlash();
        return slash < 0 ? ROOT : new FilePath(Arrays.copyOf(bytes, slash));
    }

    /** Returns the last name; empty for the root. */
    public byte[] name() {
        return Arrays.copyOfRange(bytes, lastSlash() + 1, bytes.length);
    }

    /**
     * Returns the path that comes just before this one in its folder: in between is no name that a file system can have.
     */
    public FilePath justBefore() {
        int last = bytes[bytes.length - 1] & 0xff;
        if (last == 1) {
            return new FilePath(Arrays.copyOf(bytes, bytes.length - 1));
        }
        int nameBytes = bytes.length - lastSlash() - 1;
        byte[] before = Arrays.copyOf(bytes, bytes.length + NAME_BYTES_MAX - nameBytes);
        // No name contains the byte between the two.
        before[bytes.length - 1] = (byte) (last == '0' ? '.' : last - 1);
        Arrays.fill(before, bytes.length, before.length, (byte) 0xff);
        return new FilePath(before);
    }

    /** Returns a copy of the bytes. */
    @JsonValue
    public byte[] bytes() {
        return bytes.clone();
    }

    public boolean isRoot() {
        return bytes.length == 0;
    }

    /** Returns whether this path is {@code above} or below it. */
    public boolean startsWith(FilePath above) {
        if (above.isRoot() || equals(above)) {
            return true;
        }
        int n = above.bytes.length;
        return bytes.length > n && bytes[n] == '/' && Arrays.equals(bytes, 0, n, above.bytes, 0, n);
    }

    /**
     * Returns the part of this path below another.
     *
     * @throws IllegalArgumentException if it is not below it
     */
    public FilePath below(FilePath above) {
        if (!startsWith(above)) {
            throw new IllegalArgumentException(this + " is not below " + above);
        }
        int cut = above.isRoot() ? 0 : above.bytes.length + 1;
        return equals(above) ? ROOT : new FilePath(Arrays.copyOfRange(bytes, cut, bytes.length));
    }

    @Override
    public int compareTo(FilePath other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FilePath path && Arrays.equals(bytes, path.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns a rendering for people, see {@link #render}. */
    @Override
    public String toString() {
        return render(bytes);
    }

    /** Returns whether the bytes are UTF-8 text. */
    public boolean isUtf8() {
        return decoded(bytes, StandardCharsets.UTF_8).isPresent();
    }

    /**
     * Renders bytes for people: as UTF-8, EUC-JP or Shift-JIS, whichever fits first, otherwise as ASCII with {@code
     * \xNN} for all other bytes. Control characters are always escaped, so that a name cannot control a terminal. Never
     * use the result as a key.
     */
    public static String render(byte[] bytes) {
        for (Charset charset : READABLE_AS) {
            Optional<String> text = decoded(bytes, charset);
            if (text.isPresent()) {
                return visible(text.get());
            }
        }
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            if (b < 0) {
                text.append("\\x").append(HexFormat.of().withUpperCase().toHexDigits(b));
            } else {
                text.append((char) b);
            }
        }
        return visible(text.toString());
    }

    /** Returns all bytes that {@link #render} shows as this text, if it has no control characters. */
    public static List<byte[]> written(String text) {
        return READABLE_AS.stream()
                .filter(charset -> charset.newEncoder().canEncode(text))
                .map(charset -> ByteBuffer.wrap(text.getBytes(charset)))
                .distinct()
                .map(ByteBuffer::array)
                .toList();
    }

    private static Optional<String> decoded(byte[] bytes, Charset charset) {
        try {
            return Optional.of(charset.newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException notThisOne) {
            return Optional.empty();
        }
    }

    private static String visible(String text) {
        StringBuilder visible = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            int type = Character.getType(c);
            // Format characters, too: a right-to-left override displays "exe.jpg" as "gpj.exe".
            if (Character.isISOControl(c)
                    || type == Character.FORMAT
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR) {
                visible.append(c < 0x80 ? "\\x%02X".formatted(c) : "\\u%04X".formatted(c));
            } else {
                visible.appendCodePoint(c);
            }
        });
        return visible.toString();
    }

    private int lastSlash() {
        for (int i = bytes.length - 1; i >= 0; i--) {
            if (bytes[i] == '/') {
                return i;
            }
        }
        return -1;
    }

    private static void checkName(byte[] bytes, int start, int end) {
        int length = end - start;
        boolean dots = length <= 2 && length > 0 && bytes[start] == '.' && bytes[end - 1] == '.';
        if (length == 0 || dots) {
            throw new IllegalArgumentException("path must not contain empty names, \".\" or \"..\": " + render(bytes));
        }
    }

    private static byte[] join(byte[] above, byte[] below) {
        byte[] joined = Arrays.copyOf(above, above.length + 1 + below.length);
        joined[above.length] = '/';
        System.arraycopy(below, 0, joined, above.length + 1, below.length);
        return joined;
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    private static byte[] percentDecoded(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                bytes.write(HexFormat.fromHexDigits(text, i + 1, i + 3));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        return bytes.toByteArray();
    }

    private static String percentEncoded(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length * 3);
        for (byte b : bytes) {
            boolean plain = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '/';
            if (plain) {
                text.append((char) b);
            } else {
                text.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return text.toString();
    }
}
