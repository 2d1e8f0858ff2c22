package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.manifest.IngestSettings;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Partners;
import dozo.run.Agenda.Plan;
import dozo.run.Look.Next;
import dozo.run.Looks.UnderWay;
import dozo.run.Planning.RunPlan;
import dozo.send.Stay;
import dozo.transfer.OfferedLooks;
import dozo.transfer.OfferedLooks.Offer;
import dozo.transfer.TransferUnits;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The flow of a backup that finds what is to be sent. The service reads the sources in the order of the agenda, and
 * offers some of them to the workers that have joined. A replication reads no source.
 */
@Component
record Looking(
        Retries retries,
        Replications replications,
        TransferUnits units,
        OfferedLooks offers,
        Findings findings,
        Agenda agenda,
        Forecasts forecasts,
        Planning planning,
        Looks looks,
        Partners partners,
        PaceWatch pace,
        IngestSettings settings,
        TransactionTemplate transaction) {

    private static final Duration CURSOR_KEPT_EVERY = Duration.ofSeconds(1);

    /** For each look that the other workers can have under way, so many are offered: those under way, and the next ones. */
    private static final int OFFERS = 2;

    private static final Logger LOG = LoggerFactory.getLogger(Looking.class);

    /**
     * Reads the sources of all experiments of the run, except those that it had read before it was interrupted. A
     * replication plans what the current manifests lack at its site. A worker that has joined reads what the service
     * offers. Returns their number.
     *
     * @throws JobInterruptedException if the run is asked to stop in the meantime
     */
    int look(NightFlow flow) throws JobInterruptedException, InterruptedException {
        if (flow.joined()) {
            try (Stay _ = pace.in(flow.run(), Limit.LOOKING)) {
                return lookAtOffered(flow);
            }
        }
        units.cancelEarlier(flow.run(), flow.site());
        if (replications.source(flow.run()).isPresent()) {
            return planAll(flow);
        }
        Window window = new Window(flow, agenda(flow));
        try (Stay _ = pace.in(flow.run(), Limit.LOOKING)) {
            return window.run();
        } finally {
            window.looks.leave();
        }
    }

    /** Returns the experiments of the run that the agenda has, in its order; keeps the forecast of a run of all. */
    private List<Integer> agenda(NightFlow flow) {
        Plan planned = agenda.of(flow.site());
        Optional<Set<Integer>> only = retries.only(flow.run()).map(Set::copyOf);
        if (only.isEmpty()) {
            forecasts.keep(flow.run(), planned);
        }
        return planned.experiments().stream()
                .filter(id -> only.isEmpty() || only.get().contains(id))
                .toList();
    }

    /** Plans frozen experiments too: what their sources have lost is not looked at. */
    private int planAll(NightFlow flow) throws JobInterruptedException {
        RunPlan plan = planning.of(flow);
        boolean codesOnly = partners.needsCodes(flow.site());
        int count = 0;
        List<Experiment> page = retries.page(flow.run(), 0);
        while (!page.isEmpty()) {
            for (Experiment experiment : page) {
                flow.check();
                if (mayBeSent(experiment, codesOnly, flow)
                        && Boolean.TRUE.equals(transaction.execute(_ -> plan.add(experiment, 0)))) {
                    flow.ring();
                }
                count++;
            }
            page = retries.page(flow.run(), page.getLast().id());
        }
        offers.looked(flow.run());
        flow.ring();
        return count;
    }

    /** Leaves out an experiment whose names the site's partner could read. */
    private boolean mayBeSent(Experiment experiment, boolean codesOnly, NightFlow flow) {
        boolean may = !codesOnly || experiment.names().areCodes();
        if (!may) {
            findings.add(
                    flow.run(),
                    new Finding(
                            experiment.id(),
                            Problem.SITE_REFUSED,
                            "%s has no codes for names, so nothing of it is sent to a partner; register its source under another code, in a project with codes"
                                    .formatted(experiment.name())));
        }
        return may;
    }

    /** Looks at the sources that the service offers, up to the limit, until it has read everything (ADR 0080). */
    private int lookAtOffered(NightFlow flow) throws JobInterruptedException, InterruptedException {
        UnderWay underWay = looks.of(flow);
        int count = 0;
        try {
            while (true) {
                flow.check();
                flow.requireLease();
                long heard = flow.rings();
                boolean looked = offers.isLooked(flow.run());
                if (underWay.room() > 0) {
                    underWay.begin(offers.claim(flow.run(), flow.worker(), underWay.room()));
                }
                if (!underWay.isEmpty()) {
                    count += end(flow, underWay.ended());
                    underWay.giveUpStuck().forEach(look -> leaveToService(flow, look));
                } else if (looked) {
                    return count;
                } else {
                    flow.await(heard);
                }
            }
        } finally {
            underWay.leave();
        }
    }

    /** Removes the offers of unchanged sources, and leaves those whose result was not stored. What was stored has none any more. */
    private int end(NightFlow flow, List<Look> ended) {
        List<Integer> unchanged = new ArrayList<>();
        for (Look look : ended) {
            int experiment = look.experiment().id();
            if (look.isUnchanged()) {
                unchanged.add(experiment);
            } else {
                offers.leaveToService(flow.run(), flow.worker(), experiment);
            }
        }
        if (!unchanged.isEmpty()) {
            offers.remove(flow.run(), flow.worker(), unchanged);
        }
        return ended.size();
    }

    private void leaveToService(NightFlow flow, Look stuck) {
        LOG.warn(
                "{}: the source does not answer here; it is left to the service",
                stuck.experiment().name());
        offers.leaveToService(flow.run(), flow.worker(), stuck.experiment().id());
    }

    /** What the service looks at now, and what it has offered to workers. Only the step's thread uses it. */
    private final class Window {

        private final NightFlow flow;
        private final UnderWay looks;
        private final Order order;
        private final Set<Integer> offered = new HashSet<>();
        private final Set<Integer> takenBack = new HashSet<>();
        private final boolean codesOnly;
        private int kept;
        private long keptNanos = System.nanoTime();
        private int count;

        Window(NightFlow flow, List<Integer> first) {
            this.flow = flow;
            this.looks = Looking.this.looks.of(flow);
            this.codesOnly = partners.needsCodes(flow.site());
            this.kept = offers.lookedAfter(flow.run());
            this.order = new Order(first, kept);
        }

        int run() throws JobInterruptedException, InterruptedException {
            fill();
            while (!looks.isEmpty() || !offered.isEmpty()) {
                flow.check();
                flow.requireLease();
                looks.ended().forEach(this::end);
                looks.giveUpStuck().forEach(this::skip);
                endOffers();
                keepCursor();
                fill();
            }
            offers.looked(flow.run());
            flow.ring();
            return count;
        }

        private void fill() {
            boolean more = true;
            while (more && looks.room() > 0 && !flow.ends()) {
                Optional<Next> next = order.next();
                next.ifPresent(found -> looks.begin(found, order.turn));
                more = next.isPresent();
            }
            while (more
                    && offered.size()
                            < OFFERS * settings.looks() * flow.others().alive()
                    && !flow.ends()) {
                Optional<Next> next = order.next();
                next.ifPresent(this::offer);
                more = next.isPresent();
            }
            if (looks.room() > 0 && !offered.isEmpty() && !flow.ends()) {
                takeBack(offers.takeBack(flow.run(), flow.worker(), looks.room(), !more));
            }
        }

        private void offer(Next next) {
            offers.add(flow.run(), new Offer(next.experiment().id(), order.turn));
            offered.add(next.experiment().id());
        }

        private void takeBack(List<Offer> claimed) {
            List<Integer> ids = claimed.stream().map(Offer::experimentId).toList();
            offered.removeAll(ids);
            takenBack.addAll(ids);
            looks.begin(claimed);
        }

        private void end(Look look) {
            if (takenBack.remove(look.experiment().id())) {
                offers.remove(
                        flow.run(), flow.worker(), Set.of(look.experiment().id()));
            }
            count++;
        }

        private void skip(Look stuck) {
            String words = "the source has not answered for %d s and was skipped; check its file server"
                    .formatted(settings.patience().toSeconds());
            LOG.warn("{}: {}", stuck.experiment().name(), words);
            findings.add(flow.run(), new Finding(stuck.experiment().id(), Problem.UNREADABLE, words));
            count++;
        }

        /** Forgets the offers that workers have dealt with. */
        private void endOffers() {
            if (!offered.isEmpty()) {
                int before = offered.size();
                offered.retainAll(offers.left(flow.run()));
                count += before - offered.size();
            }
        }

        /** Stores the position for a restart: all experiments up to it have been read. */
        private void keepCursor() {
            if (System.nanoTime() - keptNanos < CURSOR_KEPT_EVERY.toNanos()) {
                return;
            }
            int done = order.readUpTo(
                    IntStream.concat(looks.experiments(), offered.stream().mapToInt(Integer::intValue)));
            if (done > kept) {
                offers.lookedAfter(flow.run(), done);
                kept = done;
            }
            keptNanos = System.nanoTime();
        }

        /** The order in which the service reads sources: first those of the agenda, then all others by their numbers. */
        private final class Order {

            /** The turns of the experiments of the agenda. */
            private final Map<Integer, Integer> turns = new HashMap<>();

            private final Deque<Integer> unread;
            private final Deque<Next> urgent = new ArrayDeque<>();
            private final Deque<Next> page = new ArrayDeque<>();

            /** Of the units of the last one: units with a lower turn are sent first. */
            private int turn;

            private int after;

            /**
             * @param first the experiments to read before all others, except those that the run had read before it was
             *     interrupted
             * @param after the others up to this one are read
             */
            Order(List<Integer> first, int after) {
                first.forEach(experiment -> turns.put(experiment, turns.size() + 1));
                this.unread = new ArrayDeque<>(first);
                unread.removeAll(units.planned(
                        flow.run(),
                        flow.site(),
                        first.stream().mapToInt(Integer::intValue).toArray()));
                this.after = after;
            }

            Optional<Next> next() {
                Optional<Next> urgent = nextOfAgenda();
                return urgent.isPresent() ? urgent : nextOfOthers();
            }

            private Optional<Next> nextOfAgenda() {
                while (!urgent.isEmpty() || !unread.isEmpty()) {
                    if (urgent.isEmpty()) {
                        urgent.addAll(pageOfAgenda());
                    } else {
                        Next found = urgent.remove();
                        turn = turnOf(found);
                        if (mayBeRead(found)) {
                            return Optional.of(found);
                        }
                    }
                }
                return Optional.empty();
            }

            private List<Next> pageOfAgenda() {
                List<Integer> ids = new ArrayList<>();
                while (ids.size() < Retries.PAGE && !unread.isEmpty()) {
                    ids.add(unread.remove());
                }
                return looks.nexts(retries.find(flow.run(), ids)).stream()
                        .sorted(Comparator.comparingInt(this::turnOf))
                        .toList();
            }

            private Optional<Next> nextOfOthers() {
                turn = Integer.MAX_VALUE;
                while (true) {
                    if (page.isEmpty()) {
                        page.addAll(looks.nexts(retries.page(flow.run(), after)));
                    }
                    Next found = page.poll();
                    if (found == null) {
                        return Optional.empty();
                    }
                    after = found.experiment().id();
                    if (!turns.containsKey(after) && mayBeRead(found)) {
                        return Optional.of(found);
                    }
                }
            }

            private int turnOf(Next next) {
                return requireNonNull(turns.get(next.experiment().id()));
            }

            /** Leaves out an experiment whose copies are not verified since a rebuild: nobody knows what to send of it. */
            private boolean mayBeRead(Next next) {
                Experiment experiment = next.experiment();
                if (next.waits()) {
                    findings.add(
                            flow.run(),
                            new Finding(
                                    experiment.id(),
                                    Problem.UNPROVEN,
                                    "some copies were found at the site and are not verified yet, so nothing of %s is backed up;"
                                                    .formatted(experiment.name())
                                            + " stop the service and run dozo rebuild-catalogue again"));
                }
                return !next.waits() && mayBeSent(experiment, codesOnly, flow);
            }

            /** Returns up to which number all have been read, except for those of the agenda, if these still have to be read. */
            int readUpTo(IntStream unread) {
                return unread.filter(experiment -> !turns.containsKey(experiment))
                        .map(experiment -> experiment - 1)
                        .min()
                        .orElse(after);
            }
        }
    }
}
