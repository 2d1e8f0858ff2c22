package dozo.ui;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.manifest.Manifests;
import dozo.registry.Sites.Site;
import dozo.restore.SitePictures;
import dozo.verify.Damages;
import dozo.verify.Damages.DamagedEntry;
import dozo.verify.Proofs;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** What lies in a folder of a manifest, and whether its copies are proven. */
@Component
record FolderContents(Manifests manifests, Proofs proofs, Damages damages, SitePictures pictures) {

    /** Names of files that usually have an image. Others are asked for where their proof is. */
    private static final Pattern IMAGE = Pattern.compile("(?i).*\\.(dcm|ima|nii|nii\\.gz|fif|meg4|con|sqd)");

    /**
     * An entry of a folder.
     *
     * @param target a link's target as text; null if the entry is not a link
     * @param state damaged, unproven or proven; a folder is damaged if anything in it is
     * @param picture whether a picture of it is offered
     */
    record ShownEntry(Entry entry, @Nullable String target, String state, boolean picture) {}

    /**
     * Lists the entries of a folder by name.
     *
     * @param after the name of the last entry on the previous page; empty for the first page
     * @param site whose copies count; null: none is registered
     */
    Cut<ShownEntry> of(int experimentId, int manifest, FilePath folder, byte[] after, @Nullable Site site, int most) {
        Cut<Entry> entries = Cut.of(
                most,
                limit -> manifests.folder(experimentId, manifest, folder, after, limit),
                entry -> Bytes.of(entry.path()));
        Predicate<Entry> proven = proven(experimentId, site, entries.items());
        Predicate<Entry> damaged = damaged(experimentId, site, manifest);
        return new Cut<>(
                entries.items().stream()
                        .map(entry -> shown(
                                entry, damaged.test(entry) ? "damaged" : proven.test(entry) ? "proven" : "unproven"))
                        .toList(),
                entries.next());
    }

    private Predicate<Entry> proven(int experimentId, @Nullable Site site, List<Entry> entries) {
        if (site == null || entries.isEmpty()) {
            return entry -> false;
        }
        int[] numbers = entries.stream().mapToInt(Entry::number).toArray();
        Set<Integer> proven = proofs.proven(experimentId, site.id(), numbers);
        return entry -> proven.contains(entry.number());
    }

    /** Tests for damaged entries and for folders that contain some at any depth. */
    private Predicate<Entry> damaged(int experimentId, @Nullable Site site, int manifest) {
        Set<Integer> numbers = new HashSet<>();
        Set<FilePath> folders = new HashSet<>();
        if (site != null) {
            for (DamagedEntry damaged : damages.of(experimentId, site.id(), manifest)) {
                numbers.add(damaged.entryNumber());
                for (FilePath each = damaged.folder(); !each.isRoot() && folders.add(each); ) {
                    each = each.parent();
                }
            }
        }
        return entry -> numbers.contains(entry.number()) || folders.contains(entry.path());
    }

    private ShownEntry shown(Entry entry, String state) {
        byte[] target = entry.facts().linkTarget();
        boolean picture = entry.facts().kind() == EntryKind.FILE
                && state.equals("proven")
                && pictures.isOffered(entry.facts().sizeBytes())
                && IMAGE.matcher(FilePath.render(entry.path().name())).matches();
        return new ShownEntry(entry, target == null ? null : FilePath.render(target), state, picture);
    }
}
