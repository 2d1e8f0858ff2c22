package dozo.record;

import dozo.certificate.Certificates.Signer;
import dozo.file.Digest;
import dozo.file.Spool;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Base64;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Writes a record: text as {@code pg_dump} writes it, one {@code COPY} for each table, then the text's signature;
 * compressed, then encrypted. Only a buffer of it is in memory.
 */
final class RecordWriter {

    static final String END_OF_ROWS = "\\.\n";
    static final String SHA256 = "-- sha256 ";
    static final String SIGNATURE = "-- signature ";

    private static final int BUFFER_BYTES = 64 << 10;

    private final Signer signer;
    private final DigestOutputStream encrypted;
    private final GZIPOutputStream compressed;
    private final DigestOutputStream text;
    private final OutputStream out;

    /** The table of the last row; null: none. */
    private @Nullable String begun;

    RecordWriter(Spool spool, List<String> recipients, Signer signer, Header header) throws IOException {
        this.signer = signer;
        this.encrypted = new DigestOutputStream(new NotClosed(spool), Digest.algorithm());
        this.compressed = new Fast(Age.encrypting(encrypted, recipients));
        this.text = new DigestOutputStream(compressed, Digest.algorithm());
        this.out = new BufferedOutputStream(text, BUFFER_BYTES);
        write(header.line());
    }

    /**
     * Writes rows of a table.
     *
     * @param columns the columns that the query returns, as SQL writes them
     */
    void table(Connection connection, String table, List<String> columns, String query)
            throws SQLException, IOException {
        write("COPY %s (%s) FROM stdin;\n".formatted(table, String.join(", ", columns)));
        connection.unwrap(PGConnection.class).getCopyAPI().copyOut("copy (%s) to stdout".formatted(query), out);
        write(END_OF_ROWS);
    }

    /**
     * Writes a row of a table, after the other rows of the same table.
     *
     * @param columns the names of its columns, as SQL writes them
     * @param row a line of COPY's text, with its end
     * @param from where it begins
     */
    void row(String table, String columns, byte[] row, int from) throws IOException {
        if (!table.equals(begun)) {
            endTable();
            write("COPY %s (%s) FROM stdin;\n".formatted(table, columns));
            begun = table;
        }
        out.write(row, from, row.length - from);
    }

    private void endTable() throws IOException {
        if (begun != null) {
            write(END_OF_ROWS);
            begun = null;
        }
    }

    /** Writes the end, and returns the digest of the file. */
    Digest end() throws IOException {
        endTable();
        out.flush();
        String sha256 = Digest.of(text.getMessageDigest().digest()).toString();
        String signature = Base64.getEncoder().encodeToString(signer.sign(Header.signed(sha256)));
        compressed.write((SHA256 + sha256 + "\n" + SIGNATURE + signature + "\n").getBytes(StandardCharsets.US_ASCII));
        compressed.close();
        return Digest.of(encrypted.getMessageDigest().digest());
    }

    private void write(String line) throws IOException {
        out.write(line.getBytes(StandardCharsets.UTF_8));
    }

    /** Most of a record are digests, which no effort makes smaller. */
    private static final class Fast extends GZIPOutputStream {
        Fast(OutputStream out) throws IOException {
            super(out, BUFFER_BYTES);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }

    /** Closing a spool discards it. */
    private static final class NotClosed extends FilterOutputStream {
        NotClosed(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            out.write(bytes, from, count);
        }

        @Override
        public void close() {
            // The spool is read after this.
        }
    }
}
