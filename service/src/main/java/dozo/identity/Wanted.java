package dozo.identity;

import dozo.file.Malformed;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Names and numbers to search for. A text contains one if its bytes occur in the text, in one of the ways in which Japanese and
 * other names are written: UTF-8 (composed and decomposed), Shift-JIS, EUC-JP, ISO-2022-JP, percent-encoded, or as in JSON with
 * {@code \}{@code u}. Upper and lower case of the letters A to Z are the same.
 */
public final class Wanted {

    /** A shorter one occurs by chance. */
    private static final int BYTES_MIN = 4;

    private static final int NAMES_MAX = 1_000_000;

    private static final List<Charset> CHARSETS = List.of(
            StandardCharsets.UTF_8,
            Charset.forName("windows-31j"),
            Charset.forName("EUC-JP"),
            StandardCharsets.ISO_8859_1,
            StandardCharsets.UTF_16LE,
            StandardCharsets.UTF_16BE);

    private static final Charset ISO_2022_JP = Charset.forName("ISO-2022-JP");
    private static final int ESCAPE = 0x1b;
    private static final int ESCAPE_BYTES = 3;

    /** The bytes that a form begins with are its key. */
    private static final int KEY_BYTES = 3;

    private static final int BLOCK_BYTES = 1 << 20;

    private final BitSet keys = new BitSet(1 << 24);
    private final Map<Integer, List<Written>> byKey = new HashMap<>();
    private int longest;
    private int names;

    /** One way to write the name of a line, with small letters. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Written(byte[] form, int line) {}

    private Wanted() {}

    /**
     * Reads a list: UTF-8, a name in each line, with at least 4 bytes. Empty lines and those that begin with {@code #} do not count.
     *
     * @throws Malformed if a name is too short, or there is none
     */
    public static Wanted of(Path list) throws IOException {
        Wanted wanted = new Wanted();
        try (BufferedReader lines = Files.newBufferedReader(list)) {
            int number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                String name = line.strip();
                if (!name.isEmpty() && !name.startsWith("#")) {
                    wanted.add(name, number);
                }
            }
        } catch (CharacterCodingException e) {
            throw new Malformed("%s: expected a list in UTF-8", list);
        }
        if (wanted.names == 0) {
            throw new Malformed("%s: expected a name in each line; there is none", list);
        }
        return wanted;
    }

    private void add(String name, int line) throws Malformed {
        if (name.getBytes(StandardCharsets.UTF_8).length < BYTES_MIN) {
            throw new Malformed(
                    "line %d: expected at least %d bytes: a shorter name occurs by chance", line, BYTES_MIN);
        }
        if (++names > NAMES_MAX) {
            throw new Malformed("expected at most %,d names", NAMES_MAX);
        }
        Set<ByteBuffer> forms = new HashSet<>();
        for (Form form : List.of(Form.NFC, Form.NFD)) {
            String text = Normalizer.normalize(name, form);
            for (Charset charset : CHARSETS) {
                addEncoded(text, charset, forms);
            }
            forms.add(ByteBuffer.wrap(ascii(URLEncoder.encode(text, StandardCharsets.UTF_8))));
            forms.add(ByteBuffer.wrap(
                    ascii(URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20"))));
            forms.add(ByteBuffer.wrap(ascii(asInJson(text))));
            addShifted(text, forms);
        }
        forms.forEach(form -> put(bytes(form), line));
    }

    private static byte[] bytes(ByteBuffer form) {
        byte[] bytes = new byte[form.remaining()];
        form.duplicate().get(bytes);
        return bytes;
    }

    private static void addEncoded(String text, Charset charset, Set<ByteBuffer> forms) {
        try {
            forms.add(charset.newEncoder().encode(CharBuffer.wrap(text)));
        } catch (CharacterCodingException cannotBeWrittenSo) {
            // Nobody has written it in this character set.
        }
    }

    /** Adds the form between the escape sequences, which DICOM too uses for Japanese names. */
    private static void addShifted(String text, Set<ByteBuffer> forms) {
        if (!ISO_2022_JP.newEncoder().canEncode(text)) {
            return;
        }
        byte[] encoded = text.getBytes(ISO_2022_JP);
        boolean shifted = encoded.length > 2 * ESCAPE_BYTES && encoded[0] == ESCAPE;
        byte[] form = shifted ? Arrays.copyOfRange(encoded, ESCAPE_BYTES, encoded.length - ESCAPE_BYTES) : encoded;
        if (form.length >= BYTES_MIN) {
            forms.add(ByteBuffer.wrap(form));
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String asInJson(String text) {
        StringBuilder json = new StringBuilder();
        text.chars().forEach(c -> json.append(c < 0x80 ? String.valueOf((char) c) : "\\u%04x".formatted(c)));
        return json.toString();
    }

    private void put(byte[] form, int line) {
        byte[] small = small(form, form.length);
        if (small.length < KEY_BYTES) {
            return;
        }
        int key = key(small, 0);
        keys.set(key);
        byKey.computeIfAbsent(key, _ -> new ArrayList<>()).add(new Written(small, line));
        longest = Math.max(longest, small.length);
    }

    /** Returns the lines of the list whose names are in these bytes. */
    public SortedSet<Integer> in(byte[] text) {
        SortedSet<Integer> lines = new TreeSet<>();
        find(small(text, text.length), text.length, lines);
        return lines;
    }

    /** Returns the lines of the list whose names are in a stream of any length, which is read to its end. */
    public SortedSet<Integer> in(InputStream text) throws IOException {
        SortedSet<Integer> lines = new TreeSet<>();
        byte[] block = new byte[BLOCK_BYTES + longest];
        int kept = 0;
        for (int n = text.readNBytes(block, 0, BLOCK_BYTES); n > 0; n = text.readNBytes(block, kept, BLOCK_BYTES)) {
            int length = kept + n;
            find(small(block, length), length, lines);
            // A name can begin here and end in the next block.
            kept = Math.min(length, longest - 1);
            System.arraycopy(block, length - kept, block, 0, kept);
        }
        return lines;
    }

    private void find(byte[] text, int length, Set<Integer> lines) {
        for (int at = 0; at + KEY_BYTES <= length; at++) {
            int key = key(text, at);
            if (keys.get(key)) {
                for (Written written : byKey.getOrDefault(key, List.of())) {
                    int end = at + written.form.length;
                    if (end <= length && Arrays.equals(text, at, end, written.form, 0, written.form.length)) {
                        lines.add(written.line);
                    }
                }
            }
        }
    }

    private static int key(byte[] text, int at) {
        return (text[at] & 0xff) << 16 | (text[at + 1] & 0xff) << 8 | (text[at + 2] & 0xff);
    }

    private static byte[] small(byte[] text, int length) {
        byte[] small = Arrays.copyOf(text, length);
        for (int i = 0; i < length; i++) {
            if (small[i] >= 'A' && small[i] <= 'Z') {
                small[i] += (byte) ('a' - 'A');
            }
        }
        return small;
    }
}
