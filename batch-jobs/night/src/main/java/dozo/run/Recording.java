package dozo.run;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.record.Records;
import dozo.record.Records.Due;
import dozo.record.Records.Made;
import dozo.registry.Refusal;
import dozo.remote.RemoteException;
import dozo.send.Route;
import dozo.send.Sender.Placing;
import dozo.send.Stay;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;

/**
 * Writes the records of the catalogue to the site at the end of a run. A failure is a finding, and the next run writes
 * what is missing. No transaction is open during requests to the site.
 */
@Component
record Recording(Records records, Findings findings, SiteAhead ahead, AtSite site, PaceWatch pace) {

    /** Records that are written together, with one command for all of their digests. */
    private static final int BATCH_MAX = 100;

    /** A failure that is likely to repeat for the others is one finding. */
    private static final int FAILURES_MAX = 10;

    /**
     * A record to write.
     *
     * @param experiment null: the base record
     */
    private record Writing(@Nullable Integer experiment, Made made) {}

    /** Writes what is missing at the site, if it {@linkplain SiteAhead#mayRecord may}. Returns the number of records. */
    int record(NightFlow flow) throws JobInterruptedException, InterruptedException {
        if (!ahead.mayRecord(flow.run(), flow.site())) {
            return 0;
        }
        List<Finding> failed = new ArrayList<>();
        int written = 0;
        try (Stay _ = pace.in(flow.run(), Limit.SETTLING)) {
            written = segments(flow, failed);
            written += write(flow, List.of(new Writing(null, records.base(flow.site()))), failed);
            site.of(flow, sender -> {
                sender.sweep(Route.record(FilePath.ROOT), Set.of());
                return null;
            });
        } catch (RemoteException | Refusal | UncheckedIOException e) {
            failed.add(finding(null, e));
        }
        findings.add(flow.run(), failed);
        return written;
    }

    private int segments(NightFlow flow, List<Finding> failed)
            throws RemoteException, JobInterruptedException, InterruptedException {
        int written = 0;
        int after = 0;
        List<Due> page = records.due(flow.site(), after, BATCH_MAX);
        while (!page.isEmpty()) {
            List<Made> made = records.segments(page, flow.site());
            List<Writing> batch = new ArrayList<>();
            for (int i = 0; i < made.size(); i++) {
                batch.add(new Writing(page.get(i).id(), made.get(i)));
            }
            after = page.get(made.size() - 1).id();
            written += write(flow, batch, failed);
            flow.check();
            page = records.due(flow.site(), after, BATCH_MAX);
        }
        return written;
    }

    /** Writes some records together; if the site refuses one of them, each by itself. */
    private int write(NightFlow flow, List<Writing> batch, List<Finding> failed)
            throws RemoteException, JobInterruptedException, InterruptedException {
        try {
            place(flow, batch);
            records.keep(batch.stream().map(Writing::made).toList());
            return batch.size();
        } catch (RemoteException e) {
            if (e.retryable() || failed.size() >= FAILURES_MAX) {
                throw e;
            }
            if (batch.size() == 1) {
                failed.add(finding(batch.getFirst().experiment, e));
                return 0;
            }
            int written = 0;
            for (Writing one : batch) {
                written += write(flow, List.of(one), failed);
            }
            return written;
        } finally {
            batch.forEach(one -> one.made.close());
        }
    }

    private void place(NightFlow flow, List<Writing> batch)
            throws RemoteException, JobInterruptedException, InterruptedException {
        List<Placing> files = batch.stream()
                .map(one -> new Placing(Route.record(one.made.file()), FilePath.ROOT, one.made.content()::read))
                .toList();
        site.of(flow, sender -> {
            sender.place(files);
            return null;
        });
    }

    private static Finding finding(@Nullable Integer experiment, Exception why) {
        return new Finding(
                experiment,
                Problem.UNRECORDED,
                "the catalogue could not be recorded at the site: %s; the next run tries again"
                        .formatted(why.getMessage()));
    }
}
