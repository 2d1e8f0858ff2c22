package dozo.transfer;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.SiteNames;
import dozo.file.Size;
import dozo.file.Spool;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.remote.Sftp.Part;
import dozo.send.NameForm;
import dozo.send.Route;
import dozo.send.Sender.Placing;
import dozo.verify.BagFiles;
import dozo.verify.BagFiles.ProvenFile;
import dozo.verify.Contents;
import dozo.verify.LinkedFiles;
import dozo.verify.Receipts;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/**
 * Creates the tag files that make an experiment's folder at a site a BagIt 1.0 bag (RFC 8493). With them anybody can
 * check the copy without Dozo, by a bag validator or {@code sha256sum -c}. They list every proven file in {@code data},
 * including those the source has deleted since. The links that lead to one of these files follow, because readers of
 * the bag read through them and count them as files.
 *
 * <p>One list serves both, unless a name must be written in two ways ({@link NameForm}): then there is a second list.
 * Names are raw bytes. If one of them is not UTF-8, the bag declares a character set in which every byte is a
 * character. See ADR 0025. What the content of files said of whether they are whole is in a list of its own.
 */
@Component
public class TagFiles {

    static final FilePath DATA = FilePath.of("data");
    /** The names of a bag's tag files. */
    public static final FilePath DECLARATION = FilePath.of("bagit.txt");

    public static final FilePath INFO = FilePath.of("bag-info.txt");
    public static final FilePath MANIFEST = FilePath.of("manifest-sha256.txt");
    public static final FilePath SUMS = FilePath.of("sha256sums.txt");
    /** Which files are whole, suspect or broken; missing if nothing is known of any. */
    public static final FilePath CONTENT = FilePath.of("content.csv");
    /** The field of a bag's description that says what the names below {@code data} are, and its value if they are codes. */
    public static final String NAMES = "Dozo-Names";

    public static final String CODES = "codes";

    public static final FilePath TAG_MANIFEST = FilePath.of("tagmanifest-sha256.txt");

    /**
     * NB: not ISO-8859-1, where the validator takes the byte 0x85 as a line end; it is common in Shift-JIS and UTF-8.
     */
    private static final String ANY_BYTES = "IBM437";

    private static final Pattern MANIFEST_NUMBER =
            Pattern.compile("^Dozo-Manifest: ([1-9][0-9]{0,8})$", Pattern.MULTILINE);

    private static final int BUFFER_BYTES = 64 << 10;

    private final BagFiles bagFiles;
    private final LinkedFiles linkedFiles;
    private final Contents contents;

    public TagFiles(BagFiles bagFiles, LinkedFiles linkedFiles, Contents contents) {
        this.bagFiles = bagFiles;
        this.linkedFiles = linkedFiles;
        this.contents = contents;
    }

    /**
     * The tag files of a bag, ready to be written in this order. The caller must close it.
     *
     * @param files the files of the bag as its readers count them, with the listed links; {@code bytes} likewise
     */
    public record Bag(long files, long bytes, Map<FilePath, TagFile> tagFiles) implements AutoCloseable {

        public Digest manifestDigest() {
            return requireNonNull(tagFiles.get(MANIFEST)).digest;
        }

        /** Returns the digest of each, by its name in the bag. */
        public Map<FilePath, Digest> digests() {
            Map<FilePath, Digest> digests = new LinkedHashMap<>();
            tagFiles.forEach((name, file) -> digests.put(name, file.digest));
            return digests;
        }

        /** Returns those that differ from the ones written last. */
        public List<Placing> changed(Route route, Map<FilePath, Digest> before) {
            List<Placing> changed = new ArrayList<>();
            tagFiles.forEach((name, file) -> {
                Digest last = before.get(name);
                if (last == null || !file.digest.equals(last)) {
                    changed.add(new Placing(route, name, file.content::read, last == null ? List.of() : file.standing));
                }
            });
            return changed;
        }

        /** Returns those that were written last and that the bag no longer has. */
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

    /**
     * A tag file's content, and its digest.
     *
     * @param standing the parts that it shares with the one written last, if that was made from the receipts up to the
     * settled unit
     */
    public record TagFile(Spool content, Digest digest, List<Part> standing) {}

    /** A list of the bag's files while it is written, with its sums. */
    private static final class Listed {

        /** With more parts, most of the list is new. */
        private static final int PARTS_MAX = 10_000;

        private final OutputStream out;
        private final NameForm form;
        private final SiteNames names;
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();
        private final List<Part> standing = new ArrayList<>();
        private long at;
        private long before;
        private long files;
        private long bytes;
        private boolean formsDiffer;
        private boolean utf8 = true;

        private Listed(OutputStream out, NameForm form, SiteNames names) {
            this.out = out;
            this.form = form;
            this.names = names;
        }

        private void add(ProvenFile file, boolean stands, boolean stood) throws IOException {
            FilePath name = names.of(file.path());
            line.reset();
            form.writeLine(line, file.digest().toString(), DATA.resolve(name).bytes());
            if (stands) {
                line.writeTo(out);
                files++;
                bytes += file.sizeBytes();
                formsDiffer |= NameForm.differ(name.bytes());
                utf8 = utf8 && name.isUtf8();
            }
            if (stands && stood) {
                addPart(line.size());
            }
            at += stands ? line.size() : 0;
            before += stood ? line.size() : 0;
        }

        private void addPart(int length) {
            Part last = standing.isEmpty() ? new Part(0, 0, 0) : standing.getLast();
            if (last.at() + last.length() == at && last.from() + last.length() == before) {
                if (!standing.isEmpty()) {
                    standing.removeLast();
                }
                standing.add(new Part(last.at(), last.from(), last.length() + length));
            } else if (standing.size() <= PARTS_MAX) {
                standing.add(new Part(at, before, length));
            }
        }

        private List<Part> standing() {
            return standing.size() > PARTS_MAX ? List.of() : standing;
        }
    }

    private interface Text {
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * Creates the tag files of an experiment from its receipts. Must be called inside a transaction, after
     * {@link Receipts#lock}, so that all receipts are of one moment.
     *
     * @param settledUnit the last unit whose receipt is in the tag files written last
     */
    public Bag make(Experiment experiment, int siteId, Manifest manifest, long settledUnit) {
        boolean linked = linkedFiles.find(experiment.id(), siteId);
        Map<FilePath, TagFile> files = new LinkedHashMap<>();
        Listed listed = addManifestAndContent(files, experiment, siteId, settledUnit, linked);
        if (listed.formsDiffer) {
            addList(files, SUMS, NameForm.SHA256SUM, experiment, siteId, settledUnit, linked, (_, _) -> {});
        }
        files.put(DECLARATION, file(declaration(listed)));
        files.put(INFO, file(info(experiment, manifest, listed)));
        StringBuilder tags = new StringBuilder();
        files.forEach((name, file) ->
                tags.append(file.digest).append("  ").append(name).append('\n'));
        files.put(TAG_MANIFEST, file(tags.toString()));
        return new Bag(listed.files, listed.bytes, files);
    }

    /** Returns the names of all tag files that a bag may ever have. */
    public static Set<FilePath> names() {
        return Set.of(MANIFEST, SUMS, CONTENT, DECLARATION, INFO, TAG_MANIFEST);
    }

    /** Returns the number of the manifest that this content of {@link #INFO} names; 0: it names none. */
    public static int manifest(byte[] info) {
        Matcher number = MANIFEST_NUMBER.matcher(new String(info, StandardCharsets.ISO_8859_1));
        return number.find() ? Integer.parseInt(number.group(1)) : 0;
    }

    private static TagFile file(String text) {
        return file(out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static TagFile file(Text text) {
        Spool content = new Spool();
        try {
            DigestOutputStream out = new DigestOutputStream(content, Digest.algorithm());
            text.writeTo(out);
            return new TagFile(content, Digest.of(out.getMessageDigest().digest()), List.of());
        } catch (IOException e) {
            content.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException | Error e) {
            content.close();
            throw e;
        }
    }

    /** Writes both in one pass over the files: there may be millions. */
    private Listed addManifestAndContent(
            Map<FilePath, TagFile> files, Experiment experiment, int siteId, long settledUnit, boolean linked) {
        Listed[] listed = new Listed[1];
        TagFile content = file(out -> {
            try (ContentList judged = new ContentList(out, contents.judged(experiment.id()), experiment.names())) {
                listed[0] =
                        addList(files, MANIFEST, NameForm.BAG, experiment, siteId, settledUnit, linked, judged::add);
            }
        });
        if (content.content.length() > 0) {
            files.put(CONTENT, content);
        } else {
            content.content.close();
        }
        return listed[0];
    }

    private interface StandingFile {
        void file(int entryNumber, FilePath path) throws IOException;
    }

    private Listed addList(
            Map<FilePath, TagFile> files,
            FilePath name,
            NameForm form,
            Experiment experiment,
            int siteId,
            long settledUnit,
            boolean linked,
            StandingFile also) {
        Listed[] written = new Listed[1];
        TagFile file = file(out -> {
            BufferedOutputStream buffered = new BufferedOutputStream(out, BUFFER_BYTES);
            Listed listed = new Listed(buffered, form, experiment.names());
            bagFiles.each(experiment.id(), siteId, settledUnit, (entryNumber, each, stands, stood) -> {
                listed.add(each, stands, stood);
                if (stands) {
                    also.file(entryNumber, each.path());
                }
            });
            if (linked) {
                addLinks(listed);
            }
            buffered.flush();
            written[0] = listed;
        });
        files.put(name, new TagFile(file.content, file.digest, written[0].standing()));
        return written[0];
    }

    private void addLinks(Listed listed) throws IOException {
        try (Stream<ProvenFile> links = linkedFiles.found()) {
            for (Iterator<ProvenFile> all = links.iterator(); all.hasNext(); ) {
                listed.add(all.next(), true, false);
            }
        }
    }

    private static String declaration(Listed listed) {
        return "BagIt-Version: 1.0\nTag-File-Character-Encoding: %s\n".formatted(listed.utf8 ? "UTF-8" : ANY_BYTES);
    }

    /**
     * NB: contains nothing that changes while the described content does not, so that it is not rewritten needlessly.
     */
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
                %s""".formatted(
                        manifest.sealedAt().atZone(ZoneOffset.UTC).toLocalDate(),
                        experiment.name(),
                        experiment.project(),
                        Size.text(listed.bytes),
                        listed.bytes,
                        listed.files,
                        manifest.number(),
                        listed.formsDiffer ? SUMS : MANIFEST,
                        experiment.names().areCodes() ? NAMES + ": " + CODES + "\n" : "");
    }
}
