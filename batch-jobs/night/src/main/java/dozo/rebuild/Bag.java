package dozo.rebuild;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.Spool;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.NameForm;
import dozo.send.NameForm.Line;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import dozo.transfer.TagFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the tag files of a bag say. Their digests are those in the bag's tag manifest.
 *
 * @param manifest the number of the manifest that the bag shows
 * @param day the day on which that manifest was sealed, as written
 * @param coded whether its names are codes
 * @param tagFiles the digests of all tag files
 */
record Bag(FilePath folder, int manifest, String day, boolean coded, Map<FilePath, Digest> tagFiles) {

    /** Longer than any tag file but the lists. */
    private static final int TEXT_BYTES_MAX = 64 << 10;

    private static final List<FilePath> NEEDED =
            List.of(TagFiles.DECLARATION, TagFiles.INFO, TagFiles.MANIFEST, TagFiles.TAG_MANIFEST);

    private static final Pattern FIELD = Pattern.compile("([A-Za-z-]+): (.*)");
    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,8}");
    private static final Pattern DAY = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");

    /**
     * Reads the tag files of an experiment's bag, except for its lists, which are only verified.
     *
     * @throws BrokenBag if one is missing or differs from the tag manifest, or Dozo did not write them for this experiment
     */
    static Bag read(SiteReader reader, String experiment) throws BrokenBag, IOException, InterruptedException {
        FilePath folder = SiteFolders.of(experiment).bag();
        Map<FilePath, RemoteFacts> there = new HashMap<>();
        reader.names(folder).forEach((path, facts) -> there.put(FilePath.ROOT.resolve(path.name()), facts));
        for (FilePath name : NEEDED) {
            RemoteFacts facts = there.get(name);
            if (facts == null || facts.kind() != Kind.FILE) {
                throw new BrokenBag("not a complete bag: %s is missing".formatted(name));
            }
        }
        byte[] tagManifest = text(reader, folder, TagFiles.TAG_MANIFEST, there);
        Map<FilePath, Digest> tagFiles = tagFiles(tagManifest);
        for (FilePath name : TagFiles.names()) {
            boolean listed = tagFiles.containsKey(name) || name.equals(TagFiles.TAG_MANIFEST);
            if (listed != there.containsKey(name)) {
                throw new BrokenBag(
                        listed
                                ? "not a complete bag: %s is missing".formatted(name)
                                : "%s is not in the tag manifest".formatted(name));
            }
        }
        verify(reader, folder, tagFiles, there);
        tagFiles.put(TagFiles.TAG_MANIFEST, Digest.ofContent(tagManifest));
        return described(folder, tagFiles, fields(text(reader, folder, TagFiles.INFO, there)), experiment);
    }

    private static Bag described(
            FilePath folder, Map<FilePath, Digest> tagFiles, Map<String, String> fields, String experiment)
            throws BrokenBag {
        String name = fields.getOrDefault("External-Identifier", "");
        if (!name.equals(experiment)) {
            throw new BrokenBag("the bag is that of experiment \"%s\"".formatted(name));
        }
        String number = fields.getOrDefault("Dozo-Manifest", "");
        String day = fields.getOrDefault("Bagging-Date", "");
        if (!NUMBER.matcher(number).matches() || !DAY.matcher(day).matches()) {
            throw new BrokenBag("%s has no manifest number or no date".formatted(TagFiles.INFO));
        }
        boolean coded = TagFiles.CODES.equals(fields.get(TagFiles.NAMES));
        return new Bag(folder, Integer.parseInt(number), day, coded, tagFiles);
    }

    private static Map<FilePath, Digest> tagFiles(byte[] tagManifest) throws BrokenBag {
        Map<FilePath, Digest> tagFiles = new LinkedHashMap<>();
        for (String text :
                new String(tagManifest, StandardCharsets.ISO_8859_1).lines().toList()) {
            try {
                Line line = NameForm.BAG.readLine(text.getBytes(StandardCharsets.ISO_8859_1));
                FilePath name = FilePath.of(line.name());
                if (!TagFiles.names().contains(name) || name.equals(TagFiles.TAG_MANIFEST)) {
                    throw new BrokenBag("the tag manifest lists %s, which Dozo does not write".formatted(name));
                }
                tagFiles.put(name, line.digest());
            } catch (IllegalArgumentException e) {
                throw new BrokenBag("the tag manifest has a line that is not Dozo's: " + e.getMessage());
            }
        }
        return tagFiles;
    }

    private static void verify(
            SiteReader reader, FilePath folder, Map<FilePath, Digest> tagFiles, Map<FilePath, RemoteFacts> there)
            throws BrokenBag, IOException, InterruptedException {
        List<SiteCopy> copies = new ArrayList<>();
        tagFiles.forEach((name, digest) -> copies.add(new SiteCopy(
                0,
                EntryKind.FILE,
                name,
                folder.resolve(name),
                digest,
                requireNonNull(there.get(name)).sizeBytes(),
                true)));
        for (Seen seen : reader.read(copies)) {
            switch (seen) {
                case Seen.AsProven(var copy) -> {}
                case Seen.Damaged(var copy, var kind, var digest, String message) ->
                    throw new BrokenBag("%s differs from the tag manifest: it %s".formatted(copy.name(), message));
                case Seen.Unknown(var copy, String message) ->
                    throw new BrokenBag("%s: %s".formatted(copy.name(), message));
            }
        }
    }

    private static byte[] text(SiteReader reader, FilePath folder, FilePath name, Map<FilePath, RemoteFacts> there)
            throws BrokenBag, IOException, InterruptedException {
        if (requireNonNull(there.get(name)).sizeBytes() > TEXT_BYTES_MAX) {
            throw new BrokenBag("%s has more than %d bytes".formatted(name, TEXT_BYTES_MAX));
        }
        try (Spool content = content(reader, folder.resolve(name), TEXT_BYTES_MAX);
                InputStream in = content.read()) {
            return in.readAllBytes();
        }
    }

    private static Spool content(SiteReader reader, FilePath file, long bytesMax)
            throws BrokenBag, IOException, InterruptedException {
        try {
            return reader.content(file, bytesMax);
        } catch (RemoteException e) {
            if (e.reason() == Reason.REFUSED || e.reason() == Reason.PROTOCOL) {
                throw new BrokenBag(String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private static Map<String, String> fields(byte[] info) {
        Map<String, String> fields = new HashMap<>();
        new String(info, StandardCharsets.UTF_8).lines().forEach(line -> {
            Matcher field = FIELD.matcher(line);
            if (field.matches()) {
                fields.put(field.group(1), field.group(2));
            }
        });
        return fields;
    }

    /** Returns the bag's list of what content said, or an empty one; the caller closes it. */
    BagContent content(SiteReader reader) throws BrokenBag, IOException, InterruptedException {
        Digest expected = tagFiles.get(TagFiles.CONTENT);
        if (expected == null) {
            return new BagContent(new Spool());
        }
        Spool content = content(reader, folder.resolve(TagFiles.CONTENT), Long.MAX_VALUE);
        try (DigestInputStream in = new DigestInputStream(content.read(), Digest.algorithm())) {
            in.transferTo(OutputStream.nullOutputStream());
            Digest found = Digest.of(in.getMessageDigest().digest());
            if (!found.equals(expected)) {
                throw new BrokenBag(
                        "%s was read with digest %s instead of %s".formatted(TagFiles.CONTENT, found, expected));
            }
            return new BagContent(content);
        } catch (BrokenBag | IOException | RuntimeException e) {
            content.close();
            throw e;
        }
    }

    /** Returns the bag's list of its files; the caller closes it. */
    BagList list(SiteReader reader) throws BrokenBag, IOException, InterruptedException {
        FilePath name = tagFiles.containsKey(TagFiles.SUMS) ? TagFiles.SUMS : TagFiles.MANIFEST;
        NameForm form = name.equals(TagFiles.SUMS) ? NameForm.SHA256SUM : NameForm.BAG;
        Spool content = content(reader, folder.resolve(name), Long.MAX_VALUE);
        try {
            return BagList.of(content, form, requireNonNull(tagFiles.get(name)));
        } catch (Malformed e) {
            content.close();
            throw new BrokenBag("%s: %s".formatted(name, e.getMessage()));
        } catch (IOException | RuntimeException e) {
            content.close();
            throw e;
        }
    }
}
