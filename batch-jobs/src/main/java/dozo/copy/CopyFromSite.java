package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.transfer.Throttle;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies files and folders of a site to this machine. Nothing is written at the site. What a copy to that place left
 * unfinished there ({@code .dozo-incoming} in a source) is passed over.
 */
public final class CopyFromSite implements Copy {

    private final List<FilePath> sources;
    private final Path destination;
    private final boolean into;
    private final Options options;
    private final SiteAddress site;
    private final Lanes lanes;
    private final LongAdder entries = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder entriesVerified = new LongAdder();
    private final LongAdder bytesVerified = new LongAdder();
    private final AtomicBoolean counted = new AtomicBoolean();
    private volatile @Nullable SiteFiles files;

    /** Hands on what was found. */
    private interface Taker {
        void take(Found found) throws IOException, InterruptedException;
    }

    /**
     * A copy of these sources.
     *
     * @param sources below the site's root
     * @param into whether the sources keep their names and go into the destination; else the one source becomes it
     */
    public CopyFromSite(SiteAddress site, List<FilePath> sources, Path destination, boolean into, Options options) {
        if (sources.isEmpty() || (!into && sources.size() > 1)) {
            throw new IllegalArgumentException(sources.size() + " sources cannot become one destination");
        }
        this.site = site;
        this.sources = List.copyOf(sources);
        this.destination = destination.toAbsolutePath().normalize();
        this.into = into;
        this.options = options;
        this.lanes = options.lanes() == 0 ? Lanes.tuned(site) : Lanes.to(site, options.lanes());
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        Told told = new Told(findings);
        List<Found> roots = roots();
        if (options.dryRun()) {
            walk(roots, found -> {}, told);
            return progress();
        }
        try (LocalTree local = LocalTree.open(top(roots.getFirst()), key())) {
            SiteFiles from = new SiteFiles(
                    lanes, RemoteDigest.readOnly(lanes.next()), new Throttle(options.limitBytesPerSecond()));
            files = from;
            try (FetchUnits units = new FetchUnits(new Fetch(from, local, told), local, told)) {
                walk(roots, units::add, told);
                units.end();
            }
        }
        return progress();
    }

    @Override
    public Progress progress() {
        SiteFiles from = files;
        return new Progress(
                entries.sum(),
                bytes.sum(),
                counted.get(),
                entriesVerified.sum(),
                bytesVerified.sum(),
                from == null ? 0 : from.bytesMoved(),
                lanes.open());
    }

    @Override
    public void close() {
        lanes.close();
    }

    /** The sources as they are at the site, each with what it becomes here. */
    private List<Found> roots() throws IOException, InterruptedException {
        List<Found> roots = new ArrayList<>();
        for (FilePath source : sources) {
            RemoteFacts facts = RemoteTree.look(lanes, source);
            FilePath name = into
                    ? FilePath.ROOT.resolve(source.name())
                    : facts.kind() == Kind.DIRECTORY ? FilePath.ROOT : FilePath.ROOT.resolve(destinationName());
            roots.add(new Found(FilePath.ROOT, source, name, facts));
        }
        return roots;
    }

    /** The folder that is filled. */
    private Path top(Found root) throws IOException {
        if (into || root.local().isRoot()) {
            return destination;
        }
        Path parent = destination.getParent();
        if (parent == null) {
            throw new NotDirectoryException("a file cannot become " + destination);
        }
        return parent;
    }

    private byte[] destinationName() throws IOException {
        byte[] name = FilePath.between(Path.of("/"), destination).name();
        if (name.length == 0) {
            throw new IOException("a file cannot become " + destination);
        }
        return name;
    }

    private void walk(List<Found> roots, Taker taker, Told told) throws IOException, InterruptedException {
        for (Found root : roots) {
            RemoteTree.Visitor visitor = new RemoteTree.Visitor() {
                @Override
                public void found(Found found) throws IOException, InterruptedException {
                    entries.increment();
                    if (found.facts().kind() == Kind.FILE) {
                        bytes.add(found.facts().sizeBytes());
                    }
                    taker.take(found);
                }

                @Override
                public void problem(FilePath path, Problem problem, String message) {
                    entries.increment();
                    told.finding(path, problem, message);
                }
            };
            new RemoteTree(lanes, root.remote().resolve(LocalTree.INCOMING), visitor).walk(root);
        }
        counted.set(true);
    }

    /** The same for the same command, another for any other: runs recognise what they left, and only that. */
    String key() {
        MessageDigest digest = Digest.algorithm();
        digest.update((site + "\0" + site.root() + "\0").getBytes(StandardCharsets.UTF_8));
        for (FilePath source : sources) {
            digest.update(source.bytes());
            digest.update((byte) 0);
        }
        digest.update(FilePath.rawBytes(destination));
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    /** Keeps count, and tells findings one at a time. */
    private final class Told implements Fetch.Outcomes {

        private final Consumer<Finding> findings;

        Told(Consumer<Finding> findings) {
            this.findings = findings;
        }

        @Override
        public void verified(Found found) {
            entriesVerified.increment();
            if (found.facts().kind() == Kind.FILE) {
                bytesVerified.add(found.facts().sizeBytes());
            }
        }

        @Override
        public void failed(Found found, Problem problem, String message) {
            finding(found.path(), problem, message);
        }

        @Override
        public void resized(long moreBytes) {
            bytes.add(moreBytes);
        }

        synchronized void finding(FilePath path, Problem problem, String message) {
            findings.accept(new Finding(path, problem, message));
        }
    }
}
