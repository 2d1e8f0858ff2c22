package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.manifest.UnprotectedEntries;
import dozo.manifest.UnprotectedEntries.Of;
import dozo.manifest.UnprotectedEntries.Sum;
import dozo.plan.PlannedUnit;
import dozo.plan.Planner;
import dozo.plan.Work;
import dozo.registry.Experiments.Experiment;
import dozo.transfer.TransferUnits;
import dozo.transfer.TransferUnits.Planned;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/** Makes units of what is not safe yet at the site of a run: every entry without a receipt (ADR 0018). */
@Component
record Planning(
        Coverage coverage,
        UnprotectedEntries unprotected,
        TransferUnits units,
        CostModels costModels,
        TransferSettings settings) {

    private static final int UNITS_BATCH = 500;
    private static final int BALANCED_FROM_BUNDLES = 64;

    /** Begins the plan of what this process looks at in a run. */
    RunPlan of(NightFlow flow) {
        return new RunPlan(flow);
    }

    /** The plan of one run. Its planner shares out the units, so only one thread adds to it at a time. */
    final class RunPlan {

        private final NightFlow flow;
        private final Planner planner;

        private RunPlan(NightFlow flow) {
            this.flow = flow;
            this.planner = new Planner(settings.partitions(), settings.limits(), costModels.of(flow.site()));
        }

        /**
         * Adds units in the transaction of the caller, but not of what a continued run has already planned. Returns false
         * if there is nothing to send.
         *
         * @param turn units with a lower turn are sent first
         */
        boolean add(Experiment experiment, int turn) {
            Optional<ExperimentCoverage> unsafe =
                    coverage.experiment(flow.site(), experiment.id()).filter(NightSteps::unsafe);
            if (unsafe.isEmpty()) {
                return false;
            }
            synchronized (planner) {
                expect(unsafe.get());
                return add(experiment.id(), turn, units.planned(flow.run(), experiment.id()));
            }
        }

        /**
         * Adds units of experiments whose first manifest was just sealed, in the transaction of the caller. Returns those of
         * which there is something to send.
         *
         * @param turns by experiment: units with a lower turn are sent first
         */
        Set<Integer> addFirst(Map<Integer, Integer> turns) {
            int[] ids = turns.keySet().stream().mapToInt(Integer::intValue).toArray();
            Map<Integer, ExperimentCoverage> unsafe = new HashMap<>(coverage.experiments(flow.site(), ids));
            unsafe.values().removeIf(each -> !NightSteps.unsafe(each));
            Set<Integer> linked = unprotected.linked(ids);
            Map<Integer, List<Entry>> entries = unprotected.first(ids).stream()
                    .collect(Collectors.groupingBy(
                            Of::experimentId, Collectors.mapping(Of::entry, Collectors.toList())));
            List<Planned> planned = new ArrayList<>();
            synchronized (planner) {
                unsafe.forEach((id, covered) -> {
                    int turn = requireNonNull(turns.get(id));
                    expect(covered);
                    if (linked.contains(id)) {
                        add(id, turn, 0);
                    } else {
                        Consumer<PlannedUnit> taker = unit -> planned.add(new Planned(id, turn, unit));
                        requireNonNull(entries.get(id)).forEach(entry -> planner.add(entry, taker));
                        planner.flush(taker);
                    }
                });
            }
            units.add(flow.run(), flow.site(), planned);
            return unsafe.keySet();
        }

        /**
         * Sets how much work to expect. Work that is little compared with what is under way at once is not divided finely
         * at its end: units of other experiments follow, every unit's files use all lanes, and each unit has a cost.
         */
        private void expect(ExperimentCoverage unsafe) {
            Work work = new Work(
                    Math.max(0, unsafe.bytes() - unsafe.bytesSafe()), Math.max(0, unsafe.files() - unsafe.filesSafe()));
            if (work.bytes() <= BALANCED_FROM_BUNDLES * settings.bundle().toBytes()
                    && work.entries() <= (long) BALANCED_FROM_BUNDLES * settings.bundleEntries()) {
                planner.expectPlenty();
            } else {
                planner.expect(work, size -> {
                    Sum sum = unprotected.sumUpTo(unsafe.experimentId(), flow.site(), size);
                    return new Work(sum.bytes(), sum.entries());
                });
            }
        }

        private boolean add(int experimentId, int turn, int afterEntry) {
            List<Planned> batch = new ArrayList<>();
            Consumer<PlannedUnit> taker = unit -> batch.add(new Planned(experimentId, turn, unit));
            boolean any = false;
            int[] links = unprotected.links(experimentId, flow.site(), afterEntry);
            BitSet isLink = new BitSet();
            Arrays.stream(links).forEach(isLink::set);
            try (Stream<Entry> entries = unprotected.stream(experimentId, flow.site(), afterEntry)) {
                for (Iterator<Entry> all = entries.iterator(); all.hasNext(); any = true) {
                    Entry entry = all.next();
                    if (!isLink.get(entry.number())) {
                        planner.add(entry, taker);
                    }
                    if (batch.size() >= UNITS_BATCH) {
                        units.add(flow.run(), flow.site(), batch);
                        batch.clear();
                    }
                }
            }
            planner.flush(taker);
            for (int i = 0; i < links.length; i += settings.bundleEntries()) {
                int end = Math.min(links.length, i + settings.bundleEntries());
                taker.accept(planner.links(Arrays.copyOfRange(links, i, end)));
            }
            units.add(flow.run(), flow.site(), batch);
            return any;
        }
    }
}
