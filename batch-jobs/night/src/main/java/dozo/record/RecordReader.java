package dozo.record;

import dozo.certificate.Certificates;
import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a record. What it returns may be forged, changed or cut until {@link #end} has returned: nothing of it may be
 * kept before.
 */
final class RecordReader implements AutoCloseable {

    private static final int BUFFER_BYTES = 64 << 10;

    /** A receipt with the largest number of entries takes 8 MB. */
    private static final int LINE_BYTES_MAX = 64 << 20;

    private static final Pattern TABLE = Pattern.compile("COPY ([a-z_]+) \\(([a-z_0-9\", ]+)\\) FROM stdin;\n");
    private static final byte[] END_OF_ROWS = RecordWriter.END_OF_ROWS.getBytes(StandardCharsets.US_ASCII);

    private final FilePath file;
    private final InputStream raw;
    private final DigestInputStream encrypted;
    private final InputStream text;
    private final MessageDigest digest = Digest.algorithm();
    private final Header header;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int at;
    private int limit;
    private byte[] line = new byte[1 << 10];
    private int length;

    /** Rows of a table. They must be read to their end before the next call. */
    record Table(String name, List<String> columns, InputStream rows) {}

    /** @throws DamagedRecord if it is not a record that one of these private keys decrypts */
    RecordReader(FilePath file, InputStream in, List<String> identities) throws IOException {
        this.file = file;
        this.raw = in;
        this.encrypted = new DigestInputStream(new BufferedInputStream(in, BUFFER_BYTES), Digest.algorithm());
        try {
            text = new GZIPInputStream(Age.decrypting(encrypted, identities), BUFFER_BYTES);
        } catch (GeneralSecurityException | RuntimeException e) {
            throw new DamagedRecord(
                    "the record %s cannot be decrypted with this key, or is damaged".formatted(file), false);
        } catch (IOException e) {
            throw damaged();
        }
        if (!next()) {
            throw damaged();
        }
        this.header = Header.of(new String(line, 0, length, StandardCharsets.UTF_8))
                .orElseThrow(() -> new DamagedRecord("the file %s is not a record of a catalogue".formatted(file)));
        if (!header.file().equals(file)) {
            throw new DamagedRecord("the file %s is another record: %s".formatted(file, header.file()));
        }
    }

    Header header() {
        return header;
    }

    /** Returns the next table, or null after the last. */
    @Nullable
    Table table() throws IOException {
        if (!next()) {
            throw damaged();
        }
        String begin = new String(line, 0, length, StandardCharsets.US_ASCII);
        Matcher table = TABLE.matcher(begin);
        return table.matches()
                ? new Table(table.group(1), List.of(table.group(2).split(", ")), new Rows())
                : null;
    }

    /**
     * Checks the end of the record, which must come now, after its last table. Returns the digest of the file.
     *
     * @throws DamagedRecord if it is not whole, or its signature is not that of its key
     */
    Digest end() throws IOException {
        Optional<String> sha256 = value(RecordWriter.SHA256);
        String computed = Digest.of(digest.digest()).toString();
        boolean whole = sha256.isPresent() && sha256.get().equals(computed) && next();
        Optional<String> signature = whole ? value(RecordWriter.SIGNATURE) : Optional.empty();
        if (signature.isEmpty() || next() || !isSigned(computed, signature.get())) {
            throw damaged();
        }
        encrypted.transferTo(OutputStream.nullOutputStream());
        return Digest.of(encrypted.getMessageDigest().digest());
    }

    private boolean isSigned(String sha256, String signature) {
        try {
            return Certificates.isSigned(
                    header.signer(), Header.signed(sha256), Base64.getDecoder().decode(signature));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private Optional<String> value(String name) {
        String all = new String(line, 0, length, StandardCharsets.US_ASCII);
        return all.startsWith(name) ? Optional.of(all.substring(name.length()).strip()) : Optional.empty();
    }

    private DamagedRecord damaged() {
        return new DamagedRecord("the record %s is damaged or cut".formatted(file));
    }

    /** Reads the next line, with its end; not into the digest if it belongs to the signature. */
    private boolean next() throws IOException {
        boolean there = readLine();
        if (there && !startsWith(RecordWriter.SHA256) && !startsWith(RecordWriter.SIGNATURE)) {
            digest.update(line, 0, length);
        }
        return there;
    }

    private boolean startsWith(String begin) {
        return length > begin.length() && new String(line, 0, begin.length(), StandardCharsets.US_ASCII).equals(begin);
    }

    /** Returns whether there is another line. */
    private boolean readLine() throws IOException {
        length = 0;
        while (fill()) {
            int end = at;
            while (end < limit && buffer[end] != '\n') {
                end++;
            }
            boolean whole = end < limit;
            take(whole ? end + 1 : end);
            if (whole) {
                return true;
            }
        }
        if (length > 0) {
            throw damaged();
        }
        return false;
    }

    private boolean fill() throws IOException {
        if (at == limit) {
            at = 0;
            try {
                limit = Math.max(0, text.read(buffer));
            } catch (IOException | RuntimeException e) {
                throw damaged();
            }
        }
        return at < limit;
    }

    private void take(int end) {
        int count = end - at;
        if (length + count > LINE_BYTES_MAX) {
            throw damaged();
        }
        if (length + count > line.length) {
            line = Arrays.copyOf(line, Math.max(2 * line.length, length + count));
        }
        System.arraycopy(buffer, at, line, length, count);
        length += count;
        at = end;
    }

    @Override
    public void close() throws IOException {
        raw.close();
    }

    private final class Rows extends InputStream {

        private int next = length;
        private boolean ended;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int from, int count) throws IOException {
            if (next == length && !ended) {
                if (!readLine()) {
                    throw damaged();
                }
                // Whatever it begins with: it may look like a part of the signature.
                digest.update(line, 0, length);
                next = 0;
                ended = Arrays.equals(line, 0, length, END_OF_ROWS, 0, END_OF_ROWS.length);
            }
            if (ended) {
                return -1;
            }
            int read = Math.min(count, length - next);
            System.arraycopy(line, next, into, from, read);
            next += read;
            return read;
        }
    }
}
