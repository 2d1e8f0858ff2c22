package dozo.transfer;

import dozo.file.Digest;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Manifests.NumberedFile;
import dozo.send.NameForm;
import dozo.verify.Receipts;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * Lists the files of a manifest as {@code sha256sum} does, in the order of their numbers. Whoever has a copy of the
 * source can check it with {@code sha256sum -c}, without Dozo. Names are raw bytes, below the source. A file that was
 * never proven at the site has no digest and is not in the list (ADR 0031).
 */
@Component
public class Sha256Sums {

    /** Files per query; no database resources are held between two pages. */
    private static final int PAGE = 5_000;

    private final Manifests manifests;
    private final Receipts receipts;

    public Sha256Sums(Manifests manifests, Receipts receipts) {
        this.manifests = manifests;
        this.receipts = receipts;
    }

    /** Returns how many files of a manifest the list lacks, because they were never proven at the site. */
    public long missing(Manifest manifest, int siteId) {
        return receipts.filesWithout(manifest.experimentId(), siteId, manifest.number());
    }

    /**
     * Writes the list.
     *
     * @param partial omits files without a receipt; otherwise there must be none
     * @throws IllegalStateException if there is one nevertheless; what was written is then incomplete
     * @throws IOException if {@code out} fails
     */
    public void write(OutputStream out, Manifest manifest, int siteId, boolean partial) throws IOException {
        int after = 0;
        List<NumberedFile> page;
        do {
            page = manifests.files(manifest.experimentId(), manifest.number(), after, PAGE);
            int[] numbers = page.stream().mapToInt(NumberedFile::number).toArray();
            Map<Integer, Digest> digests = receipts.digests(manifest.experimentId(), siteId, numbers);
            for (NumberedFile file : page) {
                Digest digest = digests.get(file.number());
                if (digest != null) {
                    NameForm.writeSum(out, digest, file.path());
                } else if (!partial) {
                    throw new IllegalStateException("entry %d of experiment %d has no receipt of site %d"
                            .formatted(file.number(), manifest.experimentId(), siteId));
                }
                after = file.number();
            }
        } while (page.size() == PAGE);
    }
}
