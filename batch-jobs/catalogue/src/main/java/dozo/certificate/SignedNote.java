package dozo.certificate;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A text with signatures (C2SP signed-note).
 *
 * @param text what is signed, with its last line feed
 * @param signatures lines, each with its line feed
 */
public record SignedNote(String text, List<String> signatures) {

    /** More signatures are not read. */
    private static final int SIGNATURES_MAX = 32;

    /** An Ed25519 cosignature has its time before the signature. */
    private static final int TIME_BYTES = 8;

    private static final int SIGNATURE_BYTES = 64;
    private static final Pattern LINE = Pattern.compile("\u2014 ([!-*,-~]{1,200}) ([A-Za-z0-9+/]{8,}={0,2})\n");

    /** Parses a note; empty if it is not one. */
    public static Optional<SignedNote> of(String note) {
        int end = note.lastIndexOf("\n\n");
        if (end < 0 || note.chars().anyMatch(c -> (c < ' ' && c != '\n') || c == '\u007f' || c == '\ufffd')) {
            return Optional.empty();
        }
        List<String> lines = lines(note.substring(end + 2));
        return lines.isEmpty() || lines.size() > SIGNATURES_MAX
                ? Optional.empty()
                : Optional.of(new SignedNote(note.substring(0, end + 1), lines));
    }

    /** Returns the lines of signatures in a text; empty if it has anything else. */
    static List<String> lines(String text) {
        List<String> lines = new ArrayList<>();
        Matcher line = LINE.matcher(text);
        int at = 0;
        while (line.find() && line.start() == at) {
            lines.add(line.group());
            at = line.end();
        }
        return at == text.length() ? lines : List.of();
    }

    /** Returns the line of a signature of the text by this service's key. */
    static String signed(String text, NoteKey key, SigningKey own) {
        return line(key, new byte[0], SigningKey.sign(own.published(), bytes(text)));
    }

    /** Returns the line of a cosignature. It states that the signer has seen no tree that is not a part of this one. */
    static String cosigned(String text, long seconds, NoteKey key, SigningKey own) {
        byte[] time = ByteBuffer.allocate(TIME_BYTES).putLong(seconds).array();
        return line(key, time, SigningKey.sign(own.published(), cosignatureMessage(text, seconds)));
    }

    private static String line(NoteKey key, byte[] time, byte[] signature) {
        byte[] blob = ByteBuffer.allocate(NoteKey.ID_BYTES + time.length + signature.length)
                .put(key.id())
                .put(time)
                .put(signature)
                .array();
        return "\u2014 %s %s\n".formatted(key.name(), Base64.getEncoder().encodeToString(blob));
    }

    /** Returns the signature lines by this key; empty: there is none, or a wrong one among them. */
    public List<String> by(NoteKey key) {
        List<String> own = signatures.stream().filter(line -> isOf(line, key)).toList();
        return own.stream().allMatch(line -> isRight(line, key)) ? own : List.of();
    }

    /** Returns the note with these signatures. */
    public static String note(String text, List<String> signatures) {
        return text + "\n" + String.join("", signatures);
    }

    private static boolean isOf(String line, NoteKey key) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches() || !parts.group(1).equals(key.name())) {
            return false;
        }
        byte[] blob = blob(line);
        return blob.length >= NoteKey.ID_BYTES && Arrays.equals(Arrays.copyOf(blob, NoteKey.ID_BYTES), key.id());
    }

    private boolean isRight(String line, NoteKey key) {
        byte[] blob = blob(line);
        boolean timed = key.type() == NoteKey.COSIGNATURE;
        int begin = NoteKey.ID_BYTES + (timed ? TIME_BYTES : 0);
        if (blob.length != begin + SIGNATURE_BYTES) {
            return false;
        }
        byte[] message =
                timed ? cosignatureMessage(text, ByteBuffer.wrap(blob).getLong(NoteKey.ID_BYTES)) : bytes(text);
        return key.isSigned(message, Arrays.copyOfRange(blob, begin, blob.length));
    }

    private static byte[] blob(String line) {
        try {
            return Base64.getDecoder()
                    .decode(line.substring(line.lastIndexOf(' ') + 1).strip());
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    private static byte[] cosignatureMessage(String text, long seconds) {
        return bytes("cosignature/v1\ntime %d\n%s".formatted(seconds, text));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
