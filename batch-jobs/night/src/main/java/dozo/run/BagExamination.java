package dozo.run;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.registry.Experiments.Experiment;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import dozo.verify.Bags;
import dozo.verify.Bags.Lying;
import dozo.verify.Bags.Missed;
import dozo.verify.Copies;
import dozo.verify.Receipts;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Compares a bag with its expected content: unexpected files, copies that are missing or differ, and the tag files.
 * Each bag is one transaction of the caller.
 */
@Component
record BagExamination(
        Bags bags,
        Copies copies,
        Receipts receipts,
        ScrubFindings found,
        SiteAhead ahead,
        Findings findings,
        InstantSource clock) {

    private static final int BATCH = 5_000;

    /** The maximum number of unexpected names that are reported per bag; more would say nothing new. */
    private static final int UNEXPECTED_MAX = 1_000;

    private static final FilePath DATA = FilePath.of("data");

    private static final Logger LOG = LoggerFactory.getLogger(BagExamination.class);

    /**
     * Examines the bag of an experiment and returns the number of newly damaged copies. If the site is ahead, it may have other tag
     * files and more content than this database knows.
     */
    long examine(long runId, int siteId, Experiment experiment, SiteReader reader)
            throws RemoteException, InterruptedException {
        Instant begin = clock.instant();
        SiteFolders folders = SiteFolders.of(experiment.name());
        bags.beginListing(experiment.id(), siteId);
        list(reader, folders.data());
        bags.endListing();
        boolean known = !ahead.isAhead(runId);
        if (known) {
            tellUnexpected(runId, experiment);
        }
        long damaged = lookAtMissed(runId, siteId, experiment, folders, reader);
        if (known) {
            lookBesideData(runId, siteId, experiment, folders, reader);
        }
        bags.examined(experiment.id(), siteId, begin);
        if (!receipts.count(experiment.id())) {
            LOG.warn("{}: the stored coverage did not match the receipts and was corrected", experiment.name());
        }
        return damaged;
    }

    /**
     * Checks that the site's storage is mounted: if no project has a folder there, a missing mount is more likely than
     * a complete loss. It is called before anything is reported missing, in case it was unmounted in the meantime.
     */
    void checkMounted(int siteId, SiteReader reader) throws RemoteException, InterruptedException {
        List<String> projects = bags.projects(siteId);
        boolean any =
                reader.names(FilePath.ROOT).keySet().stream().anyMatch(folder -> projects.contains(folder.toString()));
        if (!projects.isEmpty() && !any) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "none of the %d projects that are stored at the site has a folder there, such as \"%s\": is its file system mounted?"
                            .formatted(projects.size(), projects.getFirst()));
        }
    }

    private void list(SiteReader reader, FilePath data) throws RemoteException, InterruptedException {
        List<Lying> batch = new ArrayList<>();
        int cut = data.bytes().length + 1;
        reader.list(data, (path, facts) -> {
            byte[] all = path.bytes();
            FilePath below = FilePath.of(Arrays.copyOfRange(all, cut, all.length));
            batch.add(new Lying(below, kind(facts), facts.sizeBytes()));
            if (batch.size() >= BATCH) {
                bags.addLying(batch);
                batch.clear();
            }
        });
        bags.addLying(batch);
    }

    private static @Nullable EntryKind kind(RemoteFacts facts) {
        return switch (facts.kind()) {
            case FILE -> EntryKind.FILE;
            case DIRECTORY -> EntryKind.DIRECTORY;
            case LINK -> EntryKind.LINK;
            case OTHER -> null;
        };
    }

    private void tellUnexpected(long runId, Experiment experiment) {
        List<FilePath> unexpected = bags.unexpected(experiment.id(), UNEXPECTED_MAX + 1);
        List<Finding> told = new ArrayList<>();
        for (FilePath path : unexpected.subList(0, Math.min(UNEXPECTED_MAX, unexpected.size()))) {
            told.add(new Finding(
                    experiment.id(),
                    Problem.UNEXPECTED,
                    path,
                    "%s: unexpected file in the bag at the site, not written by a backup; it is left alone. Find out who wrote it"
                            .formatted(path)));
        }
        if (unexpected.size() > UNEXPECTED_MAX) {
            told.add(new Finding(
                    experiment.id(),
                    Problem.UNEXPECTED,
                    "there are more than %,d unexpected files in the bag; the others are not listed"
                            .formatted(UNEXPECTED_MAX)));
        }
        findings.add(runId, told);
    }

    /** Checks what the listing lacks once more before anything is reported. */
    private long lookAtMissed(long runId, int siteId, Experiment experiment, SiteFolders folders, SiteReader reader)
            throws RemoteException, InterruptedException {
        long damaged = 0;
        List<Missed> missed = bags.missed(0, BATCH);
        while (!missed.isEmpty()) {
            Map<Integer, Long> receipts = new HashMap<>();
            missed.forEach(one -> receipts.put(one.entryNumber(), one.receiptId()));
            List<SiteCopy> suspects = copies.of(
                    experiment.id(),
                    siteId,
                    missed.stream().mapToInt(Missed::entryNumber).toArray());
            List<Seen> seen = ahead.search(runId, reader, folders, reader.lookAt(suspects));
            if (seen.stream().anyMatch(Seen::missing)) {
                checkMounted(siteId, reader);
            }
            damaged += found.keep(runId, siteId, experiment, seen, receipts::get, clock.instant())
                    .size();
            missed = bags.missed(missed.getLast().entryNumber(), BATCH);
        }
        return damaged;
    }

    /** Checks the tag files, and reports other files beside the data. */
    private void lookBesideData(long runId, int siteId, Experiment experiment, SiteFolders folders, SiteReader reader)
            throws RemoteException, InterruptedException {
        Map<FilePath, Digest> tagFiles = bags.tagFiles(experiment.id(), siteId);
        if (tagFiles.isEmpty()) {
            return;
        }
        List<Finding> told = new ArrayList<>();
        List<SiteCopy> written = new ArrayList<>();
        tagFiles.forEach((name, digest) ->
                written.add(new SiteCopy(0, EntryKind.FILE, name, folders.bag().resolve(name), digest, 0, true)));
        boolean altered = false;
        for (Seen one : reader.lookAt(written)) {
            Optional<String> what = switch (one) {
                case Seen.AsProven(var copy) -> Optional.empty();
                case Seen.Damaged(var copy, var kind, var digest, var message) ->
                    Optional.of("differs from what was written (%s); the next night writes it again".formatted(kind));
                case Seen.Unknown(var copy, String message) -> Optional.of(message);
            };
            altered |= one instanceof Seen.Damaged;
            what.ifPresent(text -> told.add(new Finding(
                    experiment.id(),
                    one instanceof Seen.Damaged ? Problem.TAGS_ALTERED : Problem.UNPROVEN,
                    "the tag file %s %s".formatted(one.copy().path(), text))));
        }
        for (FilePath path : reader.names(folders.bag()).keySet()) {
            FilePath name = FilePath.ROOT.resolve(path.name());
            if (!name.equals(DATA) && !tagFiles.containsKey(name)) {
                told.add(new Finding(
                        experiment.id(),
                        Problem.UNEXPECTED,
                        path + " is unexpected in the bag at the site, not written by a backup; it is left alone"));
            }
        }
        if (altered) {
            checkMounted(siteId, reader);
            bags.writeAgain(experiment.id(), siteId);
        }
        findings.add(runId, told);
    }
}
