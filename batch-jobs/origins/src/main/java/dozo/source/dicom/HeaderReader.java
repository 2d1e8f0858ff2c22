package dozo.source.dicom;

import dozo.file.Digest;
import dozo.file.Facts;
import dozo.source.OpenFile;
import dozo.source.dicom.Damaged.Damage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Reads the headers of DICOM files: Part 10 files and bare data sets, in every standard encoding. It stops at the last
 * tag that Dozo wants, so it never reads the pixels.
 *
 * <p>The result is a {@link Parsed} for any content; only errors of the file system are exceptions. Memory is bounded:
 * three buffers of 16 KiB and the values found, each at most {@link #VALUE_BYTES_MAX}. Each thread needs its own
 * reader, which can read any number of files.
 */
public final class HeaderReader {

    /** The longest value that is kept. */
    public static final int VALUE_BYTES_MAX = Input.AHEAD_BYTES_MAX;

    /** The deepest nesting of sequences. */
    public static final int DEPTH_MAX = 32;

    /** The most elements before the last wanted one, including those in sequences. */
    public static final int ELEMENTS_MAX = 1_000_000;

    /** The most bytes inflated from a deflated data set. */
    public static final long INFLATED_BYTES_MAX = 64L << 20;

    private static final int PREAMBLE_BYTES = 128;
    private static final int COPY_BYTES = 1 << 17;
    private static final int DICM = 0x4449_434D;
    private static final int GROUP_META = 0x0002;
    private static final int GROUP_IDENTIFYING = 0x0008;
    private static final long FIRST_VALUE_BYTES_MAX = 1024;

    private static final List<Tag> IDENTITIES =
            List.of(Tag.SOP_CLASS_UID, Tag.SOP_INSTANCE_UID, Tag.STUDY_INSTANCE_UID, Tag.SERIES_INSTANCE_UID);

    private final byte[] buffer = new byte[Input.AHEAD_BYTES_MAX];
    private final byte[] inflatedBuffer = new byte[Input.AHEAD_BYTES_MAX];
    private CharacterSet lastCharacterSet = CharacterSet.of(List.of());

    /** Reads a file of a source. */
    public Parsed read(OpenFile file) throws IOException {
        Facts facts = file.factsWhenOpened();
        return read(Input.ofFile(file::read, facts.sizeBytes(), buffer));
    }

    /** Reads one of Dozo's own files; links are followed. */
    public Parsed read(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return read(Input.ofFile(place(channel), channel.size(), buffer));
        }
    }

    private static Input.Reader place(FileChannel channel) {
        return (into, offset) -> {
            int n = 0;
            for (long at = offset; into.hasRemaining() && n >= 0; at += n) {
                n = channel.read(into, at);
            }
        };
    }

    /** Reads a stream, at most one buffer beyond the last wanted tag. Does not close it. */
    public Parsed read(InputStream stream) throws IOException {
        return read(Input.ofStream(stream, buffer));
    }

    /**
     * Returns the digest of a file's pixels as stored, and of everything after them. It is equal for two files that
     * differ only in their headers. Empty for files without pixels, damaged before them, or deflated. The file is
     * Dozo's own; links are followed.
     */
    public Optional<Digest> pixels(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            Input input = Input.ofFile(place(channel), channel.size(), buffer);
            return reachesPixels(input) ? Optional.of(digest(channel, input.offset())) : Optional.empty();
        }
    }

    /**
     * Returns the attributes of a Part 10 file, which is read to its end; empty if it is none, or damaged. Does not close
     * the stream.
     */
    public Optional<DataSet> dataSet(InputStream stream) throws IOException {
        Input input = Input.ofStream(stream, buffer);
        Elements elements = new Elements(input);
        try {
            if (!isPart10(input)) {
                return Optional.empty();
            }
            input.skip(PREAMBLE_BYTES + Integer.BYTES);
            elements.meta();
            String transferSyntax = transferSyntax(elements);
            if (!Encoding.isDeflated(transferSyntax)) {
                Encoding encoding = Encoding.guessed(input, Encoding.of(transferSyntax));
                return Optional.of(new DataSet(transferSyntax, elements.digests(encoding)));
            }
            try (Inflater inflater = new Inflater(true)) {
                Input inflated = Input.inflated(input, inflater, INFLATED_BYTES_MAX, inflatedBuffer);
                elements.goOnWith(inflated);
                Encoding encoding = Encoding.guessed(inflated, Encoding.EXPLICIT_LITTLE);
                return Optional.of(new DataSet(transferSyntax, elements.digests(encoding)));
            }
        } catch (Malformed e) {
            return Optional.empty();
        }
    }

    private static boolean reachesPixels(Input input) throws IOException {
        Elements elements = new Elements(input);
        try {
            if (isPart10(input)) {
                input.skip(PREAMBLE_BYTES + Integer.BYTES);
            }
            elements.meta();
            String transferSyntax = transferSyntax(elements);
            return !Encoding.isDeflated(transferSyntax)
                    && elements.pixels(Encoding.guessed(input, Encoding.of(transferSyntax)));
        } catch (Malformed e) {
            return false;
        }
    }

    private static Digest digest(FileChannel channel, long from) throws IOException {
        MessageDigest digest = Digest.algorithm();
        ByteBuffer bytes = ByteBuffer.allocate(COPY_BYTES);
        long at = from;
        for (int n = channel.read(bytes, at); n >= 0; n = channel.read(bytes.clear(), at)) {
            digest.update(bytes.flip());
            at += n;
        }
        return Digest.of(digest.digest());
    }

    private Parsed read(Input input) throws IOException {
        Elements elements = new Elements(input);
        boolean part10 = false;
        try {
            part10 = isPart10(input);
            if (!part10 && !looksLikeDataSet(input)) {
                return new NotDicom();
            }
            if (part10) {
                input.skip(PREAMBLE_BYTES + Integer.BYTES);
            }
            read(elements, input);
        } catch (Malformed e) {
            Header before = header(part10, elements);
            return part10 || isIdentified(before) ? new Damaged(e.damage(), e.offset(), before) : new NotDicom();
        }
        Header header = header(part10, elements);
        if (part10 && header.values().isEmpty()) {
            return new Damaged(Damage.CUT_OFF, elements.offset(), header);
        }
        return part10 || isIdentified(header) ? header : new NotDicom();
    }

    /** NB: a bare data set can have "DICM" at this offset, for example in a station name. */
    private static boolean isPart10(Input input) throws IOException, Malformed {
        boolean marked = input.has(PREAMBLE_BYTES + Integer.BYTES) && input.intAt(PREAMBLE_BYTES, true) == DICM;
        if (!marked) {
            return false;
        }
        int behind = PREAMBLE_BYTES + Integer.BYTES;
        boolean meta = input.has(behind + 2) && input.shortAt(behind, false) == GROUP_META;
        return meta || !looksLikeDataSet(input);
    }

    /**
     * Returns whether a file without "DICM" is worth reading. This is a guess: the file must then turn out to have a
     * UID.
     */
    private static boolean looksLikeDataSet(Input input) throws IOException, Malformed {
        if (!input.has(8)) {
            return false;
        }
        if (Vr.isKnown(input.shortAt(4, true))) {
            return isFirstGroup(input.shortAt(0, false)) || isFirstGroup(input.shortAt(0, true));
        }
        long length = Integer.toUnsignedLong(input.intAt(4, false));
        return isFirstGroup(input.shortAt(0, false)) && length <= FIRST_VALUE_BYTES_MAX;
    }

    private static boolean isFirstGroup(int group) {
        return group == GROUP_META || group == GROUP_IDENTIFYING;
    }

    /** Returns whether there is a UID of at least two components, as every real one has: this rules out chance. */
    private static boolean isIdentified(Header header) {
        return IDENTITIES.stream()
                .flatMap(tag -> header.text(tag).stream())
                .anyMatch(text -> text.indexOf('.') > 0 && Legal.uid(text));
    }

    private void read(Elements elements, Input input) throws IOException, Malformed {
        elements.meta();
        String transferSyntax = transferSyntax(elements);
        if (!Encoding.isDeflated(transferSyntax)) {
            elements.dataSet(Encoding.guessed(input, Encoding.of(transferSyntax)));
            return;
        }
        try (Inflater inflater = new Inflater(true)) {
            Input inflated = Input.inflated(input, inflater, INFLATED_BYTES_MAX, inflatedBuffer);
            elements.goOnWith(inflated);
            elements.dataSet(Encoding.guessed(inflated, Encoding.EXPLICIT_LITTLE));
        }
    }

    private static String transferSyntax(Elements elements) {
        Elements.Raw raw = elements.found().get(Tag.TRANSFER_SYNTAX_UID);
        return raw == null ? "" : String.join("", Plain.value(raw.bytes()).texts());
    }

    private Header header(boolean part10, Elements elements) {
        Map<Tag, Value> values = new EnumMap<>(Tag.class);
        elements.found().keySet().forEach(tag -> values.put(tag, value(tag, elements)));
        return new Header(part10, values);
    }

    private Value value(Tag tag, Elements elements) {
        Map<Tag, Elements.Raw> found = elements.found();
        Elements.Raw raw = found.get(tag);
        if (raw == null) {
            throw new IllegalStateException("nothing found of " + tag);
        }
        if (tag.form() == Tag.Form.SHORT || Vr.isNumber(raw.vr())) {
            return Numbers.value(raw);
        }
        if (tag.form() != Tag.Form.TEXT) {
            return Plain.value(raw.bytes());
        }
        Elements.Raw own = tag.inRequest() ? found.get(Tag.REQUEST_CHARACTER_SET) : null;
        return characterSet(own == null ? found.get(Tag.SPECIFIC_CHARACTER_SET) : own)
                .value(raw.bytes());
    }

    /** Returns the character set; cached, because nearly all files declare the same one as the file before. */
    private CharacterSet characterSet(Elements.@Nullable Raw declared) {
        List<String> terms =
                declared == null ? List.of() : Plain.value(declared.bytes()).texts();
        if (!lastCharacterSet.terms().equals(terms)) {
            lastCharacterSet = CharacterSet.of(terms);
        }
        return lastCharacterSet;
    }
}
