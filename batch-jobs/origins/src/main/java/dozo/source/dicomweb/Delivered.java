package dozo.source.dicomweb;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What of a study lies in its tree, kept beside it in {@code delivered}: a line for each file, added when it is there. A line that is
 * torn or lost costs a download, and no file is there twice. One thread at a time.
 */
final class Delivered implements Closeable {

    private static final String NAME = "delivered";
    private static final String NO_PATIENT = "-";
    private static final Pattern LINE =
            Pattern.compile("([0-9a-f-]{44}) ([0-9A-Za-z-]{1,64}) ([0-9]{1,18}) ([0-9a-f]{64})"
                    + " (S[0-9A-V]{16}|-) ([A-Z_]{1,20}) ([0-9a-z./~]{1,200}\\.dcm)");

    private final Path tree;
    private final FileChannel channel;
    private final Map<String, Place> byId = new HashMap<>();
    private final Map<FilePath, Place> byPath = new TreeMap<>();

    /** Why a file has the name that it has. */
    enum Kind {
        /** The first with its UID. */
        FIRST,
        OTHER_PIXELS,
        OTHER_HEADER
    }

    /**
     * Where an instance lies, and what it was when it came.
     *
     * @param patient the code of its patient; null if it names none
     */
    record Place(
            String id,
            String mark,
            long sizeBytes,
            Digest content,
            @Nullable String patient,
            Kind kind,
            FilePath path) {

        private String line() {
            return "%s %s %d %s %s %s %s\n"
                    .formatted(id, mark, sizeBytes, content, patient == null ? NO_PATIENT : patient, kind, path);
        }
    }

    private Delivered(Path tree, FileChannel channel) {
        this.tree = tree;
        this.channel = channel;
    }

    static Delivered in(Path home, Path tree) throws IOException {
        Path file = home.resolve(NAME);
        FileChannel channel = FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.READ,
                LinkOption.NOFOLLOW_LINKS);
        Delivered delivered = new Delivered(tree, channel);
        try (BufferedReader lines = Files.newBufferedReader(file, ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher matcher = LINE.matcher(line);
                if (matcher.matches()) {
                    delivered.note(place(matcher));
                }
            }
        }
        // Behind a line that was torn, too.
        delivered.append(channel.size() == 0 ? "" : "\n");
        return delivered;
    }

    private static Place place(Matcher line) {
        String patient = line.group(5);
        return new Place(
                line.group(1),
                line.group(2),
                Long.parseLong(line.group(3)),
                Digest.ofHex(line.group(4)),
                patient.equals(NO_PATIENT) ? null : patient,
                Kind.valueOf(line.group(6)),
                FilePath.of(line.group(7)));
    }

    private void note(Place place) {
        byId.put(place.id(), place);
        byPath.put(place.path(), place);
    }

    private void append(String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(US_ASCII));
        long at = channel.size();
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    /** Whether this instance lies there as it is told now. NB: its bytes were compared when it came; here only its size is. */
    boolean has(Instance told) throws IOException {
        Place place = byId.get(told.id());
        if (place == null || !place.mark().equals(told.mark())) {
            return false;
        }
        Path file = place.path().under(tree);
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) == place.sizeBytes();
    }

    void add(Place place) throws IOException {
        append(place.line());
        note(place);
    }

    /** What lies at a path of the tree, if it is written down. */
    Optional<Place> at(FilePath path) {
        return Optional.ofNullable(byPath.get(path));
    }

    /** Codes of all patients whose instances lie here. */
    Set<String> patients() {
        Set<String> patients = new TreeSet<>();
        byPath.values().forEach(place -> {
            if (place.patient() != null) {
                patients.add(place.patient());
            }
        });
        return patients;
    }

    /** Files that have the UID of another one, in the order of their paths. */
    List<Place> twins() {
        return byPath.values().stream()
                .filter(place -> place.kind() != Kind.FIRST)
                .toList();
    }

    /** What came once, and is not among these. */
    List<FilePath> besides(Set<String> toldIds) {
        List<FilePath> besides = new ArrayList<>();
        byId.forEach((id, place) -> {
            if (!toldIds.contains(id)) {
                besides.add(place.path());
            }
        });
        return besides;
    }

    /** The first file of each series, in the order of their paths. */
    List<FilePath> oneOfEachSeries() {
        Map<String, FilePath> first = new TreeMap<>();
        byPath.keySet().forEach(path -> {
            String text = path.toString();
            first.putIfAbsent(text.substring(0, text.indexOf('/')), path);
        });
        return List.copyOf(first.values());
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            channel.force(false);
        }
    }
}
