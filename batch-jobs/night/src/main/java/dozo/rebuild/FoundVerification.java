package dozo.rebuild;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import dozo.transfer.TransferUnits;
import dozo.verify.Bags;
import dozo.verify.FoundCopies;
import dozo.verify.FoundCopies.Found;
import dozo.verify.Receipts;
import dozo.verify.Receipts.Proof;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Verifies what a site claims to hold: the site computes the digests, as for a scrub. An equal copy gets a receipt; one
 * that differs or is missing is a finding and gets none. The claim goes in the same transaction. If the state of a copy
 * is unknown, its claim stays, to be looked at again.
 */
@Component
record FoundVerification(
        FoundCopies foundCopies,
        TransferUnits units,
        Receipts receipts,
        Bags bags,
        Experiments experiments,
        Coverage coverage,
        Findings findings,
        Ledger ledger,
        TransactionTemplate transaction) {

    record Verified(long entries, long bytes) {}

    /** Reads the copies of some claims of one experiment by one command, and keeps the results. */
    Verified verify(long run, int site, int experimentId, List<Found> claims, SiteReader reader)
            throws RemoteException, InterruptedException {
        Experiment experiment = experiments.find(experimentId).orElseThrow();
        Map<Found, List<SiteCopy>> copies = new HashMap<>();
        claims.forEach(claim -> copies.put(claim, foundCopies.copies(claim, site)));
        Map<SiteCopy, Seen> seen = new HashMap<>();
        List<SiteCopy> all = copies.values().stream().flatMap(List::stream).toList();
        reader.read(all).forEach(one -> seen.put(one.copy(), one));
        long entries = 0;
        long bytes = 0;
        for (Found claim : claims) {
            List<Seen> ofClaim = reader.search(
                    SiteFolders.of(experiment.name()),
                    requireNonNull(copies.get(claim)).stream()
                            .map(copy -> requireNonNull(seen.get(copy)))
                            .toList());
            if (ofClaim.stream().anyMatch(Seen::missing)) {
                checkMounted(experiment, reader);
            }
            transaction.executeWithoutResult(_ -> keep(run, site, experiment, claim, ofClaim, reader.method()));
            for (Seen one : ofClaim) {
                if (one instanceof Seen.AsProven(SiteCopy copy)) {
                    entries++;
                    bytes += copy.sizeBytes();
                }
            }
        }
        return new Verified(entries, bytes);
    }

    /** A missing mount is more likely than a complete loss: nothing is reported missing then. */
    private static void checkMounted(Experiment experiment, SiteReader reader)
            throws RemoteException, InterruptedException {
        if (!reader.names(FilePath.ROOT).containsKey(FilePath.of(experiment.project()))) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "project %s has no folder at the site any more: is its file system mounted?"
                            .formatted(experiment.project()));
        }
    }

    private void keep(long run, int site, Experiment experiment, Found claim, List<Seen> seen, String method) {
        receipts.lock(experiment.id());
        List<Proof> proofs = new ArrayList<>();
        List<Finding> found = new ArrayList<>();
        Set<Integer> unknown = new HashSet<>(claim.claimed().keySet());
        long bytes = 0;
        for (Seen one : seen) {
            SiteCopy copy = one.copy();
            switch (one) {
                case Seen.AsProven _ -> {
                    proofs.add(new Proof(copy.entryNumber(), copy.digest()));
                    bytes += copy.sizeBytes();
                    unknown.remove(copy.entryNumber());
                }
                case Seen.Damaged(var _, var _, var _, String message) -> {
                    found.add(finding(experiment, one.missing() ? Problem.MISSING : Problem.DAMAGED, copy, message));
                    unknown.remove(copy.entryNumber());
                }
                case Seen.Unknown(var _, String message) ->
                    found.add(finding(
                            experiment,
                            Problem.UNPROVEN,
                            copy,
                            message + "; its state is unknown: run dozo rebuild-catalogue again"));
            }
        }
        if (!foundCopies.remove(claim, site, unknown)) {
            return;
        }
        if (!proofs.isEmpty()) {
            int[] numbers = proofs.stream().mapToInt(Proof::entryNumber).toArray();
            long unit = units.addFound(run, experiment.id(), site, numbers, bytes);
            receipts.add(experiment.id(), site, unit, run, claim.manifest(), proofs, null, method, Ledger.SYSTEM);
        }
        findings.add(run, found);
    }

    private static Finding finding(Experiment experiment, Problem problem, SiteCopy copy, String message) {
        return new Finding(
                experiment.id(),
                problem,
                copy.name(),
                "%s: the copy at the site, %s, %s".formatted(copy.name(), copy.path(), message));
    }

    /** Counts an experiment with copies whose state is still unknown. */
    void count(int experimentId) {
        transaction.executeWithoutResult(_ -> receipts.count(experimentId));
    }

    /**
     * Counts an experiment of which nothing is left to verify, and records that its tag files list what was verified: the
     * next night finds nothing to do, unless they are not as the catalogue knows them. Harmless if repeated, but for its row in the ledger.
     */
    void conclude(long run, int site, int experimentId) {
        transaction.executeWithoutResult(_ -> {
            Experiment experiment = experiments.find(experimentId).orElseThrow();
            receipts.count(experimentId);
            receipts.settled(new int[] {experimentId}, site);
            if (bags.tagsUnknown(experimentId, site)) {
                bags.writeAgain(experimentId, site);
            }
            ExperimentCoverage covered = coverage.experiment(site, experimentId).orElseThrow();
            ledger.append(
                    Ledger.SYSTEM,
                    "experiment.verified",
                    experiment.name(),
                    Map.of(
                            "run", run,
                            "files", covered.files(),
                            "files_safe", covered.filesSafe(),
                            "bytes", covered.bytes(),
                            "bytes_safe", covered.bytesSafe()));
        });
    }
}
