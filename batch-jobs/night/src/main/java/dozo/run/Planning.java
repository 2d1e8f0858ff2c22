package dozo.run;

import dozo.file.Entry;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.manifest.UnprotectedEntries;
import dozo.manifest.UnprotectedEntries.Sum;
import dozo.plan.PlannedUnit;
import dozo.plan.Planner;
import dozo.plan.Work;
import dozo.registry.Experiments.Experiment;
import dozo.transfer.TransferUnits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
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
            List<PlannedUnit> batch = new ArrayList<>();
            boolean any = false;
            int[] links = unprotected.links(experimentId, flow.site(), afterEntry);
            BitSet isLink = new BitSet();
            Arrays.stream(links).forEach(isLink::set);
            try (Stream<Entry> entries = unprotected.stream(experimentId, flow.site(), afterEntry)) {
                for (Iterator<Entry> all = entries.iterator(); all.hasNext(); any = true) {
                    Entry entry = all.next();
                    if (!isLink.get(entry.number())) {
                        planner.add(entry, batch::add);
                    }
                    if (batch.size() >= UNITS_BATCH) {
                        units.add(flow.run(), experimentId, flow.site(), turn, batch);
                        batch.clear();
                    }
                }
            }
            planner.flush(batch::add);
            for (int i = 0; i < links.length; i += settings.bundleEntries()) {
                int end = Math.min(links.length, i + settings.bundleEntries());
                batch.add(planner.links(Arrays.copyOfRange(links, i, end)));
            }
            units.add(flow.run(), experimentId, flow.site(), turn, batch);
            return any;
        }
    }
}
