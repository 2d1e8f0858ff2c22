package dozo.transfer;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.verify.Receipts;
import dozo.verify.Receipts.ProvenFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/**
 * The tag files that make an experiment's folder at a site a BagIt 1.0 bag (RFC 8493): with them and {@code sha256sum -c}
 * anybody can check what lies there without us. They list every file that was proven and stands in {@code data}, also
 * those the source has deleted since.
 *
 * <p>Names are written as the bytes they are. A name with a newline, carriage return or backslash is written as
 * {@code sha256sum} escapes it, with a backslash at the beginning of the line; RFC 8493 would have it percent-encoded.
 */
@Component
public class TagFiles {

    private static final FilePath DECLARATION = FilePath.of("bagit.txt");
    private static final FilePath INFO = FilePath.of("bag-info.txt");
    private static final FilePath MANIFEST = FilePath.of("manifest-sha256.txt");
    private static final FilePath TAG_MANIFEST = FilePath.of("tagmanifest-sha256.txt");
    private static final int BUFFER_BYTES = 64 << 10;

    private final Receipts receipts;

    public TagFiles(Receipts receipts) {
        this.receipts = receipts;
    }

    /**
     * What a written bag holds. {@code manifestDigest} is that of {@code manifest-sha256.txt}.
     *
     * @param tagFiles the digests of all its tag files, by their names in the bag
     */
    public record Bag(long files, long bytes, Digest manifestDigest, Map<FilePath, Digest> tagFiles) {}

    /**
     * Writes the tag files of an experiment from its receipts; those that stand there with the same content are left alone.
     * Call inside a transaction: the files are streamed from the database.
     */
    public Bag write(Sender sender, Route route, Experiment experiment, int siteId, Manifest manifest)
            throws IOException, InterruptedException {
        Map<FilePath, Digest> digests = new LinkedHashMap<>();
        long[] totals = new long[2];
        Digest manifestDigest =
                sender.place(route, MANIFEST, out -> writeManifest(out, experiment.id(), siteId, totals));
        digests.put(MANIFEST, manifestDigest);
        digests.put(
                DECLARATION,
                placeText(sender, route, DECLARATION, "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"));
        digests.put(INFO, placeText(sender, route, INFO, """
                        Bagging-Date: %s
                        External-Identifier: %s
                        Payload-Oxum: %d.%d
                        Dozo-Manifest: %d
                        """.formatted(
                        manifest.sealedAt().atZone(ZoneOffset.UTC).toLocalDate(),
                        experiment.name(),
                        totals[1],
                        totals[0],
                        manifest.number())));
        StringBuilder tags = new StringBuilder();
        digests.forEach(
                (name, digest) -> tags.append(digest).append("  ").append(name).append('\n'));
        digests.put(TAG_MANIFEST, placeText(sender, route, TAG_MANIFEST, tags.toString()));
        return new Bag(totals[0], totals[1], manifestDigest, digests);
    }

    private void writeManifest(OutputStream out, int experimentId, int siteId, long[] totals) throws IOException {
        totals[0] = 0;
        totals[1] = 0;
        OutputStream buffered = new BufferedOutputStream(out, BUFFER_BYTES);
        try (Stream<ProvenFile> files = receipts.standing(experimentId, siteId)) {
            for (Iterator<ProvenFile> all = files.iterator(); all.hasNext(); ) {
                ProvenFile file = all.next();
                writeLine(buffered, file);
                totals[0]++;
                totals[1] += file.sizeBytes();
            }
        }
        buffered.flush();
    }

    private static void writeLine(OutputStream out, ProvenFile file) throws IOException {
        byte[] name = FilePath.of("data").resolve(file.path()).bytes();
        boolean escaped = false;
        for (byte b : name) {
            escaped |= b == '\n' || b == '\r' || b == '\\';
        }
        if (escaped) {
            out.write('\\');
        }
        out.write(file.digest().toString().getBytes(StandardCharsets.US_ASCII));
        out.write(' ');
        out.write(' ');
        for (byte b : name) {
            switch (b) {
                case '\n' -> out.write(new byte[] {'\\', 'n'});
                case '\r' -> out.write(new byte[] {'\\', 'r'});
                case '\\' -> out.write(new byte[] {'\\', '\\'});
                default -> out.write(b);
            }
        }
        out.write('\n');
    }

    private static Digest placeText(Sender sender, Route route, FilePath name, String text)
            throws IOException, InterruptedException {
        return sender.place(route, name, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }
}
