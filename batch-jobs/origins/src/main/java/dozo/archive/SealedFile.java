package dozo.archive;

import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** A file with the metadata of a tree, which was collected with it. */
final class SealedFile {

    private static final int BYTES_MAX = 64 << 20;

    private SealedFile() {}

    /**
     * Reads it from a site and proves its bytes.
     *
     * @param otherwise what cannot be known without it, and what to do then
     * @throws IOException if the manifest has none, or it cannot be read
     */
    static byte[] read(ManifestPart part, ProvenRead site, FilePath place, String otherwise)
            throws IOException, InterruptedException {
        Item item = part.find(place)
                .orElseThrow(() -> new IOException("the manifest has no %s, so %s".formatted(place, otherwise)));
        StoredCopy copy = item.copy();
        if (copy == null) {
            throw new IOException(place + " was never verified at the site; restore an earlier manifest");
        }
        if (item.entry().facts().sizeBytes() > BYTES_MAX) {
            throw new IOException("%s is larger than %d bytes".formatted(place, BYTES_MAX));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            site.into(bytes, copy.place(), copy.digest());
        } catch (ProvenRead.Differs e) {
            throw new IOException(
                    "the copy of %s is not what was verified; check the site's disks".formatted(place), e);
        }
        return bytes.toByteArray();
    }
}
