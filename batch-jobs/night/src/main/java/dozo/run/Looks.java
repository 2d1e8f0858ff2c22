package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Coverage;
import dozo.ledger.Findings;
import dozo.manifest.FreezeSigns;
import dozo.manifest.Freezes;
import dozo.manifest.Ingest;
import dozo.manifest.IngestSettings;
import dozo.manifest.Known;
import dozo.manifest.Manifests;
import dozo.manifest.SourceLook;
import dozo.manifest.SourceLook.Ingested;
import dozo.registry.Experiments.Experiment;
import dozo.run.Look.Next;
import dozo.run.Planning.RunPlan;
import dozo.transfer.OfferedLooks;
import dozo.transfer.OfferedLooks.Offer;
import dozo.verify.FoundCopies;
import dozo.verify.Receipts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Looks at sources, several at the same time, and seals and plans at once what is new in each, so that it is sent while
 * others are still read. No transaction is open while a source is read. A source that does not respond affects only its
 * own experiment.
 */
@Component
record Looks(
        Retries retries,
        Ingest ingest,
        Manifests manifests,
        Freezes freezes,
        FreezeSigns signs,
        Receipts receipts,
        FoundCopies foundCopies,
        OfferedLooks offers,
        Coverage coverage,
        Findings findings,
        Planning planning,
        IngestSettings settings,
        TransactionTemplate transaction) {

    UnderWay of(NightFlow flow) {
        return new UnderWay(flow);
    }

    /** The looks of a run that are under way in this process. Only the step's thread uses it. */
    final class UnderWay {

        private final NightFlow flow;
        private final RunPlan plan;
        private final BlockingQueue<Look> ended = new LinkedBlockingQueue<>();
        private final Set<Look> underWay = new HashSet<>();

        private UnderWay(NightFlow flow) {
            this.flow = flow;
            this.plan = planning.of(flow);
        }

        boolean isEmpty() {
            return underWay.isEmpty();
        }

        int room() {
            return settings.looks() - underWay.size();
        }

        IntStream experiments() {
            return underWay.stream().mapToInt(look -> look.experiment().id());
        }

        /** Returns what must be known of these experiments before their sources are read. */
        List<Next> nexts(List<Experiment> experiments) {
            if (experiments.isEmpty()) {
                return List.of();
            }
            int[] ids = experiments.stream().mapToInt(Experiment::id).toArray();
            Map<Integer, Known> known = ingest.known(ids);
            Set<Integer> safe = coverage.safe(flow.site(), ids);
            Set<Integer> waiting = foundCopies.waiting(known.keySet(), flow.site());
            return experiments.stream()
                    .map(each -> new Next(
                            each,
                            requireNonNull(known.get(each.id())),
                            safe.contains(each.id()),
                            waiting.contains(each.id())))
                    .toList();
        }

        void begin(Next next, int turn) {
            flow.reading().add(next.experiment().id());
            underWay.add(new Look(next, ingest, (look, _) -> keep(next.experiment(), turn, look), ended::add));
        }

        /** Begins looks that this worker has claimed. Removes the offers of experiments that the run no longer has. */
        void begin(List<Offer> claimed) {
            Map<Integer, Integer> turns = claimed.stream().collect(Collectors.toMap(Offer::experimentId, Offer::turn));
            for (Next next : nexts(retries.find(flow.run(), turns.keySet()))) {
                begin(next, requireNonNull(turns.remove(next.experiment().id())));
            }
            if (!turns.isEmpty()) {
                offers.remove(flow.run(), flow.worker(), turns.keySet());
            }
        }

        /** Waits for the end of a look, for a limited time. Returns all that have ended; fails if one of them has. */
        List<Look> ended() throws InterruptedException {
            List<Look> all = new ArrayList<>();
            Look look = ended.poll(NightFlow.NAP.toMillis(), TimeUnit.MILLISECONDS);
            for (; look != null; look = ended.poll()) {
                if (underWay.remove(look)) {
                    flow.reading().remove(look.experiment().id());
                    look.rethrow();
                    all.add(look);
                }
            }
            return all;
        }

        /** Gives up the looks whose source does not respond, and returns them. */
        List<Look> giveUpStuck() {
            List<Look> stuck = underWay.stream()
                    .filter(look -> look.isStuck(settings.patience()) && look.giveUp())
                    .toList();
            stuck.forEach(look -> {
                underWay.remove(look);
                flow.reading().remove(look.experiment().id());
            });
            return stuck;
        }

        /** Gives up unfinished looks, which others repeat, and waits for those that are storing their result. */
        void leave() throws InterruptedException {
            for (Look look : underWay) {
                look.leave();
            }
        }

        /**
         * Seals and plans the result of a look, all of it or nothing. A worker that has joined stores only what is sound,
         * and only if nobody has taken over the look: a source may be missing only on its machine.
         */
        private void keep(Experiment experiment, int turn, SourceLook look) {
            boolean planned = Boolean.TRUE.equals(transaction.execute(status -> {
                if (flow.joined() && offers.remove(flow.run(), flow.worker(), Set.of(experiment.id())) == 0) {
                    return false;
                }
                if (!retries.keepLiving(experiment.id())) {
                    return false;
                }
                Ingested ingested = look.seal();
                if (flow.joined() && (!ingested.findings().isEmpty() || manifests.lacksEarlier(experiment.id()))) {
                    status.setRollbackOnly();
                    return false;
                }
                findings.add(flow.run(), ingested.findings());
                if (ingested.sealed()) {
                    receipts.carryOver(experiment.id());
                }
                return !freezes.frozen(experiment.id()) && plan.add(experiment, turn);
            }));
            if (planned) {
                flow.ring();
            } else if (!flow.joined()) {
                // Not in the transaction: it reads the source. If this process ends before, the next look does it.
                signs.examine(experiment);
            }
        }
    }
}
