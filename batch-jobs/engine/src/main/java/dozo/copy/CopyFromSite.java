package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.SiteAddress;
import dozo.send.Throttle;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies files and folders of a site to this machine. Writes nothing at the site. The temporary folder of an unfinished
 * copy to the site ({@code .dozo-incoming} in a source) is a finding and is not copied.
 */
public final class CopyFromSite implements Copy {

    private final SiteSources sources;
    private final Path destination;
    private final boolean into;
    private final Options options;
    private final SiteAddress site;
    private final Lanes lanes;
    private final Tally tally;
    private volatile @Nullable SiteFiles files;

    /**
     * Creates a copy of these sources.
     *
     * @param sources below the site's root
     * @param into whether the sources keep their names and go into the destination; otherwise the only source becomes
     *     it
     */
    public CopyFromSite(SiteAddress site, List<FilePath> sources, Path destination, boolean into, Options options) {
        this.site = site;
        this.destination = destination.toAbsolutePath().normalize();
        this.into = into;
        this.options = options;
        this.tally = new Tally(options.proofs());
        this.lanes = options.lanesTo(site);
        this.sources = new SiteSources(lanes, sources, into, options.filter(), tally);
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        if (options.comparing()) {
            compare();
        } else if (options.dryRun()) {
            sources.tellFound(roots());
        } else {
            try (FileLock _ = RunningCopies.lock(key())) {
                copy();
            }
        }
        tally.tellMissing(options.filter());
        return progress();
    }

    private void compare() throws IOException, InterruptedException {
        List<Found> roots = roots();
        Path top = top(roots.getFirst());
        Path folder = Files.isDirectory(top) ? top.toRealPath() : top;
        try (Comparison comparison = new Comparison(lanes, false, tally)) {
            for (Found root : roots) {
                sources.walk(
                        root,
                        found -> comparison.add(new Comparison.Pair(
                                found.path(),
                                found.local(),
                                found.local().under(folder),
                                found.remote(),
                                found.contentBytes())));
            }
            tally.counted();
            comparison.end();
        }
    }

    private void copy() throws IOException, InterruptedException {
        List<Found> roots = roots();
        Path top = top(roots.getFirst());
        LocalTree local = LocalTree.open(
                top, Incoming.name(key(), name -> sources.isTopName(roots, name) || isNoFolder(name.under(top))));
        SiteFiles from =
                new SiteFiles(lanes, RemoteDigest.readOnly(lanes.next()), new Throttle(options.limitBytesPerSecond()));
        files = from;
        try (local;
                FetchUnits units = new FetchUnits(new Fetch(from, local, tally), local, tally)) {
            for (Found root : roots) {
                sources.walk(root, units::add);
            }
            tally.counted();
            units.end();
        }
    }

    @Override
    public Progress progress() {
        SiteFiles from = files;
        return tally.progress(from == null ? 0 : from.bytesMoved(), lanes.open());
    }

    @Override
    public void close() {
        lanes.close();
    }

    private List<Found> roots() throws IOException, InterruptedException {
        return sources.roots(FilePath.between(Path.of("/"), destination).name());
    }

    /** Returns the folder that is filled. */
    private Path top(Found root) {
        // The destination of a file has a parent: it is not the root folder.
        return into || root.local().isRoot() ? destination : requireNonNull(destination.getParent());
    }

    private static boolean isNoFolder(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS) && !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    String key() {
        return sources.key(site, FilePath.rawBytes(destination));
    }
}
