package dozo.source.tree;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.source.Listings;
import dozo.source.tree.Contents.Image;
import dozo.source.tree.Evidence.BidsFiles;
import dozo.source.tree.Evidence.DicomCounts;
import dozo.source.tree.Evidence.Expected;
import dozo.source.tree.Evidence.Marker;
import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Observed.Said;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Receives the content of an experiment's folder, in any order and from several threads, and sums up what the rules
 * need. Memory grows with the number of series and, if BIDS is checked, of names, up to a limit each; beyond it the
 * evidence says nothing.
 */
public final class Sighting implements Listings {

    static final int NAMED_MAX = 20;
    private static final int HEADERS_MAX = 200_000;
    private static final Duration SKEW_MAX = Duration.ofMinutes(5);
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static final long NANOS = 1_000_000_000L;

    /** A temporary name of rsync. The last six characters are random, so nearly always one is a digit or a capital. */
    private static final Pattern RSYNC =
            Pattern.compile("\\..+\\.(?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{6}", Pattern.DOTALL);

    private static final Pattern PART =
            Pattern.compile(".+\\.(part|partial|filepart|crdownload|tmp)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    /** Extensions of files that cannot be DICOM; they are not opened. */
    private static final Set<String> OTHERS = Set.of(
            "nii", "gz", "json", "tsv", "bval", "bvec", "fif", "sqd", "con", "dat", "txt", "csv", "log", "md", "h5",
            "mat", "png", "jpg", "mp4", "zip", "tar", "edf", "vhdr", "vmrk", "eeg", "meg4", "res4", "xml", "yaml", "py",
            "m");

    private final Rules rules;
    private final Instant at;
    private final Contents contents;
    private final Optional<SeriesCounts> series;
    private final Optional<BidsNames> bids;
    private final int[] matched;

    private final Some temporary = new Some();
    private final Some future = new Some();
    private final Some dangling = new Some();
    private final Some unreadable = new Some();
    private long files;
    private long bytes;
    private long digest;
    private long newestNanos = Long.MIN_VALUE;
    private int headers;

    /** The first few names of a kind, and their total number. */
    private static final class Some {
        private final List<String> names = new ArrayList<>();
        private long count;

        void add(FilePath path) {
            count++;
            if (names.size() < NAMED_MAX) {
                names.add(path.toString());
            }
        }

        Stream<Reason> reason(String word, String message) {
            return count == 0
                    ? Stream.empty()
                    : Stream.of(new Reason(
                            word, names.getFirst(), message + (count == 1 ? "" : "; %,d in all".formatted(count))));
        }
    }

    /** Creates a sighting that starts at this time by our clock. */
    public Sighting(Rules rules, Instant at, Contents contents) {
        this.rules = rules;
        this.at = at;
        this.contents = contents;
        this.series = rules.find(DicomCounts.class).map(SeriesCounts::new);
        this.bids = rules.find(BidsFiles.class).map(evidence -> new BidsNames());
        this.matched = new int[rules.evidence().size()];
    }

    @Override
    public Listing folder(FilePath folder) {
        return new Listing() {
            @Override
            public void entry(byte[] name, Facts facts) {
                add(folder.resolve(name), facts);
            }

            @Override
            public void end() {}
        };
    }

    @Override
    public synchronized void problem(FilePath path, Problem problem, String message) {
        if (problem != Problem.SPECIAL) {
            unreadable.add(path);
        }
    }

    public void add(FilePath path, Facts facts) {
        boolean isTemporary = facts.kind() == EntryKind.FILE && isTemporary(path);
        Image image = isTemporary ? null : image(path, facts);
        boolean leads = facts.kind() != EntryKind.LINK || contents.leads(path);
        synchronized (this) {
            count(path, facts);
            if (isTemporary) {
                temporary.add(path);
                return;
            }
            if (!leads) {
                dangling.add(path);
                return;
            }
            match(path);
            if (image != null) {
                series.orElseThrow().add(image);
            }
            bids.ifPresent(names -> names.add(path, facts.kind()));
        }
    }

    private @Nullable Image image(FilePath path, Facts facts) {
        if (series.isEmpty() || facts.kind() != EntryKind.FILE || facts.sizeBytes() == 0 || isOther(path)) {
            return null;
        }
        synchronized (this) {
            if (++headers > HEADERS_MAX) {
                return null;
            }
        }
        try {
            return contents.image(path).orElse(null);
        } catch (NoSuchFileException goneMeanwhile) {
            return null;
        } catch (IOException e) {
            synchronized (this) {
                unreadable.add(path);
            }
            return null;
        }
    }

    private void count(FilePath path, Facts facts) {
        if (facts.kind() == EntryKind.FILE) {
            files++;
            bytes += facts.sizeBytes();
        }
        digest += hash(path, facts);
        long changed = facts.changedNanos() == Facts.UNKNOWN_NANOS ? facts.modifiedNanos() : facts.changedNanos();
        newestNanos = Math.max(newestNanos, changed);
        if (Math.max(changed, facts.modifiedNanos()) > nanos(at.plus(SKEW_MAX))) {
            future.add(path);
        }
    }

    private void match(FilePath path) {
        for (int i = 0; i < matched.length; i++) {
            boolean matches = switch (rules.evidence().get(i)) {
                case Marker(Glob name) -> name.matches(path);
                case Expected(int count, Glob name) -> name.matches(path);
                case DicomCounts counts -> false;
                case BidsFiles files -> false;
            };
            if (matches) {
                matched[i]++;
            }
        }
    }

    /** Returns the result, after everything has been added. */
    public synchronized Observed observed() throws IOException {
        List<Said> said = new ArrayList<>();
        for (int i = 0; i < matched.length; i++) {
            said.add(said(rules.evidence().get(i), matched[i]));
        }
        List<Reason> copying = temporary
                .reason("COPYING", "temporary name: a copy is in progress")
                .toList();
        if (!copying.isEmpty()) {
            said.add(new Said.Lacking(copying));
        }
        return new Observed(
                files,
                bytes,
                digest,
                newestNanos == Long.MIN_VALUE ? null : instant(newestNanos),
                said,
                unreadable
                        .reason("UNREADABLE", "cannot be read; content is unknown")
                        .toList(),
                Stream.concat(
                                future.reason("CLOCK_AHEAD", "modification time is in the future; check the clocks"),
                                dangling.reason("DANGLING", "dangling symbolic link; copied as a link"))
                        .toList());
    }

    private Said said(Evidence evidence, int found) throws IOException {
        return switch (evidence) {
            case Marker(Glob name) ->
                found > 0
                        ? new Said.Done(true)
                        : new Said.Lacking(List.of(new Reason("NO_MARKER", name.text(), "does not exist yet")));
            case Expected(int count, Glob name) ->
                found >= count
                        ? new Said.Done(false)
                        : new Said.Lacking(
                                List.of(new Reason("FEW", name.text(), "%d of %d are here".formatted(found, count))));
            case DicomCounts counts ->
                headers > HEADERS_MAX ? new Said.Silent() : series.orElseThrow().said();
            case BidsFiles files -> bids.orElseThrow().said(contents);
        };
    }

    private static boolean isTemporary(FilePath path) {
        String name = new String(path.name(), StandardCharsets.ISO_8859_1);
        return RSYNC.matcher(name).matches() || PART.matcher(name).matches();
    }

    private static boolean isOther(FilePath path) {
        String name = new String(path.name(), StandardCharsets.ISO_8859_1);
        return OTHERS.contains(name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT));
    }

    /** Returns an entry's share of the digest; shares are summed, so their order does not matter. */
    private static long hash(FilePath path, Facts facts) {
        long hash = FNV_BASIS;
        for (byte b : path.bytes()) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        hash = (hash ^ facts.sizeBytes()) * FNV_PRIME;
        hash = facts.kind() == EntryKind.DIRECTORY ? hash : (hash ^ facts.modifiedNanos()) * FNV_PRIME;
        return hash ^ (hash >>> 32);
    }

    private static long nanos(Instant instant) {
        return instant.getEpochSecond() * NANOS + instant.getNano();
    }

    private static Instant instant(long nanos) {
        return Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS));
    }
}
