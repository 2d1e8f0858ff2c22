package dozo.archive;

import dozo.copy.Copy;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.restore.ArchiveRestore;
import dozo.send.Crew;
import dozo.send.SiteReader;
import dozo.send.Throttle;
import dozo.source.delivery.DeliveryException;
import dozo.source.dicom.DataSet;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.Tag;
import dozo.source.dicomweb.Archive;
import dozo.source.dicomweb.Archive.Sent;
import dozo.source.dicomweb.Archive.There;
import dozo.source.dicomweb.Spool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Restores the DICOM instances of a manifest into an archive, a batch at a time: reads them from the site, looks what
 * the archive has already, sends the rest, and looks again. An instance is verified if the archive then has its bytes.
 * A restore that was interrupted is completed by running it again: what is there is read from the site, but not sent.
 */
final class InstanceRestore implements ArchiveRestore {

    private static final int BATCH_INSTANCES_MAX = 100;
    private static final long BATCH_BYTES_MAX = 256 << 20;

    /** Files that are read from the site, or looked up in the archive, at the same time. */
    private static final int AT_ONCE = 8;

    /** So many instances that fail one after the other are the archive's fault, not their own. */
    private static final int FAILURES_IN_A_ROW_MAX = 8;

    private static final String PAST = "a later file of this restore has the same SOPInstanceUID";

    private final ManifestPart part;
    private final ProvenRead site;
    private final Opening opening;
    private final boolean replaces;
    private final Throttle throttle;

    /** UIDs of studies and series with a verified instance. */
    private final Set<String> studies = new HashSet<>();

    private final Set<String> series = new HashSet<>();

    /**
     * Hashes of the SOPInstanceUIDs that are done, if the archive may replace instances: of two files with the same UID,
     * the second must not replace the first.
     */
    private final Set<Digest> done = new HashSet<>();

    /** The numbers of the latest entries of instances that an origin delivered with several contents, by their first places. */
    private final Map<FilePath, Integer> latest = new HashMap<>();

    /** The SOPInstanceUIDs of those that were read. */
    private final Map<FilePath, String> latestUids = new HashMap<>();

    private final List<Item> waiting = new ArrayList<>();
    private long waitingBytes;
    private int failuresInARow;
    private final Tally tally = new Tally();

    /** Opens the archive. */
    interface Opening {
        Archive open() throws IOException, InterruptedException;
    }

    InstanceRestore(ManifestPart part, ProvenRead site, Opening opening, boolean replaces, Throttle throttle) {
        this.part = part;
        this.site = site;
        this.opening = opening;
        this.replaces = replaces;
        this.throttle = throttle;
    }

    @Override
    public Progress run(Consumer<Finding> told) throws IOException, InterruptedException {
        tally.tell(told);
        part.select();
        part.reportUnmatched(told);
        try (Archive archive = opening.open();
                Batch batch = new Batch()) {
            Round round = new Round(archive, batch);
            part.items(this::compareAge);
            takeAll(false, round);
            if (!latest.isEmpty()) {
                takeAll(true, round);
            }
            tally.allTaken();
        }
        return progress();
    }

    private void compareAge(Item item) {
        FilePath path = item.entry().path();
        FilePath first = Spool.firstPlace(path);
        if (item.copy() != null && !first.equals(path)) {
            latest.merge(first, item.entry().number(), Math::max);
        }
    }

    private boolean mayBePast(Entry entry) {
        return latest.getOrDefault(Spool.firstPlace(entry.path()), 0) > entry.number();
    }

    /** Returns whether this restore has a later content of the same instance. */
    private boolean isPast(Fetched each) {
        Entry entry = each.entry();
        return mayBePast(entry) && each.sopUid().equals(latestUids.get(Spool.firstPlace(entry.path())));
    }

    /** @param past only entries with an earlier content; otherwise only the others */
    private void takeAll(boolean past, Round round) throws IOException, InterruptedException {
        part.items(item -> {
            if (mayBePast(item.entry()) == past) {
                take(item, round);
            }
        });
        round.run();
    }

    private void take(Item item, Round round) throws IOException, InterruptedException {
        Entry entry = item.entry();
        if (entry.facts().kind() == EntryKind.DIRECTORY) {
            return;
        }
        tally.take(entry.facts().sizeBytes());
        if (entry.facts().kind() == EntryKind.LINK) {
            notSent(entry, Problem.NOT_SENT, "it is a symbolic link");
        } else if (item.copy() == null) {
            notSent(entry, Problem.UNPROVEN, "was never verified at the site, so there is no copy to restore");
        } else {
            if (waiting.size() >= BATCH_INSTANCES_MAX
                    || waitingBytes + entry.facts().sizeBytes() > BATCH_BYTES_MAX) {
                round.run();
            }
            waiting.add(item);
            waitingBytes += entry.facts().sizeBytes();
        }
    }

    /** Does one batch after the other. */
    private final class Round {

        private final Archive archive;
        private final Batch batch;

        Round(Archive archive, Batch batch) {
            this.archive = archive;
            this.batch = batch;
        }

        /** Sends the waiting files. */
        void run() throws IOException, InterruptedException {
            List<Fetched> fetched = fetched();
            fetched.forEach(InstanceRestore.this::noteLatest);
            waiting.clear();
            waitingBytes = 0;
            List<Fetched> left = missing(fetched, false);
            while (!left.isEmpty()) {
                Map<String, Fetched> first = new LinkedHashMap<>();
                left.forEach(each -> first.putIfAbsent(each.sopUid(), each));
                send(List.copyOf(first.values()));
                left = missing(
                        left.stream().filter(each -> !first.containsValue(each)).toList(), false);
            }
        }

        private List<Fetched> fetched() throws IOException, InterruptedException {
            Map<Long, Fetched> fetched = new ConcurrentSkipListMap<>();
            try (Crew crew = new Crew(AT_ONCE)) {
                long offset = 0;
                for (Item item : waiting) {
                    long at = offset;
                    crew.start(() -> fetch(item, at).ifPresent(each -> fetched.put(at, each)));
                    // NB: an empty file, which is never sent, has a place too.
                    offset += Math.max(1, item.entry().facts().sizeBytes());
                }
                crew.join();
            }
            return List.copyOf(fetched.values());
        }

        private Optional<Fetched> fetch(Item item, long offset) throws IOException, InterruptedException {
            Entry entry = item.entry();
            StoredCopy copy = item.copy();
            if (copy == null) {
                throw new IllegalStateException("only files with a copy wait");
            }
            try {
                Fetched read = InstanceRead.of(site, entry, copy, batch, offset, throttle);
                if (archive.finds(read.proof().identity())) {
                    return Optional.of(read);
                }
                notSent(entry, Problem.NOT_SENT, InstanceRead.NO_UIDS);
            } catch (InstanceRead.NotSent e) {
                notSent(entry, Problem.NOT_SENT, String.valueOf(e.getMessage()));
            } catch (ProvenRead.Differs e) {
                notSent(entry, Problem.MISMATCHED, "the copy is not what was verified; check the site's disks");
            } catch (RemoteException e) {
                notSent(entry, SiteReader.problem(e), "cannot be read at the site: " + e.getMessage());
            }
            return Optional.empty();
        }

        /**
         * Looks what the archive has, counts it, and returns what is to be sent.
         *
         * @param sent whether they have been sent just now
         */
        private List<Fetched> missing(List<Fetched> all, boolean sent) throws IOException, InterruptedException {
            Map<Long, There> there = there(all);
            List<Fetched> missing = new ArrayList<>();
            List<Fetched> other = new ArrayList<>();
            for (Fetched each : all) {
                switch (there.getOrDefault(each.offset(), There.ABSENT)) {
                    case EQUAL -> verified(each, sent);
                    case OTHER -> other.add(each);
                    case ABSENT -> {
                        if (isPast(each)) {
                            notSent(each.entry(), Problem.NOT_SENT, PAST);
                        } else {
                            missing.add(each);
                        }
                    }
                }
            }
            for (Fetched each : other) {
                String kept = kept(each);
                if (kept == null) {
                    missing.add(each);
                } else {
                    differs(each, kept);
                }
            }
            return missing;
        }

        /** Returns why other bytes in the archive stay, beside that nobody asked to replace them; null: they may be replaced. */
        private @Nullable String kept(Fetched each) throws IOException, InterruptedException {
            if (isPast(each)) {
                return PAST;
            }
            if (!replaces) {
                return "";
            }
            if (done.contains(Digest.ofText(each.sopUid()))) {
                return "another file of this restore has the same SOPInstanceUID";
            }
            Optional<Digest> theirs = patient(archive.dataSet(each.proof().identity()));
            Optional<Digest> ours = patient(new HeaderReader().dataSet(batch.read(each.offset(), each.sizeBytes())));
            return theirs.isPresent() && theirs.equals(ours) ? null : "it is not known to be of the same patient";
        }

        private static Optional<Digest> patient(Optional<DataSet> dataSet) {
            return dataSet.map(DataSet::attributes).map(all -> all.get(Tag.PATIENT_ID.number()));
        }

        private Map<Long, There> there(List<Fetched> all) throws IOException, InterruptedException {
            Map<Long, There> there = new ConcurrentSkipListMap<>();
            try (Crew crew = new Crew(AT_ONCE)) {
                for (Fetched each : all) {
                    crew.start(() -> there.put(each.offset(), archive.find(each.proof())));
                }
                crew.join();
            }
            return there;
        }

        private void send(List<Fetched> some) throws IOException, InterruptedException {
            Sent sent;
            try {
                sent = archive.send(batch.parts(some), some.size());
            } catch (DeliveryException e) {
                failuresInARow++;
                if (!e.trouble().mayConcernOne() || failuresInARow == FAILURES_IN_A_ROW_MAX) {
                    throw e;
                }
                sent = new Sent.TooMuch(String.valueOf(e.getMessage()));
            }
            switch (sent) {
                case Sent.TooMuch much -> sendFewer(some, much.why());
                case Sent.Judged judged -> {
                    failuresInARow = 0;
                    some.forEach(each -> tally.moved(each.sizeBytes()));
                    judge(some, judged);
                }
            }
        }

        private void judge(List<Fetched> some, Sent.Judged judged) throws IOException, InterruptedException {
            List<Fetched> stored = new ArrayList<>();
            List<Fetched> unknown = new ArrayList<>();
            for (Fetched each : some) {
                Integer reason = judged.refused().get(each.sopUid());
                if (judged.stored().contains(each.sopUid())) {
                    stored.add(each);
                } else if (reason != null) {
                    notSent(
                            each.entry(),
                            Problem.NOT_SENT,
                            "the archive refused it: failure reason %04Xh".formatted(reason));
                } else {
                    unknown.add(each);
                }
            }
            readBack(stored);
            if (!unknown.isEmpty()) {
                String why = "the archive did not list it as stored: HTTP status " + judged.status();
                if (some.size() == 1) {
                    notSent(some.getFirst().entry(), Problem.NOT_SENT, why);
                } else {
                    sendFewer(unknown, why);
                }
            }
        }

        /** NB: a list without an answer may have been stored all the same. */
        private void sendFewer(List<Fetched> some, String why) throws IOException, InterruptedException {
            List<Fetched> left = missing(some, true);
            if (left.isEmpty()) {
                return;
            }
            if (some.size() == 1) {
                notSent(left.getFirst().entry(), Problem.NOT_SENT, why);
                return;
            }
            int half = (left.size() + 1) / 2;
            send(left.subList(0, half));
            if (half < left.size()) {
                send(left.subList(half, left.size()));
            }
        }

        /** Looks whether the archive has what it calls stored. */
        private void readBack(List<Fetched> stored) throws IOException, InterruptedException {
            Map<Long, There> there = there(stored);
            for (Fetched each : stored) {
                switch (there.getOrDefault(each.offset(), There.ABSENT)) {
                    case EQUAL -> verified(each, true);
                    case OTHER -> differs(each, "after it was sent");
                    case ABSENT ->
                        notSent(each.entry(), Problem.NOT_SENT, "the archive called it stored, but does not have it");
                }
            }
        }

        private void differs(Fetched each, String when) throws IOException, InterruptedException {
            Optional<DataSet> ours = new HeaderReader().dataSet(batch.read(each.offset(), each.sizeBytes()));
            Optional<DataSet> theirs = archive.dataSet(each.proof().identity());
            String difference = ours.isPresent() && theirs.isPresent()
                    ? ours.get().difference(theirs.get())
                    : "the attributes could not be compared";
            tally.differing();
            tally.finding(
                    each.entry().path(),
                    Problem.ARCHIVE_DIFFERS,
                    "the archive has other bytes under the same SOPInstanceUID%s: %s"
                            .formatted(when.isEmpty() ? "" : ", " + when, difference));
        }
    }

    private void noteLatest(Fetched each) {
        FilePath first = Spool.firstPlace(each.entry().path());
        if (Integer.valueOf(each.entry().number()).equals(latest.get(first))) {
            latestUids.put(first, each.sopUid());
        }
    }

    private void verified(Fetched each, boolean sent) {
        Archive.Identity identity = each.proof().identity();
        boolean study = studies.add(identity.studyUid());
        boolean one = series.add(identity.studyUid() + " " + identity.seriesUid());
        if (replaces) {
            done.add(Digest.ofText(each.sopUid()));
        }
        tally.found(study ? 1 : 0, one ? 1 : 0);
        tally.verified(each.sizeBytes(), sent);
    }

    private void notSent(Entry entry, Problem problem, String why) {
        tally.notSent(entry.path(), problem, why);
    }

    @Override
    public Counts counts() {
        return tally.counts();
    }

    @Override
    public Copy.Progress progress() {
        return tally.progress();
    }

    @Override
    public void close() {
        site.close();
    }
}
