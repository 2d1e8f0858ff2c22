package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.SiteFacts;
import dozo.send.SourceFolder;
import dozo.send.TreeAtSite;
import dozo.send.TreeAtSite.Digests;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;

/**
 * A source at a site, from which units are sent to another site. While a unit is read, the site computes the digests of
 * its files.
 *
 * @param host the site's, for messages
 * @param top the source's path below the site's root
 */
record SiteOrigin(String host, Lanes lanes, SiteFiles files, FilePath top) implements SendUnits.Origin {

    /** Returns the facts of something found; reads the text of a link. */
    Facts facts(FilePath path, RemoteFacts there) throws RemoteException, InterruptedException {
        return SiteFacts.ofSource(there, there.kind() == Kind.LINK ? files.linkText(top.resolve(path)) : null);
    }

    @Override
    public SourceFolder of(List<Entry> unit) {
        List<Entry> wanted = unit.stream()
                .filter(entry -> entry.facts().kind() == EntryKind.FILE)
                .toList();
        FutureTask<Map<FilePath, Digest>> all = new FutureTask<>(() -> wanted.isEmpty()
                ? Map.of()
                : files.digests(
                        wanted.stream().map(entry -> top.resolve(entry.path())).toList(),
                        wanted.stream()
                                .mapToLong(entry -> entry.facts().sizeBytes())
                                .sum()));
        Thread.ofVirtual().name("digests at " + host).start(all);
        return new TreeAtSite(host, lanes, top, new UnitDigests(files, all));
    }

    @Override
    public Optional<Facts> now(FilePath path) throws RemoteException, InterruptedException {
        Optional<RemoteFacts> there = files.facts(top.resolve(path))
                .filter(now -> now.kind() != Kind.OTHER && !Units.isTooLarge(now.sizeBytes()));
        return there.isEmpty() ? Optional.empty() : Optional.of(facts(path, there.get()));
    }

    private record UnitDigests(SiteFiles files, Future<Map<FilePath, Digest>> all) implements Digests {

        @Override
        public Optional<Digest> of(FilePath file) throws RemoteException, InterruptedException {
            try {
                return Optional.ofNullable(all.get().get(file));
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RemoteException failed) {
                    throw failed;
                }
                throw new IllegalStateException(e.getCause());
            }
        }

        @Override
        public Optional<Digest> now(FilePath file, long sizeBytes) throws RemoteException, InterruptedException {
            return Optional.ofNullable(files.digests(List.of(file), sizeBytes).get(file));
        }

        @Override
        public Map<Integer, Digest> ranges(FilePath file, long rangeBytes, int count)
                throws RemoteException, InterruptedException {
            return files.ranges(file, rangeBytes, IntStream.range(0, count));
        }
    }
}
