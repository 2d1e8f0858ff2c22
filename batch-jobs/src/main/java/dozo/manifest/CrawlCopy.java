package dozo.manifest;

import dozo.file.Facts;
import dozo.file.FilePath;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.PGCopyOutputStream;

/** Writes what a crawl finds into the table {@code crawl} by binary COPY (PostgreSQL manual, "COPY", file formats). */
final class CrawlCopy implements AutoCloseable {

    private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xFF, '\r', '\n', 0};
    private static final int COLUMNS = 10;
    private static final int BUFFER_BYTES = 1 << 16;

    private final DataOutputStream out;
    private int ordinal;

    CrawlCopy(Connection connection) throws SQLException, IOException {
        this.out = new DataOutputStream(new BufferedOutputStream(
                new PGCopyOutputStream(connection.unwrap(PGConnection.class), """
                        copy crawl (ordinal, directory, name, kind, size_bytes, modified_ns, changed_ns, mode, hard_link,
                                    link_target) from stdin with (format binary)
                        """), BUFFER_BYTES));
        out.write(SIGNATURE);
        out.writeInt(0);
        out.writeInt(0);
    }

    void add(FilePath path, Facts facts) throws IOException {
        out.writeShort(COLUMNS);
        out.writeInt(Integer.BYTES);
        out.writeInt(++ordinal);
        bytes(path.parent().bytes());
        bytes(path.name());
        out.writeInt(1);
        out.writeByte(facts.kind().code());
        number(facts.sizeBytes());
        number(facts.modifiedNanos());
        number(facts.changedNanos());
        out.writeInt(Short.BYTES);
        out.writeShort(facts.mode());
        number(facts.hardLink());
        bytes(facts.linkTarget());
    }

    @Override
    public void close() throws IOException {
        out.writeShort(-1);
        out.close();
    }

    private void number(@Nullable Long value) throws IOException {
        if (value == null) {
            out.writeInt(-1);
        } else {
            out.writeInt(Long.BYTES);
            out.writeLong(value);
        }
    }

    private void bytes(byte @Nullable [] value) throws IOException {
        if (value == null) {
            out.writeInt(-1);
        } else {
            out.writeInt(value.length);
            out.write(value);
        }
    }
}
