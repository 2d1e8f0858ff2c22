package dozo.run;

import static java.util.stream.Collectors.groupingBy;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests;
import dozo.registry.Experiments.Experiment;
import dozo.remote.Challenge;
import dozo.send.DamageKind;
import dozo.send.SiteCopy;
import dozo.send.SiteReader.Seen;
import dozo.verify.Challenges.Asked;
import dozo.verify.Damages;
import dozo.verify.Damages.Damage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToLongFunction;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/**
 * Stores the results of reading copies: damage as evidence, and findings for people, in one transaction of the caller.
 */
@Component
record ScrubFindings(Damages damages, Manifests manifests, Findings findings, Ledger ledger) {

    /**
     * The maximum number of findings per experiment and reason in a run; more would say nothing new, and all damage is
     * stored.
     */
    private static final int TOLD_MAX = 1_000;

    /**
     * Stores damaged copies, and those whose state is unknown.
     *
     * @param receiptOf the latest receipt of an entry
     * @return the numbers of the damaged entries
     */
    List<Integer> keep(
            long runId, int siteId, Experiment experiment, List<Seen> seen, IntToLongFunction receiptOf, Instant now) {
        List<Damage> damaged = new ArrayList<>();
        List<Finding> found = new ArrayList<>();
        Set<Integer> current = currentOf(experiment.id(), seen);
        for (Seen one : seen) {
            switch (one) {
                case Seen.AsProven(var copy) -> {}
                case Seen.Damaged(SiteCopy copy, DamageKind kind, var digest, String message) -> {
                    damaged.add(
                            new Damage(copy.entryNumber(), receiptOf.applyAsLong(copy.entryNumber()), kind, digest));
                    found.add(new Finding(
                            experiment.id(),
                            kind == DamageKind.MISSING ? Problem.MISSING : Problem.DAMAGED,
                            copy.name(),
                            "%s: the copy at the site, %s, %s; %s"
                                    .formatted(
                                            copy.name(),
                                            copy.path(),
                                            message,
                                            cure(copy, current.contains(copy.entryNumber())))));
                }
                case Seen.Unknown(SiteCopy copy, String message) ->
                    found.add(new Finding(
                            experiment.id(),
                            Problem.UNPROVEN,
                            copy.name(),
                            "%s: the copy at the site, %s, %s; its state is unknown, and it will be read again"
                                    .formatted(copy.name(), copy.path(), message)));
            }
        }
        store(runId, siteId, experiment, damaged, found, now);
        return damaged.stream().map(Damage::entryNumber).toList();
    }

    /** Stores copies of which the site does not have all bytes, as two challenges about the same range have shown. */
    void keepNotHeld(long runId, int siteId, Experiment experiment, List<Asked> wrong, Instant now) {
        Map<SiteCopy, List<Asked>> byCopy = wrong.stream().collect(groupingBy(Asked::copy));
        List<Damage> damaged = new ArrayList<>();
        List<Finding> found = new ArrayList<>();
        byCopy.forEach((copy, asked) -> {
            long receipt = asked.stream()
                    .mapToLong(one -> one.draw().receiptId())
                    .max()
                    .orElseThrow();
            damaged.add(new Damage(copy.entryNumber(), receipt, DamageKind.ALTERED, null));
            Challenge first = asked.getFirst().challenge();
            found.add(new Finding(
                    experiment.id(),
                    Problem.NOT_HELD,
                    copy.name(),
                    "%s: the site does not have bytes %,d to %,d of its copy, %s: it answered two random challenges wrongly. Do not trust digests that it reports; ask its operator"
                            .formatted(copy.name(), first.offset(), first.offset() + first.length() - 1, copy.path())));
        });
        store(runId, siteId, experiment, damaged, found, now);
    }

    private void store(
            long runId, int siteId, Experiment experiment, List<Damage> damaged, List<Finding> found, Instant now) {
        damages.add(runId, experiment.id(), siteId, damaged, now);
        found.stream()
                .collect(groupingBy(Finding::reason))
                .forEach((reason, same) -> tell(runId, experiment.id(), reason, same, "view open_damage"));
        if (!damaged.isEmpty()) {
            ledger.append(
                    Ledger.SYSTEM,
                    "experiment.damaged",
                    experiment.name(),
                    Map.of("run", runId, "copies", damaged.size()));
        }
    }

    /**
     * Adds findings of one experiment and reason up to the maximum.
     *
     * @param all where all of them are stored
     */
    void tell(long runId, int experimentId, Problem reason, List<Finding> found, String all) {
        int before = findings.count(runId, experimentId, reason, TOLD_MAX + 1);
        List<Finding> told = new ArrayList<>(found.subList(0, Math.clamp(TOLD_MAX - (long) before, 0, found.size())));
        if (told.size() < found.size() && before <= TOLD_MAX) {
            told.add(new Finding(
                    experimentId,
                    reason,
                    "there are more than %,d such findings; the others are not listed. The %s has all damage"
                            .formatted(TOLD_MAX, all)));
        }
        findings.add(runId, told);
    }

    private Set<Integer> currentOf(int experimentId, List<Seen> seen) {
        int[] damaged = seen.stream()
                .filter(Seen.Damaged.class::isInstance)
                .mapToInt(one -> one.copy().entryNumber())
                .toArray();
        return damaged.length == 0
                ? Set.of()
                : manifests.current(experimentId, damaged).stream()
                        .map(entry -> entry.number())
                        .collect(Collectors.toSet());
    }

    private static String cure(SiteCopy copy, boolean current) {
        if (current) {
            return "the next night sends it again, if the source still has what was proven";
        }
        return copy.standing()
                ? "the source no longer has it, so it cannot be sent again"
                : "it is of an earlier manifest, so it cannot be sent again";
    }
}
