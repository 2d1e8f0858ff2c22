package dozo.collect;

import dozo.collect.Offer.Folder;
import dozo.file.FilePath;
import dozo.source.tree.FoundFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recognises known folders. A folder is a known one if, in this order,
 *
 * <ol>
 *   <li>path and inode number are the same;
 *   <li>it has the inode number of a known folder that is no longer at its path, and the same birth time; if the file system
 *       records no birth times, if it has exactly the same content: inode numbers are reused for other folders;
 *   <li>it is at the path of a known folder that is nowhere else: trees are copied to other file systems.
 * </ol>
 */
final class KnownFolders {

    private final Map<FilePath, Known> byPath = new HashMap<>();
    private final Map<Long, List<Known>> byInode = new HashMap<>();
    private final Set<String> taken = new HashSet<>();

    /**
     * A known folder.
     *
     * @param theirs the origin's own project that it was in
     * @param gone whether it was missing at the last look
     */
    record Known(String item, Folder place, @Nullable String theirs, String title, boolean gone) {}

    /** How a folder was recognised. */
    enum How {
        SAME,
        /** The same folder, under another path. */
        MOVED,
        /** Another folder, under the same path. */
        REPLACED,
        NEW,
        /** It has the inode number of a folder that is gone, but nothing shows that it is the same one. */
        PERHAPS_MOVED
    }

    /**
     * A folder with what is known of it.
     *
     * @param known null if it is new
     * @param perhaps the known folder that it may be
     */
    record Recognised(
            FoundFolder found,
            How how,
            @Nullable Known known,
            @Nullable Known perhaps) {}

    interface Content {
        /** Returns whether it contains what the last look found in the known folder. */
        boolean isSame(Known known, FoundFolder found) throws IOException, InterruptedException;
    }

    KnownFolders(List<Known> all) {
        for (Known known : all) {
            byPath.put(known.place().path(), known);
            byInode.computeIfAbsent(known.place().inode(), none -> new ArrayList<>())
                    .add(known);
        }
    }

    /** Recognises each folder; no known folder is used twice. */
    List<Recognised> recognise(List<FoundFolder> found, Content content) throws IOException, InterruptedException {
        Map<FoundFolder, Recognised> recognised = new HashMap<>();
        for (FoundFolder folder : found) {
            Known known = byPath.get(folder.path());
            if (known != null && known.place().inode() == folder.inode() && !otherBirth(known, folder)) {
                taken.add(known.item());
                recognised.put(folder, new Recognised(folder, How.SAME, known, null));
            }
        }
        for (FoundFolder folder : found) {
            Known moved = recognised.containsKey(folder) ? null : moved(folder, content);
            if (moved != null) {
                taken.add(moved.item());
                recognised.put(folder, new Recognised(folder, How.MOVED, moved, null));
            }
        }
        List<Recognised> all = new ArrayList<>();
        for (FoundFolder folder : found) {
            Recognised one = recognised.get(folder);
            all.add(one == null ? other(folder) : one);
        }
        return all;
    }

    private @Nullable Known moved(FoundFolder folder, Content content) throws IOException, InterruptedException {
        for (Known known : byInode.getOrDefault(folder.inode(), List.of())) {
            if (!taken.contains(known.item()) && !otherBirth(known, folder)) {
                boolean told = known.place().bornNanos() != null && folder.bornNanos() != null;
                if (told || content.isSame(known, folder)) {
                    return known;
                }
            }
        }
        return null;
    }

    private Recognised other(FoundFolder folder) {
        Known there = byPath.get(folder.path());
        if (there != null && taken.add(there.item())) {
            return new Recognised(folder, How.REPLACED, there, null);
        }
        Known perhaps = byInode.getOrDefault(folder.inode(), List.of()).stream()
                .filter(known -> !taken.contains(known.item()) && !otherBirth(known, folder))
                .findFirst()
                .orElse(null);
        return new Recognised(folder, perhaps == null ? How.NEW : How.PERHAPS_MOVED, null, perhaps);
    }

    private static boolean otherBirth(Known known, FoundFolder folder) {
        Long before = known.place().bornNanos();
        return before != null && folder.bornNanos() != null && !Objects.equals(before, folder.bornNanos());
    }

    /** Returns whether a folder was recognised as this one. */
    boolean isTaken(Known known) {
        return taken.contains(known.item());
    }
}
