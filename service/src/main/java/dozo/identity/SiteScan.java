package dozo.identity;

import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.registry.Code;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Searches what Dozo has made at a site: all paths, the texts of links, and the contents of tag files and anchors. Not the contents
 * of the researchers' files, and not encrypted records.
 */
public final class SiteScan {

    private static final FilePath OURS = FilePath.of(".dozo");
    private static final FilePath VERSIONS = OURS.resolve("versions");
    private static final String ENCRYPTED = ".age";

    /** {@code project/experiment/file}. */
    private static final int BAG_DEPTH = 3;

    /** {@code .dozo/versions/project/experiment/manifest/file}. */
    private static final int VERSION_DEPTH = 6;

    private static final int EXPERIMENT_DEPTH = 2;

    private final Wanted wanted;
    private final Places places;
    private long paths;
    private long files;

    public SiteScan(Wanted wanted, Places places) {
        this.wanted = wanted;
        this.places = places;
    }

    /**
     * Searches a site.
     *
     * @param projects codes; empty: all that is there
     * @throws RemoteException if not all of it could be read: then nothing is known
     */
    public void run(Site site, Set<String> projects) throws IOException, InterruptedException {
        try (Lanes lanes = Lanes.to(site.address(), 2)) {
            SiteReader reader = SiteReader.readOnly(lanes, Patience.USUAL);
            for (FilePath top : reader.names(FilePath.ROOT).keySet()) {
                if (projects.isEmpty() || projects.contains(top.toString())) {
                    search(site, lanes, reader, top);
                }
            }
            for (String project : projects) {
                for (FilePath ours : List.of(VERSIONS, SiteFolders.INCOMING, OURS.resolve("catalogue"))) {
                    search(site, lanes, reader, ours.resolve(project));
                }
            }
        }
        places.searched("site %s: %,d paths, %,d contents".formatted(site.name(), paths, files));
    }

    /** Searches a folder of the root. The experiments of a project come one by one, so that no list gets long. */
    private void search(Site site, Lanes lanes, SiteReader reader, FilePath top)
            throws IOException, InterruptedException {
        if (!Code.isCode(top.toString())) {
            searchBelow(site, lanes, reader, top);
            return;
        }
        path(site, top);
        for (FilePath experiment : reader.names(top).keySet()) {
            searchBelow(site, lanes, reader, experiment);
        }
    }

    private void searchBelow(Site site, Lanes lanes, SiteReader reader, FilePath top)
            throws IOException, InterruptedException {
        List<FilePath> links = new ArrayList<>();
        List<FilePath> own = new ArrayList<>();
        path(site, top);
        reader.list(top, (path, facts) -> {
            path(site, path);
            if (facts.kind() == Kind.LINK) {
                links.add(path);
            } else if (facts.kind() == Kind.FILE && isMadeByUs(path)) {
                own.add(path);
            }
        });
        for (FilePath link : links) {
            byte[] text = lanes.over(lane -> lane.sftp().readlink(link));
            places.add(where(site, link), wanted.in(text));
        }
        for (FilePath file : own) {
            files++;
            try (Spool content = reader.content(file, Long.MAX_VALUE);
                    InputStream in = content.read()) {
                places.add(where(site, file), wanted.in(in));
            }
        }
    }

    private void path(Site site, FilePath path) {
        paths++;
        places.add(where(site, path), wanted.in(path.bytes()));
    }

    /** Returns whether Dozo makes the content: a tag file, also an earlier one, or an anchor. */
    private static boolean isMadeByUs(FilePath path) {
        if (path.startsWith(VERSIONS)) {
            return depth(path) == VERSION_DEPTH;
        }
        return path.startsWith(OURS)
                ? !path.startsWith(SiteFolders.INCOMING) && !path.toString().endsWith(ENCRYPTED)
                : depth(path) == BAG_DEPTH;
    }

    private static int depth(FilePath path) {
        int depth = 0;
        for (FilePath at = path; !at.isRoot(); at = at.parent()) {
            depth++;
        }
        return depth;
    }

    /** Names the experiment's folder, and no more: a path may contain the name. */
    private static String where(Site site, FilePath path) {
        int most = path.startsWith(OURS) ? 2 * EXPERIMENT_DEPTH : EXPERIMENT_DEPTH;
        FilePath shown = path;
        for (int depth = depth(path); depth > most; depth--) {
            shown = shown.parent();
        }
        return "site %s: %s".formatted(site.name(), shown);
    }
}
