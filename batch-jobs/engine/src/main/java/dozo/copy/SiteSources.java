package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.send.Crew;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The files and folders of a site that a copy takes, counted as they are found. The temporary folder of an unfinished
 * copy to the site ({@code .dozo-incoming} in a source) is a finding.
 *
 * @param paths below the site's root
 * @param into whether the sources keep their names and go into the destination; otherwise the only one becomes it
 */
record SiteSources(Lanes lanes, List<FilePath> paths, boolean into, Filter filter, Tally tally) {

    /** The form of {@link CopyToSite#key}. */
    private static final Pattern KEY = Pattern.compile("[0-9a-f]{16}");

    SiteSources {
        if (paths.isEmpty() || (!into && paths.size() > 1)) {
            throw new IllegalArgumentException("only one source can be copied to a new name, not " + paths.size());
        }
        paths = List.copyOf(paths);
    }

    /**
     * Returns a key of a copy that is the same for the same command and different for any other: runs recognise only their own
     * temporary files.
     */
    String key(SiteAddress site, byte[] destination) {
        MessageDigest digest = Digest.algorithm();
        digest.update((site + "\0" + site.root() + "\0").getBytes(StandardCharsets.UTF_8));
        for (FilePath path : paths) {
            digest.update(path.bytes());
            digest.update((byte) 0);
        }
        digest.update((byte) (into ? 1 : 0));
        digest.update(destination);
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    /**
     * Returns the sources as they are at the site, each with its path at the destination.
     *
     * @param name the destination's, which a single file gets
     */
    List<Found> roots(byte[] name) throws IOException, InterruptedException {
        List<Found> roots = new ArrayList<>();
        for (FilePath path : paths) {
            RemoteFacts facts = RemoteTree.look(lanes, path);
            boolean becomesTop = !into && facts.kind() == Kind.DIRECTORY;
            if (!into && !becomesTop && name.length == 0) {
                throw new IOException("a file cannot replace the root folder /");
            }
            FilePath local = becomesTop ? FilePath.ROOT : FilePath.ROOT.resolve(into ? path.name() : name);
            roots.add(new Found(FilePath.ROOT, path, local, facts));
        }
        return roots;
    }

    /** Passes on a source and everything below it, from several threads at once. */
    void walk(Found root, Crew.Work<Found> taker) throws IOException, InterruptedException {
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
        new RemoteTree(lanes, filter, folder -> isUnfinished(root, folder), visitor).walk(root);
    }

    /** Reports what a dry run finds. */
    void tellFound(List<Found> roots) throws IOException, InterruptedException {
        for (Found root : roots) {
            walk(root, found -> {
                if (found.facts().kind() != Kind.DIRECTORY) {
                    tally.tellFound(found.local());
                }
            });
        }
        tally.counted();
    }

    /** Returns whether something of a source gets this name in the folder that is filled. */
    boolean isTopName(List<Found> roots, FilePath name) throws IOException, InterruptedException {
        Found first = roots.getFirst();
        if (!first.local().isRoot()) {
            return roots.stream().anyMatch(root -> root.local().equals(name));
        }
        FilePath remote = first.remote().resolve(name);
        Optional<RemoteFacts> there = lanes.over(lane -> lane.sftp().lstat(remote));
        return there.isPresent() && !isUnfinished(first, new Found(name, remote, name, there.get()));
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
}
