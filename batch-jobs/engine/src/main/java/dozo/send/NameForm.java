package dozo.send;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
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
            if (!differ(name)) {
                out.write(name);
                out.write('\n');
                return;
            }
            for (int i = 0; i < name.length; i++) {
                if (name[i] == '\n' || name[i] == '\r' || isAmbiguous(name, i)) {
                    out.write('%');
                    writeText(out, HexFormat.of().withUpperCase().toHexDigits(name[i]));
                } else {
                    out.write(name[i]);
                }
            }
            out.write('\n');
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
    };

    private static final int ENCODED_LENGTH = 3;

    /** Writes the line of a file. {@code name} is its path in the bag, as bytes. */
    public abstract void writeLine(OutputStream out, String digest, byte[] name) throws IOException;

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

    private static void writeStart(OutputStream out, String digest) throws IOException {
        writeText(out, digest);
        writeText(out, "  ");
    }

    private static void writeText(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.US_ASCII));
    }
}
