package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Challenge;
import dozo.send.Outcome.Failed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Reads files of a source again, and compares them with the digests of the manifest. It always yields to other users of the source.
 * Thread-safe.
 */
public final class HomeReader {

    private static final int FILES_AT_ONCE = 16;

    /** How much is read before the rate and the end are checked again. */
    private static final int PART_BYTES = 1 << 20;

    private final Gauges gauges = new Gauges();
    private final Throttle rate;
    private final SourcePatience patience;
    private final boolean fromDisk;

    /** Bytes of a file, counted from 0, with the last one. */
    public record ByteRange(long first, long last) {}

    /** What a file was seen to be. */
    public sealed interface Seen {

        /** Returns the manifest's entry of the file. */
        Entry entry();

        /** Its bytes are those of the manifest. */
        record Equal(Entry entry) implements Seen {}

        /** It is gone, or its time or size has changed, perhaps while it was read: the next night backs it up. */
        record Edited(Entry entry) implements Seen {}

        /** Its bytes differ from the manifest's, and nothing else does; two readings have found the same. */
        record Rotten(Entry entry, Digest found) implements Seen {}

        /**
         * Nothing is known of its bytes.
         *
         * @param ofSource whether the source as a whole does not answer
         */
        record Unknown(Entry entry, String message, boolean ofSource) implements Seen {}
    }

    /**
     * @param bytesPerSecond the maximum rate; 0: none
     * @param requests the most that a file server gets at once; less than 1: one at a time, with rests between
     * @param patience how long a source may not answer before its file is unknown
     * @param fromDisk whether the kernel is asked to drop each file from memory before and after it is read
     * @param ends whether nothing more is to be read; asked between parts of a file
     */
    public HomeReader(long bytesPerSecond, double requests, Duration patience, boolean fromDisk, BooleanSupplier ends) {
        this.rate = new Throttle(bytesPerSecond);
        this.patience = new SourcePatience(patience, SourceYielding.atMost(requests), ends);
        this.fromDisk = fromDisk;
    }

    /**
     * Reads these files of a source, some at once.
     *
     * @param root the source's folder
     * @param bound whether the root is opened by exactly this path; else links on the way to it are followed
     * @param sealed the manifest's digests of all these entries, by number
     * @return what each file was seen to be, in the order of their numbers
     * @throws InterruptedException if nothing more is to be read: then nothing is known of any of them
     */
    public List<Seen> read(Path root, boolean bound, List<Entry> files, Map<Integer, Digest> sealed)
            throws InterruptedException {
        SourceFolder folder = folder(root, bound);
        Queue<Seen> seen = new ConcurrentLinkedQueue<>();
        try (Crew crew = new Crew(FILES_AT_ONCE)) {
            for (Entry file : files) {
                Digest expected = requireNonNull(sealed.get(file.number()));
                crew.start(() -> seen.add(seen(folder, file, expected)));
            }
            crew.join();
        } catch (IOException e) {
            throw new UncheckedIOException("a file that cannot be read is a result", e);
        }
        return seen.stream()
                .sorted(Comparator.comparingInt(one -> one.entry().number()))
                .toList();
    }

    /** Reads a file that differs once more: a memory or a cable may have been wrong, and nobody is to be alarmed by that. */
    private Seen seen(SourceFolder folder, Entry file, Digest sealed) throws InterruptedException {
        try {
            Digest first = digest(folder, file);
            if (first.equals(sealed)) {
                return new Seen.Equal(file);
            }
            Digest second = digest(folder, file);
            return second.equals(first)
                    ? new Seen.Rotten(file, first)
                    : new Seen.Unknown(file, unsure(file.path(), first, second), false);
        } catch (SourceProblem e) {
            Failed failed = e.failed(file);
            return failed.problem() == Problem.CHANGED || failed.problem() == Problem.VANISHED
                    ? new Seen.Edited(file)
                    : new Seen.Unknown(file, failed.message(), failed.ofSource());
        }
    }

    private static String unsure(FilePath path, Digest first, Digest second) {
        return "%s: two readings gave different bytes (SHA-256 %s and %s), and its time is unchanged; check the disk, the memory and the file server"
                .formatted(path, first, second);
    }

    /**
     * Returns in which bytes a file differs from its copy at a site, in order: pages of 4 KiB, or larger parts if it differs in
     * many. Empty: it is not known, because the file has changed or cannot be read, or the site digests no parts of files.
     *
     * @param root as for {@link #read}
     * @param copy has the bytes of the manifest, which the caller checks
     * @throws IOException if the site fails
     * @throws InterruptedException if nothing more is to be read
     */
    public List<ByteRange> differences(Path root, boolean bound, Entry file, SiteReader site, SiteCopy copy)
            throws IOException, InterruptedException {
        try (SourceFile source = open(folder(root, bound), file)) {
            List<ByteRange> ranges = new Differences(this, source, site, copy).find();
            source.checkUnchanged();
            return ranges;
        } catch (SourceProblem e) {
            return List.of();
        }
    }

    /**
     * Returns the right answers to challenges about a file, by its bytes at home. The file is read whole: only so it is known that the
     * bytes are those that were sent.
     *
     * @param root as for {@link #read}
     * @param sent the file's digest in the receipt
     * @return empty: the file is another one now, or cannot be read
     * @throws InterruptedException if nothing more is to be read
     */
    public Optional<Map<Challenge, Digest>> answers(
            Path root, boolean bound, Entry file, Digest sent, List<Challenge> challenges) throws InterruptedException {
        try (SourceFile source = open(folder(root, bound), file)) {
            RightAnswers answers = new RightAnswers(challenges);
            pass(source, 0, file.facts().sizeBytes(), answers::take);
            source.checkUnchanged();
            return answers.of(sent);
        } catch (SourceProblem e) {
            return Optional.empty();
        }
    }

    private SourceFolder folder(Path root, boolean bound) {
        return new LocalFolder(root, bound ? root : null, fromDisk);
    }

    private SourceFile open(SourceFolder folder, Entry file) throws SourceProblem, InterruptedException {
        return SourceFile.open(folder, file, gauges.reading, patience, null);
    }

    private Digest digest(SourceFolder folder, Entry file) throws SourceProblem, InterruptedException {
        try (SourceFile source = open(folder, file)) {
            Digest digest = digest(source, 0, file.facts().sizeBytes());
            source.checkUnchanged();
            return digest;
        }
    }

    Digest digest(SourceFile source, long offset, long length) throws SourceProblem, InterruptedException {
        MessageDigest digest = Digest.algorithm();
        pass(source, offset, length, digest::update);
        return Digest.of(digest.digest());
    }

    /** Passes on a range of a file, as far as it reaches. */
    void pass(SourceFile source, long offset, long length, Consumer<ByteBuffer> content)
            throws SourceProblem, InterruptedException {
        long end = offset + length;
        for (long at = offset; at < end; at += PART_BYTES) {
            if (patience.isLeaving()) {
                throw new InterruptedException("the run ends");
            }
            int part = (int) Math.min(PART_BYTES, end - at);
            rate.pass(part);
            source.read(at, part, content);
        }
    }
}
