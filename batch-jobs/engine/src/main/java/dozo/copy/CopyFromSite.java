package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.send.Crew;
import dozo.send.Throttle;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Copies files and folders of a site to this machine. Writes nothing at the site. The temporary folder of an unfinished
 * copy to the site ({@code .dozo-incoming} in a source) is a finding and is not copied.
 */
public final class CopyFromSite implements Copy {

    /** The form of {@link CopyToSite#key}. */
    private static final Pattern KEY = Pattern.compile("[0-9a-f]{16}");

    private final List<FilePath> sources;
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
        if (sources.isEmpty() || (!into && sources.size() > 1)) {
            throw new IllegalArgumentException("only one source can be copied to a new name, not " + sources.size());
        }
        this.site = site;
        this.sources = List.copyOf(sources);
        this.destination = destination.toAbsolutePath().normalize();
        this.into = into;
        this.options = options;
        this.tally = new Tally(options.proofs());
        this.lanes = options.lanesTo(site);
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        if (options.comparing()) {
            compare();
        } else if (options.dryRun()) {
            walk(roots(), found -> {
                if (found.facts().kind() != Kind.DIRECTORY) {
                    tally.tellFound(found.local());
                }
            });
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
            walk(
                    roots,
                    found -> comparison.add(new Comparison.Pair(
                            found.path(),
                            found.local(),
                            found.local().under(folder),
                            found.remote(),
                            found.contentBytes())));
            comparison.end();
        }
    }

    private void copy() throws IOException, InterruptedException {
        List<Found> roots = roots();
        Path top = top(roots.getFirst());
        LocalTree local = LocalTree.open(
                top, Incoming.name(key(), name -> isTopName(roots, name) || isNoFolder(name.under(top))));
        SiteFiles from =
                new SiteFiles(lanes, RemoteDigest.readOnly(lanes.next()), new Throttle(options.limitBytesPerSecond()));
        files = from;
        try (local;
                FetchUnits units = new FetchUnits(new Fetch(from, local, tally), local, tally)) {
            walk(roots, units::add);
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

    /** Returns the sources as they are at the site, each with its path here. */
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

    /** Returns the folder that is filled. */
    private Path top(Found root) {
        // The destination of a file has a parent: destinationName() rejects the root.
        return into || root.local().isRoot() ? destination : requireNonNull(destination.getParent());
    }

    private byte[] destinationName() throws IOException {
        byte[] name = FilePath.between(Path.of("/"), destination).name();
        if (name.length == 0) {
            throw new IOException("a file cannot replace the root folder " + destination);
        }
        return name;
    }

    private void walk(List<Found> roots, Crew.Work<Found> taker) throws IOException, InterruptedException {
        RemoteTree.Visitor visitor = new RemoteTree.Visitor() {
            @Override
            public void found(Found found) throws IOException, InterruptedException {
                tally.found(found.contentBytes());
                taker.on(found);
            }

            @Override
            public void problem(FilePath path, Problem problem, String message) {
                tally.foundUnfit(path, problem, message);
            }
        };
        for (Found root : roots) {
            new RemoteTree(lanes, options.filter(), folder -> isUnfinished(root, folder), visitor).walk(root);
        }
        tally.counted();
    }

    /** Returns whether something of a source gets this name in the folder that is filled. */
    private boolean isTopName(List<Found> roots, FilePath name) throws IOException, InterruptedException {
        Found first = roots.getFirst();
        if (!first.local().isRoot()) {
            return roots.stream().anyMatch(root -> root.local().equals(name));
        }
        FilePath remote = first.remote().resolve(name);
        Optional<RemoteFacts> there = lanes.over(lane -> lane.sftp().lstat(remote));
        return there.isPresent() && !isUnfinished(first, new Found(name, remote, name, there.get()));
    }

    private static boolean isNoFolder(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS) && !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    /** Returns whether a folder at the top of a source contains nothing but temporary folders of unfinished copies. */
    private boolean isUnfinished(Found root, Found folder) throws IOException, InterruptedException {
        if (!folder.remote().parent().equals(root.remote())
                || !Incoming.isName(folder.remote().name())
                || folder.facts().kind() != Kind.DIRECTORY) {
            return false;
        }
        try {
            return lanes.over(lane -> {
                int[] copies = {0};
                int[] others = {0};
                lane.sftp().listToKeep(folder.remote(), (path, facts) -> {
                    boolean copy = facts.kind() == Kind.DIRECTORY
                            && KEY.matcher(FilePath.render(path.name())).matches();
                    (copy ? copies : others)[0]++;
                });
                return copies[0] > 0 && others[0] == 0;
            });
        } catch (RemoteException e) {
            if (e.retryable()) {
                throw e;
            }
            // The walk reports why it cannot be read.
            return false;
        }
    }

    /**
     * Returns a key that is the same for the same command and different for any other: runs recognise only their own
     * temporary files.
     */
    String key() {
        MessageDigest digest = Digest.algorithm();
        digest.update((site + "\0" + site.root() + "\0").getBytes(StandardCharsets.UTF_8));
        for (FilePath source : sources) {
            digest.update(source.bytes());
            digest.update((byte) 0);
        }
        digest.update((byte) (into ? 1 : 0));
        digest.update(FilePath.rawBytes(destination));
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }
}
