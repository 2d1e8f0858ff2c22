package dozo.certificate;

import dozo.file.Spool;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/** An issued certificate and the list that it refers to, which is as long as the manifest; with a proof that witnesses have seen it. */
public final class Issued implements AutoCloseable {

    private final String name;
    private final Instant at;
    private final byte[] certificate;
    private final Spool list;
    private final @Nullable String proof;

    Issued(String name, Instant at, byte[] certificate, Spool list, @Nullable String proof) {
        this.name = name;
        this.at = at;
        this.certificate = certificate;
        this.list = list;
        this.proof = proof;
    }

    /** Returns the name of the archive that {@link #writeTo} writes. */
    public String fileName() {
        return name + ".certificate.zip";
    }

    /** Writes all as a ZIP archive: together, because a later list may have other receipts. */
    public void writeTo(OutputStream out) throws IOException {
        // NB: closing it after a failure would write a proper end.
        ZipOutputStream zip = new ZipOutputStream(out);
        add(zip, ".list.txt", list.read());
        add(zip, ".certificate.txt", new ByteArrayInputStream(certificate));
        if (proof != null) {
            add(zip, ".proof.txt", new ByteArrayInputStream(proof.getBytes(StandardCharsets.UTF_8)));
        }
        zip.finish();
    }

    private void add(ZipOutputStream zip, String kind, InputStream content) throws IOException {
        ZipEntry entry = new ZipEntry(name + kind);
        entry.setLastModifiedTime(FileTime.from(at));
        zip.putNextEntry(entry);
        content.transferTo(zip);
        zip.closeEntry();
    }

    @Override
    public void close() {
        list.close();
    }
}
