package dozo.restore;

import dozo.copy.Inventory;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.send.SiteCopy;
import dozo.verify.Copies;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/**
 * The inventories of the manifests in the catalogue. In one that was rebuilt they have the places of copies that nobody has
 * verified yet, too: whoever restores computes the digest of what arrives.
 */
@Component
public class Inventories {

    private final Manifests manifests;
    private final Copies copies;

    public Inventories(Manifests manifests, Copies copies) {
        this.manifests = manifests;
        this.copies = copies;
    }

    public Inventory of(Manifest manifest, int siteId) {
        return new Inventory() {
            @Override
            public List<Item> page(FilePath after, int limit) {
                return items(manifest, siteId, entries(after, limit));
            }

            @Override
            public List<Entry> entries(FilePath after, int limit) {
                return manifests.page(manifest.experimentId(), manifest.number(), after, limit);
            }
        };
    }

    private List<Item> items(Manifest manifest, int siteId, List<Entry> entries) {
        int[] files = entries.stream()
                .filter(entry -> entry.facts().kind() == EntryKind.FILE)
                .mapToInt(Entry::number)
                .toArray();
        Map<Integer, SiteCopy> stored = copies.ofClaimed(manifest.experimentId(), siteId, files).stream()
                .collect(Collectors.toMap(SiteCopy::entryNumber, Function.identity()));
        return entries.stream()
                .map(entry -> {
                    SiteCopy copy = stored.get(entry.number());
                    return new Item(entry, copy == null ? null : new StoredCopy(copy.path(), copy.digest()));
                })
                .toList();
    }
}
