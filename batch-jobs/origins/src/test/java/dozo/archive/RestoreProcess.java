package dozo.archive;

import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import dozo.restore.ArchiveRestore.Counts;
import dozo.send.Throttle;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Server;
import dozo.source.dicomweb.Archive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Restores all files in a site's root into an archive, without the jobs around it. */
final class RestoreProcess {

    private static final Duration LONG = Duration.ofMinutes(5);

    /** A request fails on each connection that the proxy has kept to an Orthanc that was killed. */
    private static final int TRIES = 30;

    private static final Limits LIMITS = new Limits(LONG, LONG, LONG, TRIES, Duration.ofMillis(1), LONG);

    private RestoreProcess() {}

    static void main(String[] all) throws Exception {
        var _ = restore(ChildProcess.site(all), ChildProcess.arguments(all)[0]);
    }

    /** Returns what was counted. Nothing may be a finding. */
    static Counts restore(SiteAddress site, String archive) throws IOException, InterruptedException {
        List<Item> items = items(Path.of(site.root()));
        try (InstanceRestore restore = new InstanceRestore(
                new ManifestPart((after, limit) -> after(items, after, limit), "p/E1", 1, Selection.ALL),
                new ProvenRead(site),
                () -> Archive.open(Server.at(archive), LIMITS, _ -> {}, InstantSource.system()),
                false,
                new Throttle(0))) {
            restore.run(finding -> {
                throw new AssertionError(finding);
            });
            return restore.counts();
        }
    }

    private static List<Item> after(List<Item> items, FilePath after, int limit) {
        return items.stream()
                .filter(item -> after.isRoot() || item.entry().path().compareTo(after) > 0)
                .limit(limit)
                .toList();
    }

    private static List<Item> items(Path root) throws IOException {
        List<Item> items = new ArrayList<>();
        try (Stream<Path> all = Files.list(root)) {
            for (Path file : all.sorted().toList()) {
                byte[] bytes = Files.readAllBytes(file);
                FilePath path = FilePath.of(file.getFileName().toString());
                Facts facts = Facts.told(EntryKind.FILE, bytes.length, 0, Facts.UNKNOWN_NANOS, 0644, 1, 0, null, null);
                Digest digest = Digest.of(Digest.algorithm().digest(bytes));
                items.add(new Item(new Entry(items.size() + 1, path, facts), new StoredCopy(path, digest)));
            }
        }
        return items;
    }
}
