package dozo.transfer;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Size;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.send.NameForm;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.verify.LinkedFiles;
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
 * The tag files that make an experiment's folder at a site a BagIt 1.0 bag (RFC 8493): with them anybody can check what
 * lies there without us, with a bag validator or with {@code sha256sum -c}. They list every file that was proven and stands in
 * {@code data}, also those the source has deleted since, and after them the links that lead to one of these: whoever reads the bag
 * reads through them, and counts them as files.
 *
 * <p>One list is read by both, unless a name must be written in two ways ({@link NameForm}): then a second one stands beside it.
 * Names are the bytes they are; where one of them is no UTF-8, the bag declares a character set in which every byte is a
 * character. See ADR 0025.
 */
@Component
public class TagFiles {

    private static final FilePath DATA = FilePath.of("data");
    private static final FilePath DECLARATION = FilePath.of("bagit.txt");
    private static final FilePath INFO = FilePath.of("bag-info.txt");
    private static final FilePath MANIFEST = FilePath.of("manifest-sha256.txt");
    private static final FilePath SUMS = FilePath.of("sha256sums.txt");
    private static final FilePath TAG_MANIFEST = FilePath.of("tagmanifest-sha256.txt");

    /** NB: not ISO-8859-1, where the byte 0x85 is a line's end to the validator; Shift-JIS and UTF-8 are full of it. */
    private static final String ANY_BYTES = "IBM437";

    private static final int BUFFER_BYTES = 64 << 10;

    private final Receipts receipts;
    private final LinkedFiles linkedFiles;

    public TagFiles(Receipts receipts, LinkedFiles linkedFiles) {
        this.receipts = receipts;
        this.linkedFiles = linkedFiles;
    }

    /**
     * What a written bag holds, as its readers count it: with the links that are listed. {@code manifestDigest} is that of {@code manifest-sha256.txt}.
     *
     * @param tagFiles the digests of all its tag files, by their names in the bag
     */
    public record Bag(long files, long bytes, Digest manifestDigest, Map<FilePath, Digest> tagFiles) {}

    /** What a list of the bag's files came to. */
    private static final class Listed {
        private long files;
        private long bytes;
        private boolean formsDiffer;
        private boolean utf8 = true;

        private void add(ProvenFile file) {
            files++;
            bytes += file.sizeBytes();
            formsDiffer |= NameForm.differ(file.path().bytes());
            utf8 = utf8 && file.path().isUtf8();
        }
    }

    /**
     * Writes the tag files of an experiment from its receipts; those that stand there with the same content are left alone.
     * Call inside a transaction: the files are streamed from the database.
     */
    public Bag write(Sender sender, Route route, Experiment experiment, int siteId, Manifest manifest)
            throws IOException, InterruptedException {
        boolean linked = linkedFiles.find(experiment.id(), siteId);
        Map<FilePath, Digest> digests = new LinkedHashMap<>();
        Listed[] written = new Listed[1];
        Digest manifestDigest = sender.place(
                route, MANIFEST, out -> written[0] = writeList(out, NameForm.BAG, experiment.id(), siteId, linked));
        Listed listed = written[0];
        digests.put(MANIFEST, manifestDigest);
        if (listed.formsDiffer) {
            digests.put(
                    SUMS,
                    sender.place(
                            route, SUMS, out -> writeList(out, NameForm.SHA256SUM, experiment.id(), siteId, linked)));
        } else {
            sender.putAside(route, SUMS);
        }
        digests.put(DECLARATION, placeText(sender, route, DECLARATION, declaration(listed)));
        digests.put(INFO, placeText(sender, route, INFO, info(experiment, manifest, listed)));
        StringBuilder tags = new StringBuilder();
        digests.forEach(
                (name, digest) -> tags.append(digest).append("  ").append(name).append('\n'));
        digests.put(TAG_MANIFEST, placeText(sender, route, TAG_MANIFEST, tags.toString()));
        return new Bag(listed.files, listed.bytes, manifestDigest, digests);
    }

    private Listed writeList(OutputStream out, NameForm form, int experimentId, int siteId, boolean linked)
            throws IOException {
        Listed listed = new Listed();
        OutputStream buffered = new BufferedOutputStream(out, BUFFER_BYTES);
        try (Stream<ProvenFile> files = receipts.standing(experimentId, siteId)) {
            writeLines(buffered, form, files, listed);
        }
        if (linked) {
            try (Stream<ProvenFile> links = linkedFiles.found()) {
                writeLines(buffered, form, links, listed);
            }
        }
        buffered.flush();
        return listed;
    }

    private static void writeLines(OutputStream out, NameForm form, Stream<ProvenFile> files, Listed listed)
            throws IOException {
        for (Iterator<ProvenFile> all = files.iterator(); all.hasNext(); ) {
            ProvenFile file = all.next();
            form.writeLine(
                    out, file.digest().toString(), DATA.resolve(file.path()).bytes());
            listed.add(file);
        }
    }

    private static String declaration(Listed listed) {
        return "BagIt-Version: 1.0\nTag-File-Character-Encoding: %s\n".formatted(listed.utf8 ? "UTF-8" : ANY_BYTES);
    }

    /** NB: says nothing that changes while what it describes does not, so that it is not written anew for nothing. */
    private static String info(Experiment experiment, Manifest manifest, Listed listed) {
        return """
                Bagging-Date: %s
                Bag-Software-Agent: Dozo
                External-Identifier: %s
                Bag-Group-Identifier: %s
                Bag-Size: %s
                Payload-Oxum: %d.%d
                Dozo-Manifest: %d
                Dozo-Check: sha256sum -c --quiet %s
                """.formatted(
                        manifest.sealedAt().atZone(ZoneOffset.UTC).toLocalDate(),
                        experiment.name(),
                        experiment.project(),
                        Size.text(listed.bytes),
                        listed.bytes,
                        listed.files,
                        manifest.number(),
                        listed.formsDiffer ? SUMS : MANIFEST);
    }

    private static Digest placeText(Sender sender, Route route, FilePath name, String text)
            throws IOException, InterruptedException {
        return sender.place(route, name, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }
}
