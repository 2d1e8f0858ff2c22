package dozo.archive;

import dozo.copy.Inventory.Item;
import dozo.copy.ManifestPart;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The selected files of a manifest that the JSON which was collected with them describes. What cannot be restored is a finding. */
final class SelectedFiles {

    private final ManifestPart part;
    private final FilePath json;
    private final Tally tally;

    /** Those that can be restored, by their paths in the tree; and all that are selected and described. */
    private final Map<FilePath, Item> items = new HashMap<>();

    private final Set<FilePath> selected = new HashSet<>();

    /** @param json the place of the JSON, which is not restored itself */
    SelectedFiles(ManifestPart part, FilePath json, Tally tally) {
        this.part = part;
        this.json = json;
        this.tally = tally;
    }

    /** @param described whether the JSON names a file */
    void take(Item item, Predicate<FilePath> described) {
        Entry entry = item.entry();
        if (entry.facts().kind() == EntryKind.DIRECTORY || entry.path().equals(json)) {
            return;
        }
        tally.take(entry.facts().sizeBytes());
        if (!described.test(entry.path())) {
            tally.notSent(entry.path(), Problem.NOT_SENT, "%s does not name it".formatted(json));
            return;
        }
        selected.add(entry.path());
        if (entry.facts().kind() == EntryKind.LINK) {
            tally.notSent(entry.path(), Problem.NOT_SENT, "it is a symbolic link");
        } else if (item.copy() == null) {
            tally.notSent(
                    entry.path(), Problem.UNPROVEN, "was never verified at the site, so there is no copy to restore");
        } else {
            items.put(entry.path(), item);
        }
    }

    /** Returns a file that can be restored. One that the manifest does not have is a finding. */
    @Nullable
    Item find(FilePath place) {
        Item item = items.get(place);
        if (item == null && part.isWhole() && !selected.contains(place)) {
            tally.finding(place, Problem.NOT_SENT, "%s names it, but the manifest does not have it".formatted(json));
        }
        return item;
    }
}
