package dozo.transfer;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Size;
import dozo.file.Spool;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.send.NameForm;
import dozo.send.Route;
import dozo.send.Sender.Placing;
import dozo.verify.LinkedFiles;
import dozo.verify.Receipts;
import dozo.verify.Receipts.ProvenFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.time.ZoneOffset;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
     * The tag files of a bag, in the order in which they are to get their names, ready to be written. To be closed.
     *
     * @param files what the bag holds, as its readers count it, with the links that are listed; {@code bytes} so too
     */
    public record Bag(long files, long bytes, Map<FilePath, TagFile> tagFiles) implements AutoCloseable {

        public Digest manifestDigest() {
            return requireNonNull(tagFiles.get(MANIFEST)).digest;
        }

        /** The digest of each, by its name in the bag. */
        public Map<FilePath, Digest> digests() {
            Map<FilePath, Digest> digests = new LinkedHashMap<>();
            tagFiles.forEach((name, file) -> digests.put(name, file.digest));
            return digests;
        }

        /** Those that are not as they were written last. */
        public List<Placing> changed(Route route, Map<FilePath, Digest> before) {
            return tagFiles.entrySet().stream()
                    .filter(file -> !Objects.equals(file.getValue().digest, before.get(file.getKey())))
                    .map(file -> new Placing(
                            route,
                            file.getKey(),
                            out -> file.getValue().content.read().transferTo(out)))
                    .toList();
        }

        /** Those that were written last and that the bag is to have no more. */
        public List<FilePath> gone(Map<FilePath, Digest> before) {
            return before.keySet().stream()
                    .filter(name -> !tagFiles.containsKey(name))
                    .toList();
        }

        @Override
        public void close() {
            tagFiles.values().forEach(file -> file.content.close());
        }
    }

    /** A tag file's content, and its digest. */
    public record TagFile(Spool content, Digest digest) {}

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

    private interface Text {
        void writeTo(OutputStream out) throws IOException;
    }

    /** Makes the tag files of an experiment from its receipts. Call inside a transaction, in which they are all of one moment. */
    public Bag make(Experiment experiment, int siteId, Manifest manifest) {
        boolean linked = linkedFiles.find(experiment.id(), siteId);
        Map<FilePath, TagFile> files = new LinkedHashMap<>();
        Listed[] written = new Listed[1];
        files.put(MANIFEST, file(out -> written[0] = writeList(out, NameForm.BAG, experiment.id(), siteId, linked)));
        Listed listed = written[0];
        if (listed.formsDiffer) {
            files.put(SUMS, file(out -> writeList(out, NameForm.SHA256SUM, experiment.id(), siteId, linked)));
        }
        files.put(DECLARATION, file(declaration(listed)));
        files.put(INFO, file(info(experiment, manifest, listed)));
        StringBuilder tags = new StringBuilder();
        files.forEach((name, file) ->
                tags.append(file.digest).append("  ").append(name).append('\n'));
        files.put(TAG_MANIFEST, file(tags.toString()));
        return new Bag(listed.files, listed.bytes, files);
    }

    /** All tag files that a bag may ever have. */
    public static Set<FilePath> names() {
        return Set.of(MANIFEST, SUMS, DECLARATION, INFO, TAG_MANIFEST);
    }

    private static TagFile file(String text) {
        return file(out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static TagFile file(Text text) {
        Spool content = new Spool();
        try {
            DigestOutputStream out = new DigestOutputStream(content, Digest.algorithm());
            text.writeTo(out);
            return new TagFile(content, Digest.of(out.getMessageDigest().digest()));
        } catch (IOException e) {
            content.close();
            throw new UncheckedIOException(e);
        }
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
}
