package dozo.run;

import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.registry.Experiments;
import dozo.remote.RemoteException;
import dozo.transfer.TransferUnits;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/** The steps of a backup after everything is sent and settled. Each is harmless if it is repeated. */
@Component
record NightSteps(
        Experiments experiments,
        Retries retries,
        TransferUnits units,
        Coverage coverage,
        Findings findings,
        AtSite site,
        InstantSource clock,
        TransactionTemplate transaction) {

    private static final int COVERAGE_PAGE = 500;

    /** No check of a site takes longer. */
    private static final Duration PROBE_AGE_MAX = Duration.ofDays(1);

    /**
     * Compares the receipts of every experiment of the run with its sealed manifest. A gap that has no finding in this
     * run becomes one, so that no run can end "complete" over a gap. An experiment without a manifest has a finding
     * from its ingest, or was registered since.
     */
    void compare(long runId, int siteId) {
        transaction.executeWithoutResult(_ -> unsafe(runId, siteId)
                .filter(experiment -> !findings.any(runId, experiment.experimentId()))
                .forEach(experiment -> findings.add(runId, unsettled(experiment))));
    }

    /**
     * Removes the temporary names that this run and earlier ones left, also those of frozen or unsettled experiments,
     * but not those that the next run continues. If the site refuses a removal, that is a finding. No transaction is
     * open during requests to the site. Returns the number of findings.
     */
    int sweep(NightFlow flow) throws RemoteException, JobInterruptedException, InterruptedException {
        List<String> left = site.of(
                flow,
                sender -> sender.sweepAll(
                        name -> underWay(name, flow.site()), clock.instant().minus(PROBE_AGE_MAX)));
        findings.add(
                flow.run(),
                left.stream()
                        .map(why -> new Finding(null, Problem.SITE_REFUSED, why))
                        .toList());
        return left.size();
    }

    private Optional<Set<Integer>> underWay(String name, int siteId) {
        return experiments.find(name).map(experiment -> units.underWay(experiment.id(), siteId));
    }

    /** Returns the run's experiments that have a manifest and are not safe. */
    private Stream<ExperimentCoverage> unsafe(long runId, int siteId) {
        return retries.only(runId)
                .map(only -> only.stream()
                        .flatMap(id -> coverage.experiment(siteId, id).stream())
                        .filter(NightSteps::unsafe))
                .orElseGet(() -> Stream.iterate(
                                coverage.unsafe(siteId, 0, COVERAGE_PAGE),
                                page -> !page.isEmpty(),
                                page -> coverage.unsafe(siteId, page.getLast().experimentId(), COVERAGE_PAGE))
                        .flatMap(List::stream));
    }

    static boolean unsafe(ExperimentCoverage experiment) {
        return experiment.manifest() != null && !experiment.safe();
    }

    private static Finding unsettled(ExperimentCoverage experiment) {
        String message = "%d of %d files and %d of %d bytes of manifest %d have receipts"
                .formatted(
                        experiment.filesSafe(),
                        experiment.files(),
                        experiment.bytesSafe(),
                        experiment.bytes(),
                        experiment.manifest());
        return new Finding(experiment.experimentId(), Problem.UNSETTLED, message);
    }
}
