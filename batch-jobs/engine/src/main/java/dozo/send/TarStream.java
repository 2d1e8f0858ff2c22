package dozo.send;

import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck;
import dozo.remote.TarFeed;
import dozo.send.Arrival.Arrived;
import dozo.send.SourceProblem.Slow;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Sends files of a bundle as one archive to a tar at the site (ADR 0059). They arrive under their temporary names in a
 * folder of their own, and are then verified and renamed like all others. A file that is not in the archive, for
 * whatever reason, is sent by SFTP, which also finds the reason; for example all remaining files of a slow source.
 */
final class TarStream {

    /** For fewer files, starting a command costs the site more than their requests. */
    static final int FILES_MIN = 8;

    /** How many files are opened ahead of the one being sent. */
    static final int OPENING_MAX = 8;

    /** If this many archives in a row fail, single archives are not the problem. */
    private static final int BROKEN_MAX = 3;

    private static final int SMALL_FILES = 250;
    private static final long SMALL_BYTES = 4 << 20;

    /** The rest of a name in an archive is a folder's and a number. */
    private static final int SMALL_NAME_BYTES = 60;

    /** Archives of several small parts that are under way at once, and the most parts of one. */
    private static final int SMALL_AT_ONCE = 2;

    private static final int SMALL_TOGETHER = 32;

    private final Engine engine;
    private final Consumer<String> givenUp;
    private final AtomicInteger broken = new AtomicInteger();
    private final Together<Part, Map<Entry, Arrival>> small;

    /**
     * A part of an archive: files of one unit.
     *
     * @param folder a new folder for them, below the route's folder for temporary names
     */
    private record Part(Route route, List<Entry> files, FilePath folder) {

        /** Returns whether a tar for these alone takes mostly as long as its start, and they can be in an archive with others. */
        boolean isSmall() {
            return files.size() <= SMALL_FILES
                    && files.stream()
                                    .mapToLong(file -> file.facts().sizeBytes())
                                    .sum()
                            <= SMALL_BYTES
                    && SourceThreads.isFast(route.source().path())
                    && route.incoming().startsWith(SiteFolders.INCOMING)
                    && route.incoming().bytes().length <= SMALL_NAME_BYTES;
        }
    }

    /**
     * Creates it for one engine.
     *
     * @param givenUp receives the reason, once, if archives failed too often and all later files are sent by SFTP
     */
    TarStream(Engine engine, Consumer<String> givenUp) {
        this.engine = engine;
        this.givenUp = givenUp;
        this.small = new Together<>(engine.workers(), SMALL_AT_ONCE, SMALL_TOGETHER, this::sendSmall);
    }

    /** Returns whether the site accepts archives and they are faster for these files. */
    boolean isWorthIt(List<Entry> files) throws RemoteException, InterruptedException {
        return files.size() >= FILES_MIN
                && broken.get() < BROKEN_MAX
                && engine.site().unpacksTar();
    }

    /** Sends these files. Returns the arrivals of those in the archive; none if the archive failed. */
    Map<Entry, Arrival> send(Route route, List<Entry> files) throws RemoteException, InterruptedException {
        if (files.size() < FILES_MIN) {
            return Map.of();
        }
        Part part = new Part(route, files, SiteCheck.scratchName("tar-"));
        return part.isSmall()
                ? small.ask(part)
                : send(route.incoming(), List.of(part)).getFirst();
    }

    private List<Map<Entry, Arrival>> sendSmall(List<Part> parts) throws RemoteException, InterruptedException {
        return send(parts.size() == 1 ? parts.getFirst().route.incoming() : SiteFolders.INCOMING, parts);
    }

    /** Sends one archive into a folder at or above the folder for temporary names of each part. */
    private List<Map<Entry, Arrival>> send(FilePath base, List<Part> parts)
            throws RemoteException, InterruptedException {
        Optional<TarFeed> feed = engine.lanes().tar(base, engine.site().patience());
        if (feed.isEmpty()) {
            return none(parts);
        }
        try (TarFeed tar = feed.get()) {
            CompletableFuture<List<Map<Entry, Arrival>>> sent = new CompletableFuture<>();
            Thread.ofPlatform().daemon().name("archive").start(() -> sendAll(tar, base, parts, sent));
            List<Map<Entry, Arrival>> arrivals = Workers.join(sent);
            if (arrivals.stream().anyMatch(some -> !some.isEmpty())) {
                broken.set(0);
                return arrivals;
            }
        } catch (RemoteException e) {
            // A lost connection says nothing about archives.
            if (e.reason() != Reason.LOST && broken.incrementAndGet() == BROKEN_MAX) {
                givenUp.accept("%d archives in a row failed, and files are sent by SFTP only: %s"
                        .formatted(BROKEN_MAX, e.getMessage()));
            }
        }
        for (Part part : parts) {
            clear(part.route.incoming().resolve(part.folder));
        }
        return none(parts);
    }

    private static List<Map<Entry, Arrival>> none(List<Part> parts) {
        return parts.stream().map(_ -> Map.<Entry, Arrival>of()).toList();
    }

    /**
     * Sends all files, on a thread of the archive: it reads, digests, encrypts and sends without handing anything over
     * (ADR 0062). If it hangs in a source that was fast, the archive has no arrivals, and the thread is left alone.
     */
    private void sendAll(
            TarFeed tar, FilePath base, List<Part> parts, CompletableFuture<List<Map<Entry, Arrival>>> sent) {
        try {
            List<Map<Entry, Arrival>> all = new ArrayList<>();
            for (Part part : parts) {
                Map<Entry, Arrival> arrivals = new HashMap<>();
                FilePath folder = part.route.incoming().below(base).resolve(part.folder);
                try (Opening opening = new Opening(part.route.source(), part.files, () -> sent.complete(none(parts)))) {
                    while (opening.hasNext()) {
                        sendNext(tar, part.route, base, folder, opening, arrivals);
                    }
                }
                all.add(arrivals);
            }
            tar.end();
            sent.complete(all);
        } catch (Throwable e) {
            sent.completeExceptionally(e);
        }
    }

    /** Removes the folder of an archive and its content. */
    void clear(FilePath folder) throws RemoteException, InterruptedException {
        try {
            engine.lanes().doOver(lane -> SiteCheck.removeScratch(lane, folder));
        } catch (RemoteException e) {
            if (e.retryable()) {
                throw e;
            }
            // The sweep removes it, or reports why not.
        }
    }

    private void sendNext(
            TarFeed tar, Route route, FilePath base, FilePath folder, Opening opening, Map<Entry, Arrival> arrivals)
            throws RemoteException, InterruptedException {
        try (SourceFile source = opening.next()) {
            Entry file = source.entry();
            try (Stay _ = engine.gauges().files.enter()) {
                source.awaitOpen();
                if (!source.isSparse()) {
                    arrivals.put(file, send(tar, route, base, folder, source));
                }
            } catch (Slow e) {
                // The archive must not wait for its source, because other units wait for the archive to end.
                opening.noMore();
            } catch (SourceProblem e) {
                arrivals.put(file, e.failed(file));
            }
        }
    }

    private Arrived send(TarFeed tar, Route route, FilePath base, FilePath folder, SourceFile source)
            throws SourceProblem, RemoteException, InterruptedException {
        Entry file = source.entry();
        FilePath name = folder.resolve(route.temporaryName(file).name());
        SiteFacts facts = SiteFacts.of(file);
        long sizeBytes = file.facts().sizeBytes();
        ContentDigest read = new ContentDigest(engine, file);
        tar.begin(name.bytes(), sizeBytes, facts.mode(), facts.modifiedSeconds());
        long at = 0;
        try {
            int n = 1;
            for (; at < sizeBytes && n > 0; at += n) {
                n = sendBlock(tar, source, at, sizeBytes - at, read);
            }
            source.checkUnchanged();
        } catch (SourceProblem e) {
            // The next file must still begin at its place.
            tar.endFile(sizeBytes, sizeBytes - at);
            throw e;
        }
        tar.endFile(sizeBytes, sizeBytes - at);
        return new Arrived(file, read.content(), base.resolve(name), facts.mode(), WayIn.ARCHIVE);
    }

    /** Sends the next block. Returns by how many bytes the position advances. */
    private int sendBlock(TarFeed tar, SourceFile source, long offset, long left, MessageDigest read)
            throws SourceProblem, RemoteException, InterruptedException {
        ByteBuffer room = tar.room();
        ByteBuffer content = room.slice(room.position(), (int) Math.min(room.remaining(), left));
        source.read(content, offset);
        int n = content.position();
        try (Stay _ = engine.gauges().digesting.enter()) {
            read.update(content.flip());
        }
        engine.throttle().pass(n);
        room.position(room.position() + n);
        engine.gauges().bytesMoved.add(n);
        return n;
    }

    /**
     * The files of a source: opened one after the other by the caller's thread while the source is fast, otherwise
     * several ahead by the source's threads, in the order in which opening ends.
     */
    private final class Opening implements AutoCloseable {

        private final SourceFolder folder;
        private final Runnable stuck;
        private Iterator<Entry> waiting;
        private final BlockingQueue<SourceFile> over = new LinkedBlockingQueue<>();
        private int opening;
        private volatile boolean closed;

        /**
         * @param stuck called by another thread if the caller's hangs in the source
         */
        Opening(SourceFolder folder, List<Entry> files, Runnable stuck) {
            this.folder = folder;
            this.stuck = stuck;
            this.waiting = files.iterator();
        }

        boolean hasNext() {
            return opening > 0 || waiting.hasNext();
        }

        /** Opens no further files; those being opened still come. */
        void noMore() {
            waiting = Collections.emptyIterator();
        }

        SourceFile next() throws InterruptedException {
            boolean fast = SourceThreads.isFast(folder.path());
            if (fast && opening == 0) {
                return SourceFile.here(folder, waiting.next(), engine.gauges().reading, engine.patience(), stuck);
            }
            for (; !fast && opening < OPENING_MAX && waiting.hasNext(); opening++) {
                SourceFile.beginOpening(
                        folder, waiting.next(), engine.gauges().reading, engine.patience(), this::isOver);
            }
            SourceFile next = over.take();
            opening--;
            return next;
        }

        private void isOver(SourceFile file) {
            over.add(file);
            if (closed) {
                close();
            }
        }

        @Override
        public void close() {
            closed = true;
            for (SourceFile left = over.poll(); left != null; left = over.poll()) {
                left.close();
            }
        }
    }
}
