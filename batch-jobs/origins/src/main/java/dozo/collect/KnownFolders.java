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
 * Knows folders again. A folder is the one that was known
 *
 * <ol>
 *   <li>where path and number are the same;
 *   <li>else where it has the number of one that is not at its place any more, and was made at the same time; where the file
 *       system does not tell when, if it holds exactly what that one held: numbers are given to other folders later;
 *   <li>else where it lies at the path of one that is nowhere else: trees are copied to other file systems.
 * </ol>
 */
final class KnownFolders {

    private final Map<FilePath, Known> byPath = new HashMap<>();
    private final Map<Long, List<Known>> byInode = new HashMap<>();
    private final Set<String> taken = new HashSet<>();

    /**
     * One that is known.
     *
     * @param theirs the origin's own project that it was in
     * @param gone whether it was not there at the last look
     */
    record Known(String item, Folder place, @Nullable String theirs, String title, boolean gone) {}

    /** How a folder was known. */
    enum How {
        SAME,
        /** Under another path. */
        MOVED,
        /** Another folder, under the same path. */
        REPLACED,
        NEW,
        /** It has the number of one that is gone, and nothing says that it is it. */
        PERHAPS_MOVED
    }

    /**
     * A folder beside what is known of it.
     *
     * @param known null: it is new
     * @param perhaps which one it may be
     */
    record Recognised(
            FoundFolder found,
            How how,
            @Nullable Known known,
            @Nullable Known perhaps) {}

    /** Looks into a folder. */
    interface Content {
        /** Whether it holds what was seen at the last look into the known one. */
        boolean isSame(Known known, FoundFolder found) throws IOException, InterruptedException;
    }

    KnownFolders(List<Known> all) {
        for (Known known : all) {
            byPath.put(known.place().path(), known);
            byInode.computeIfAbsent(known.place().inode(), none -> new ArrayList<>())
                    .add(known);
        }
    }

    /** Says of each folder which one it is; no known one is two of them. */
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

    /** Whether a folder was it. */
    boolean isTaken(Known known) {
        return taken.contains(known.item());
    }
}
