package dozo.source.delivery;

import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.file.FilePath;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The record of the files in an item's tree, kept beside the tree in the file {@code delivered}. A line is added when
 * its file has arrived; a file's last line counts. Unreadable lines are ignored. Not safe for use by several threads.
 */
public final class Delivered implements Closeable {

    private static final String NAME = "delivered";

    private final Path tree;
    private final FileChannel channel;
    private final Map<String, Entry> byId = new HashMap<>();
    private final Map<FilePath, Entry> byPath = new TreeMap<>();

    /**
     * Where a file is, and its properties when it arrived.
     *
     * @param note a field of the origin, as written in the line
     */
    public record Entry(String id, String mark, long sizeBytes, String note, FilePath path) {

        private String line() {
            return "%s %s %d %s %s\n".formatted(id, mark, sizeBytes, note, new String(path.bytes(), UTF_8));
        }
    }

    private Delivered(Path tree, FileChannel channel) {
        this.tree = tree;
        this.channel = channel;
    }

    static Delivered in(Path home, Path tree, String noteForm) throws IOException {
        Path file = home.resolve(NAME);
        FileChannel channel = FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.READ,
                LinkOption.NOFOLLOW_LINKS);
        Delivered delivered = new Delivered(tree, channel);
        delivered.cutTornLine();
        delivered.readLines(file, noteForm);
        return delivered;
    }

    /** Returns what {@link #places} of the record in an item's folder returns, without changing anything there. */
    static List<Entry> read(Path home, String noteForm) throws IOException {
        Path file = home.resolve(NAME);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            Delivered delivered = new Delivered(ItemFolder.tree(home), channel);
            delivered.readLines(file, noteForm);
            return List.copyOf(delivered.places());
        }
    }

    private void readLines(Path file, String noteForm) throws IOException {
        Pattern form = Pattern.compile("(\\S+) (\\S+) ([0-9]{1,18}) (" + noteForm + ") (\\S.*)");
        // NB: the line methods of Files fail on bytes that are not UTF-8.
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(Files.newInputStream(file), UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher matcher = form.matcher(line);
                if (matcher.matches()) {
                    note(matcher);
                }
            }
        }
    }

    private void cutTornLine() throws IOException {
        ByteBuffer last = ByteBuffer.allocate(1);
        long end = channel.size();
        while (end > 0 && channel.read(last.clear(), end - 1) == 1 && last.get(0) != '\n') {
            end--;
        }
        channel.truncate(end);
    }

    private void note(Matcher line) {
        FilePath path;
        try {
            path = FilePath.of(line.group(5));
        } catch (IllegalArgumentException e) {
            return;
        }
        note(new Entry(line.group(1), line.group(2), Long.parseLong(line.group(3)), line.group(4), path));
    }

    private void note(Entry place) {
        byId.put(place.id(), place);
        byPath.put(place.path(), place);
    }

    public void add(Entry place) throws IOException {
        ByteBuffer line = UTF_8.encode(place.line());
        for (long at = channel.size(); line.hasRemaining(); ) {
            at += channel.write(line, at);
        }
        note(place);
    }

    /**
     * Returns whether the file is there as listed now. NB: its bytes were compared on arrival; here only its size is.
     */
    boolean has(ListedFile told) throws IOException {
        return has(told.id(), told.mark());
    }

    /** Returns whether a file is there with this mark, as far as its size says. */
    public boolean has(String id, String mark) throws IOException {
        Entry place = byId.get(id);
        if (place == null || !place.mark().equals(mark)) {
            return false;
        }
        Path file = place.path().under(tree);
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) == place.sizeBytes();
    }

    public Optional<Entry> of(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    public Optional<Entry> at(FilePath path) {
        return Optional.ofNullable(byPath.get(path));
    }

    /** Returns all files, ordered by path. */
    public Collection<Entry> places() {
        return byPath.values();
    }

    /** Returns the local files that the origin does not list. */
    public List<Entry> besides(Collection<? extends ListedFile> told) {
        Set<String> ids = told.stream().map(ListedFile::id).collect(Collectors.toSet());
        return byId.values().stream().filter(place -> !ids.contains(place.id())).toList();
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            channel.force(false);
        }
    }
}
