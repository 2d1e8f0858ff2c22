package dozo.run;

import dozo.certificate.Checkpoint;
import dozo.certificate.Checkpoints;
import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Anchor;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.record.OwnFiles;
import dozo.record.Records;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Reads what Dozo wrote for itself at a site: records of the catalogue, replaced tag files and the ledger's anchors. The next night
 * writes records anew that no damaged one is needed for. Each call is one transaction of the caller.
 */
@Component
record OwnFilesExamination(
        OwnFiles own,
        Records records,
        Ledger ledger,
        Checkpoints checkpoints,
        Sites sites,
        BagExamination bags,
        Findings findings) {

    private static final int BATCH = 1_000;

    /** Reads the records of an experiment, and the tag files that were replaced in its bag. */
    void examine(long runId, int siteId, Experiment experiment, SiteReader reader)
            throws RemoteException, InterruptedException {
        Map<FilePath, Long> there = files(reader, Records.FOLDER.resolve(experiment.name()));
        FilePath versions = SiteFolders.of(experiment.name()).versions();
        for (FilePath version : reader.names(versions).keySet()) {
            there.putAll(files(reader, version));
        }
        read(runId, siteId, experiment.id(), there, own.of(siteId, experiment.id()), reader);
    }

    /** Reads the base records, the anchors and the checkpoints. */
    void examine(long runId, int siteId, SiteReader reader) throws RemoteException, InterruptedException {
        Map<FilePath, Long> there = files(reader, Records.FOLDER);
        Map<FilePath, Digest> known = own.of(siteId, null);
        known.keySet().forEach(path -> there.putIfAbsent(path, 0L));
        records.superseded(siteId, there.keySet()).ifPresent(unneeded -> {
            there.keySet().removeAll(unneeded);
            known.keySet().removeAll(unneeded);
        });
        read(runId, siteId, null, there, known, reader);
        Map<FilePath, Digest> anchors = new TreeMap<>();
        ledger.anchors(sites.find(siteId).orElseThrow().name())
                .forEach(anchor -> anchors.put(Anchor.file(anchor.seq()), Digest.ofContent(anchor.line())));
        Map<FilePath, Long> notes = files(reader, Checkpoint.FOLDER);
        checkpoints.all().forEach(made -> {
            FilePath file = Checkpoint.file(made.size(), made.note());
            if (notes.containsKey(file)) {
                anchors.put(file, Digest.ofText(made.note()));
            }
        });
        read(runId, siteId, null, Map.of(), anchors, reader);
    }

    /** Returns the files in a folder, with their sizes in bytes. */
    private static Map<FilePath, Long> files(SiteReader reader, FilePath folder)
            throws RemoteException, InterruptedException {
        Map<FilePath, Long> files = new TreeMap<>();
        reader.names(folder).forEach((path, facts) -> {
            if (facts.kind() == Kind.FILE) {
                files.put(path, facts.sizeBytes());
            }
        });
        return files;
    }

    /** Compares files with their known digests, and keeps the digests of others. */
    private void read(
            long runId,
            int siteId,
            @Nullable Integer experimentId,
            Map<FilePath, Long> there,
            Map<FilePath, Digest> known,
            SiteReader reader)
            throws RemoteException, InterruptedException {
        Set<FilePath> paths = new TreeSet<>(there.keySet());
        paths.addAll(known.keySet());
        List<SiteCopy> copies = paths.stream()
                .map(path -> new SiteCopy(
                        0,
                        EntryKind.FILE,
                        path,
                        path,
                        known.getOrDefault(path, Digest.OF_NOTHING),
                        there.getOrDefault(path, 0L),
                        false))
                .toList();
        List<Finding> told = new ArrayList<>();
        for (int i = 0; i < copies.size(); i += BATCH) {
            for (Seen one : reader.read(copies.subList(i, Math.min(copies.size(), i + BATCH)))) {
                FilePath path = one.copy().path();
                boolean isKnown = known.containsKey(path);
                switch (one) {
                    case Seen.AsProven _ when isKnown -> {}
                    case Seen.AsProven(var copy) -> own.keep(siteId, experimentId, path, copy.digest());
                    case Seen.Damaged(var _, var _, var _, String message)
                    when isKnown -> told.add(damaged(siteId, experimentId, path, message));
                    case Seen.Damaged(var _, var _, var found, var _)
                    when found != null -> own.keep(siteId, experimentId, path, found);
                    case Seen.Damaged _ -> {}
                    case Seen.Unknown(var _, String message) ->
                        told.add(new Finding(experimentId, Problem.UNPROVEN, path + ": " + message));
                }
            }
        }
        if (!told.isEmpty()) {
            bags.checkMounted(siteId, reader);
        }
        findings.add(runId, told);
    }

    private Finding damaged(int siteId, @Nullable Integer experimentId, FilePath path, String why) {
        if (path.startsWith(Records.FOLDER)) {
            records.renew(siteId, experimentId);
            return new Finding(
                    experimentId,
                    Problem.UNRECORDED,
                    "the record of the catalogue %s %s; the next night writes a new one that does not need it"
                            .formatted(path, why));
        }
        return path.startsWith(Anchor.FOLDER) || path.startsWith(Checkpoint.FOLDER)
                ? new Finding(
                        null,
                        Problem.UNANCHORED,
                        "the anchor %s %s; later anchors prove its row as well: check them with `dozo ledger verify`"
                                .formatted(path, why))
                : new Finding(
                        experimentId,
                        Problem.TAGS_ALTERED,
                        "the earlier tag file %s %s; it cannot be written again, and no restore needs it"
                                .formatted(path, why));
    }
}
