package dozo.run;

import dozo.ledger.Findings;
import dozo.remote.RemoteException;
import dozo.run.AtSite.SourceAway;
import dozo.send.CopiesAtSite;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.Stay;
import dozo.transfer.ClaimedUnits;
import dozo.transfer.ClaimedUnits.Claim;
import dozo.transfer.ClaimedUnits.Result;
import dozo.transfer.ClaimedUnits.Share;
import dozo.transfer.OfferedLooks;
import dozo.transfer.TransferUnits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The flow of a backup that sends one partition. As many units are under way as the settings say, and some more while
 * sources do not respond. When a unit ends, the next one is claimed without waiting for the slowest. Outcomes are
 * recorded in batches of what has arrived since the last batch, each in a short transaction of its own.
 */
@Component
record Sending(
        OfferedLooks looks,
        TransferUnits units,
        ClaimedUnits claimed,
        Findings findings,
        Senders senders,
        Replications replications,
        AtSite site,
        NightFlows flows,
        SendingWatch watch,
        PaceWatch pace,
        TransferSettings settings,
        TransactionTemplate transaction) {

    /** A batch's transaction locks the sums of its experiments. */
    private static final int BATCH_MAX = 100;

    /** By this factor more units may be under way if some wait for sources that do not respond. */
    private static final int WAITING_FACTOR = 4;

    /**
     * The time between claims while there are only tiny units. All partitions claim at the same moments. Tiny units that begin together
     * cost the site and the database little more than one of them.
     */
    private static final long ROUND_NANOS = Duration.ofSeconds(1).toNanos();

    private static final Duration GATHERING_NAP = Duration.ofMillis(100);

    private static final long NONE = Long.MIN_VALUE;

    private static final Logger LOG = LoggerFactory.getLogger(Sending.class);

    /**
     * Sends until all sources are read and nothing is left to send. Returns the number of units.
     *
     * @throws JobInterruptedException if the run is asked to stop: then nothing of this partition is under way any
     * longer
     */
    int send(NightFlow flow, int partition) throws Exception {
        return new Window(flow, partition).run();
    }

    /** The units under way. Only the thread of the partition's step uses it. */
    private final class Window {

        private final NightFlow flow;
        private final int partition;
        private final BlockingQueue<Sent> ended = new LinkedBlockingQueue<>();
        private final Map<Long, Claim> underWay = new HashMap<>();
        private int count;
        private boolean stored;

        /** The round of the last claims, if they were all that there was, and tiny. */
        private long tinyRound = NONE;

        private @Nullable Exception failure;

        Window(NightFlow flow, int partition) {
            this.flow = flow;
            this.partition = partition;
        }

        int run() throws Exception {
            try {
                sendAll();
            } catch (RuntimeException e) {
                fail(e);
            }
            awaitUnderWay();
            flow.requireLease();
            Exception why = failure;
            if (why != null) {
                throw why;
            }
            return count;
        }

        private void sendAll() throws InterruptedException {
            while (!flow.ends()) {
                long heard = flow.rings();
                // Read before the units: if it is true, all units are planned by then.
                boolean looked = looks.isLooked(flow.run());
                boolean gathers = !looked && isSameRound();
                if (!gathers) {
                    fill();
                }
                if (!underWay.isEmpty()) {
                    record(ended.poll((gathers ? GATHERING_NAP : NightFlow.NAP).toMillis(), TimeUnit.MILLISECONDS));
                } else if (gathers) {
                    Thread.sleep(GATHERING_NAP);
                } else if (looked && !units.left(flow.run())) {
                    return;
                } else {
                    flow.await(heard);
                }
            }
        }

        /** Returns whether to claim later, because more tiny units are expected. */
        private boolean isSameRound() {
            return tinyRound == round();
        }

        private static long round() {
            return Math.floorDiv(System.nanoTime(), ROUND_NANOS);
        }

        private void fill() {
            double sum = 0;
            tinyRound = NONE;
            while (!flow.ends()) {
                List<Claim> waiting = underWay.values().stream()
                        .filter(claim -> claim.route().source().isSlow())
                        .toList();
                double room = Math.min(
                        settings.chunk() + weight(waiting) - weight(underWay.values()),
                        WAITING_FACTOR * settings.chunk() - weight(underWay.values()));
                Set<Integer> except = Stream.concat(
                                waiting.stream().map(Claim::experimentId), flow.leftToService().stream())
                        .collect(Collectors.toSet());
                // Many tiny units are claimed at once, and not each one as soon as another has ended.
                boolean pays = underWay.isEmpty() || room >= Math.min(1, settings.chunk() / 4.0);
                List<Claim> claims = room > 0 && pays
                        ? claimed.claim(
                                flow.run(),
                                flow.worker(),
                                partition,
                                new Share(BATCH_MAX, room, settings.limits()),
                                except)
                        : List.of();
                if (claims.isEmpty()) {
                    tinyRound = pays && sum > 0 && sum < 1 ? round() : NONE;
                    return;
                }
                sum += weight(claims);
                claims.forEach(this::begin);
            }
        }

        private double weight(Collection<Claim> claims) {
            return claims.stream()
                    .mapToDouble(claim -> claim.weight(settings.limits()))
                    .sum();
        }

        private void begin(Claim claim) {
            underWay.put(claim.unitId(), claim);
            Stay busy = watch.underWay(flow.run());
            Thread.ofVirtual()
                    .name("send-unit-" + claim.unitId())
                    .start(LogFields.inherited(() -> ended.add(sent(claim, busy))));
        }

        private Sent sent(Claim claim, Stay busy) {
            LogFields.setExperiment(claim.route().top().toString());
            try (busy) {
                Result result = site.of(flow, sender -> send(sender, claim));
                return new Sent(claim, result, null);
            } catch (Throwable e) {
                // Also an Error: the run waits for every unit.
                return new Sent(claim, null, e instanceof Exception failed ? failed : new IllegalStateException(e));
            }
        }

        private Result send(Sender sender, Claim claim) throws RemoteException, SourceAway, InterruptedException {
            Route route = replications.route(claim);
            List<Outcome> outcomes = sender.send(route, claim.unit(), claim.earlier());
            if (route.source() instanceof CopiesAtSite from) {
                for (Outcome outcome : outcomes) {
                    if (outcome instanceof Failed failed && failed.ofSource()) {
                        // NB: the unit is sent again when the site is back; what it has proven is found again.
                        throw new SourceAway(from.site(), failed.message());
                    }
                }
            }
            return new Result(claim, outcomes, sender.method());
        }

        private void awaitUnderWay() throws InterruptedException {
            if (flow.ends()) {
                senders.leaveSources(flow.run());
            }
            while (!underWay.isEmpty()) {
                record(ended.take());
            }
        }

        /** Records this and everything else that has arrived in the meantime. */
        private void record(@Nullable Sent first) {
            List<Result> results = new ArrayList<>();
            for (Sent sent = first; sent != null; sent = results.size() < BATCH_MAX ? ended.poll() : null) {
                underWay.remove(sent.claim().unitId());
                if (sent.result() != null && flow.joined() && sent.result().hasFailures()) {
                    leaveToService(sent.result());
                } else if (sent.result() != null) {
                    results.add(sent.result());
                } else if (sent.failure() != null && !(flow.ends() && sent.failure() instanceof InterruptedException)) {
                    // NB: a unit that left its source at the run's end has no outcome: it is sent when the run
                    // continues.
                    fail(sent.failure());
                }
            }
            if (results.isEmpty()) {
                return;
            }
            try (Stay _ = senders.recording(flow.run(), results.size())) {
                transaction.executeWithoutResult(_ -> claimed.record(results, flow.worker(), flows.host()));
                count += results.size();
                long proven = proven(results);
                pace.count(flow.run(), 0, proven);
                flow.proven(proven);
                noteStored(results);
            } catch (RuntimeException e) {
                fail(e);
            }
            flow.ring();
        }

        /** Notes once that the site has room: content was sent to it, and is verified there under its name. */
        private void noteStored(List<Result> results) {
            if (!stored
                    && senders.bytesMovedHere(flow.run()) > 0
                    && results.stream()
                            .flatMap(Result::proven)
                            .anyMatch(entry -> entry.facts().sizeBytes() > 0)) {
                findings.stored(flow.run());
                stored = true;
            }
        }

        /** Leaves a unit to the service, and everything of the same source if it cannot be read here at all. */
        private void leaveToService(Result result) {
            Claim claim = result.claim();
            Failed failed = result.failures().findFirst().orElseThrow();
            LOG.warn(
                    "unit {} of {} is left to the service: {}",
                    claim.unitId(),
                    claim.route().top(),
                    failed.message());
            if (failed.ofSource()) {
                flow.leaveToService(claim.experimentId());
            }
            try {
                claimed.leaveToService(claim.unitId(), flow.worker());
            } catch (RuntimeException e) {
                fail(e);
            }
        }

        private static long proven(List<Result> results) {
            return results.stream()
                    .flatMap(result -> result.outcomes().stream())
                    .filter(Verified.class::isInstance)
                    .count();
        }

        private void fail(Exception why) {
            if (failure == null) {
                failure = why;
            }
            flow.stop();
        }
    }

    /** The result of a unit, or why there is none. */
    private record Sent(
            Claim claim, @Nullable Result result, @Nullable Exception failure) {}
}
