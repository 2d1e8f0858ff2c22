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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

    /** With more entries, a first look is kept alone. */
    private static final long FIRST_ENTRIES_MAX = 1_000;

    /** First looks that are kept together at most. */
    private static final int FIRSTS_MAX = 32;

    private static final Logger LOG = LoggerFactory.getLogger(Looks.class);

    /** The first look at a small source, and whether there is something to send of it, once that is known. */
    private record First(Experiment experiment, int turn, SourceLook look, CompletableFuture<Boolean> planned) {

        boolean isPlanned() {
            try {
                return planned.join();
            } catch (CompletionException e) {
                if (e.getCause() instanceof RuntimeException why) {
                    throw why;
                }
                throw e;
            }
        }
    }

    UnderWay of(NightFlow flow) {
        return new UnderWay(flow);
    }

    /** The looks of a run that are under way in this process. Only the step's thread uses it. */
    final class UnderWay {

        private final NightFlow flow;
        private final RunPlan plan;
        private final BlockingQueue<Look> ended = new LinkedBlockingQueue<>();
        private final Set<Look> underWay = new HashSet<>();
        private final Firsts firsts = new Firsts();

        private UnderWay(NightFlow flow) {
            this.flow = flow;
            this.plan = planning.of(flow);
        }

        boolean isEmpty() {
            return underWay.isEmpty();
        }

        /** Looks that wait to be kept together read nothing, so they take no room; but workers get what they could read. */
        int room() {
            long waiting = flow.others().alive() > 0
                    ? 0
                    : underWay.stream().filter(Look::isWaiting).count();
            return settings.looks() - underWay.size() + Math.toIntExact(Math.min(waiting, FIRSTS_MAX));
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
            underWay.add(new Look(next, ingest, (look, seen) -> keep(next.experiment(), turn, look, seen), ended::add));
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
                if (look.hasEnded() && underWay.remove(look)) {
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

        private void keep(Experiment experiment, int turn, Look look, SourceLook seen) {
            boolean planned;
            if (!flow.joined() && seen.isFirst(FIRST_ENTRIES_MAX)) {
                First first = new First(experiment, turn, seen, new CompletableFuture<>());
                look.waits();
                ended.add(look);
                firsts.keep(first);
                planned = first.isPlanned();
            } else {
                planned = keepAlone(experiment, turn, seen);
            }
            if (planned) {
                flow.ring();
            } else if (!flow.joined()) {
                // Not in the transaction: it reads the source. If this process ends before, the next look does it.
                signs.examine(experiment);
            }
        }

        /**
         * Seals and plans the result of a look, all of it or nothing. A worker that has joined stores only what is sound,
         * and only if nobody has taken over the look: a source may be missing only on its machine.
         */
        private boolean keepAlone(Experiment experiment, int turn, SourceLook look) {
            return Boolean.TRUE.equals(transaction.execute(status -> {
                if (flow.joined() && offers.remove(flow.run(), flow.worker(), Set.of(experiment.id())) == 0) {
                    return false;
                }
                if (retries.keepLiving(experiment.id()).isEmpty()) {
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
        }

        /** Seals and plans first looks together: all of it or nothing. Returns the experiments of which there is something to send. */
        private Set<Integer> keepFirst(List<First> some) {
            int[] ids = some.stream().mapToInt(first -> first.experiment.id()).toArray();
            return requireNonNull(transaction.execute(_ -> {
                Set<Integer> living = retries.keepLiving(ids);
                List<First> kept = some.stream()
                        .filter(first -> living.contains(first.experiment.id()))
                        .toList();
                if (kept.isEmpty()) {
                    return Set.of();
                }
                SourceLook.sealFirst(kept.stream().map(First::look).toList());
                receipts.begin(living.stream().mapToInt(Integer::intValue).toArray());
                freezes.frozen(ids).forEach(freeze -> living.remove(freeze.experimentId()));
                return plan.addFirst(kept.stream()
                        .filter(first -> living.contains(first.experiment.id()))
                        .collect(Collectors.toMap(first -> first.experiment.id(), First::turn)));
            }));
        }

        /** Keeps first looks: those that come while others are being kept wait for the next transaction. */
        private final class Firsts {

            private final Deque<First> waiting = new ArrayDeque<>();
            private boolean busy;

            /** Keeps it, and whatever comes meanwhile; or leaves it to another thread that is at it. */
            void keep(First mine) {
                if (begins(mine)) {
                    for (List<First> some = next(); !some.isEmpty(); some = next()) {
                        keepTogether(some);
                    }
                }
            }

            private synchronized boolean begins(First mine) {
                waiting.add(mine);
                boolean begins = !busy;
                busy = true;
                return begins;
            }

            private synchronized List<First> next() {
                List<First> next = new ArrayList<>();
                while (next.size() < FIRSTS_MAX && !waiting.isEmpty()) {
                    next.add(waiting.remove());
                }
                busy = !next.isEmpty();
                return next;
            }

            /** If it fails for all together, each is kept alone, so that only those fail that must. */
            private void keepTogether(List<First> some) {
                try {
                    Set<Integer> planned = keepFirst(some);
                    some.forEach(first -> first.planned.complete(planned.contains(first.experiment.id())));
                } catch (Throwable e) { // NB: also an Error, because others wait for their results.
                    LOG.warn("{} first looks are kept one by one: {}", some.size(), e.toString());
                    some.forEach(first -> first.planned.completeAsync(
                            () -> keepAlone(first.experiment, first.turn, first.look), Runnable::run));
                }
            }
        }
    }
}
