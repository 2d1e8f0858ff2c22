package dozo.send;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Malformed;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The two forms of a file's line in a bag's tag files. Most names have the same line in both; within one form no two
 * names have the same line. See ADR 0025.
 */
public enum NameForm {

    /**
     * As in a bag's manifest (RFC 8493, section 2.1.3): newline and carriage return are percent-encoded, and so is a
     * percent sign that would otherwise be read as the beginning of an encoding. NB: the RFC requires every percent
     * sign to be encoded, but the Library of Congress's validator does not decode those, and writes them unencoded.
     */
    BAG {
        @Override
        public void writeLine(OutputStream out, String digest, byte[] name) throws IOException {
            writeStart(out, digest);
            out.write(encoded(name));
            out.write('\n');
        }

        @Override
        public Line readLine(byte[] line) {
            if (isPlain(line, (byte) '%')) {
                return plain(line);
            }
            ByteArrayOutputStream name = new ByteArrayOutputStream();
            for (int i = NAME_AT; i < line.length; i++) {
                if (isAmbiguous(line, i)) {
                    name.write(HexFormat.fromHexDigits(text(line, i + 1, ENCODED_LENGTH - 1)));
                    i += ENCODED_LENGTH - 1;
                } else {
                    name.write(line[i]);
                }
            }
            return new Line(digest(line, 0), name.toByteArray());
        }
    },

    /** As {@code sha256sum} escapes it: the line begins with a backslash if anything in the name is escaped. */
    SHA256SUM {
        @Override
        public void writeLine(OutputStream out, String digest, byte[] name) throws IOException {
            for (byte b : name) {
                if (b == '\n' || b == '\r' || b == '\\') {
                    out.write('\\');
                    break;
                }
            }
            writeStart(out, digest);
            for (byte b : name) {
                switch (b) {
                    case '\n' -> writeText(out, "\\n");
                    case '\r' -> writeText(out, "\\r");
                    case '\\' -> writeText(out, "\\\\");
                    default -> out.write(b);
                }
            }
            out.write('\n');
        }

        @Override
        public Line readLine(byte[] line) {
            if (isPlain(line, (byte) '\\')) {
                return plain(line);
            }
            int start = line.length > 0 && line[0] == '\\' ? 1 : 0;
            ByteArrayOutputStream name = new ByteArrayOutputStream();
            for (int i = start + NAME_AT; i < line.length; i++) {
                if (start == 0 || line[i] != '\\') {
                    name.write(line[i]);
                } else if (++i < line.length) {
                    name.write(escaped(line[i]));
                } else {
                    throw new Malformed("the line ends with a backslash");
                }
            }
            return new Line(digest(line, start), name.toByteArray());
        }

        private static byte escaped(byte letter) {
            return switch (letter) {
                case 'n' -> '\n';
                case 'r' -> '\r';
                case '\\' -> '\\';
                default -> throw new Malformed("unknown escape in a name: %s", (char) letter);
            };
        }
    };

    private static final int ENCODED_LENGTH = 3;

    /** The name of a file for which {@code sha256sum -c} would read its standard input. */
    private static final FilePath DASH = FilePath.of("-");

    private static final byte[] DASH_IN_HERE = {'.', '/', '-'};
    private static final int DIGEST_LENGTH = 2 * Digest.LENGTH_BYTES;

    /** Where the name begins: after the digest and two spaces. */
    private static final int NAME_AT = DIGEST_LENGTH + 2;

    /**
     * What a line says.
     *
     * @param name the file's path in the bag, as bytes; nothing about it is checked
     */
    @SuppressWarnings("ArrayRecordComponent") // is never compared
    public record Line(Digest digest, byte[] name) {}

    /** Writes the line of a file into a list that {@code sha256sum -c} reads in the folder that the path is below. */
    public static void writeSum(OutputStream out, Digest digest, FilePath path) throws IOException {
        SHA256SUM.writeLine(out, digest.toString(), path.equals(DASH) ? DASH_IN_HERE : path.bytes());
    }

    /** Returns a file's path in the bag as {@link #BAG} writes it: on one line, and not to be confused with another. */
    public static byte[] encoded(byte[] name) {
        if (!differ(name)) {
            return name;
        }
        ByteArrayOutputStream encoded = new ByteArrayOutputStream(name.length + ENCODED_LENGTH);
        for (int i = 0; i < name.length; i++) {
            if (name[i] == '\n' || name[i] == '\r' || isAmbiguous(name, i)) {
                String code = "%" + HexFormat.of().withUpperCase().toHexDigits(name[i]);
                encoded.writeBytes(code.getBytes(StandardCharsets.US_ASCII));
            } else {
                encoded.write(name[i]);
            }
        }
        return encoded.toByteArray();
    }

    /** Writes the line of a file. {@code name} is its path in the bag, as bytes. */
    public abstract void writeLine(OutputStream out, String digest, byte[] name) throws IOException;

    /**
     * Reads a line, without its line end.
     *
     * @throws Malformed if {@link #writeLine} does not write such a line
     */
    public abstract Line readLine(byte[] line);

    /**
     * Returns whether {@code sha256sum -c} would look for another file if it reads the name in the bag's form. A
     * backslash does not matter: it has a meaning only in a line that begins with one.
     */
    public static boolean differ(byte[] name) {
        for (int i = 0; i < name.length; i++) {
            if (name[i] == '\n' || name[i] == '\r' || isAmbiguous(name, i)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether there is a percent sign that a reader would take for the beginning of an encoding. */
    private static boolean isAmbiguous(byte[] name, int at) {
        if (name[at] != '%' || at + ENCODED_LENGTH > name.length) {
            return false;
        }
        return switch (name[at + 1]) {
            case '0' -> "AaDd".indexOf(name[at + 2]) >= 0;
            case '2' -> name[at + 2] == '5';
            default -> false;
        };
    }

    private static Digest digest(byte[] line, int at) {
        int end = at + DIGEST_LENGTH;
        if (line.length <= end + 2 || line[end] != ' ' || line[end + 1] != ' ') {
            throw new Malformed("expected 64 hexadecimal digits, two spaces and a name");
        }
        try {
            return Digest.ofHex(text(line, at, DIGEST_LENGTH));
        } catch (IllegalArgumentException e) {
            throw new Malformed("expected 64 hexadecimal digits, two spaces and a name");
        }
    }

    /** Returns whether nothing in the line is encoded: nearly all lines. */
    private static boolean isPlain(byte[] line, byte escape) {
        for (byte b : line) {
            if (b == escape) {
                return false;
            }
        }
        return true;
    }

    private static Line plain(byte[] line) {
        return new Line(digest(line, 0), Arrays.copyOfRange(line, NAME_AT, line.length));
    }

    private static String text(byte[] line, int at, int length) {
        return new String(line, at, length, StandardCharsets.US_ASCII);
    }

    private static void writeStart(OutputStream out, String digest) throws IOException {
        writeText(out, digest);
        writeText(out, "  ");
    }

    private static void writeText(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.US_ASCII));
    }
}
