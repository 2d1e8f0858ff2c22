package dozo.run;

import dozo.crypto.Libcrypto;
import dozo.file.Size;
import dozo.plan.CostModel;
import dozo.plan.Measurement;
import dozo.plan.Work;
import dozo.send.Stay;
import dozo.transfer.TransferUnits;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.ExitStatus;
import org.springframework.batch.core.listener.StepExecutionListener;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.stereotype.Component;

/**
 * Measures how long this process sends while units are under way, and updates the site's cost model. The work of a process
 * that died is not counted, because its end is unknown.
 */
@Component
class SendingWatch implements StepExecutionListener {

    /**
     * How much the bytes sent may differ from the bytes proven, as a fraction; with more, the time was not spent on
     * sending.
     */
    private static final double RESENT_MAX = 0.1;

    private static final Logger LOG = LoggerFactory.getLogger(SendingWatch.class);

    private final CostModels models;
    private final TransferUnits units;
    private final Senders senders;
    private final Replications replications;
    private final NightFlows flows;
    private final TransferSettings settings;
    private final Map<Long, Begin> begins = new ConcurrentHashMap<>();

    /** The bytes that were sent before, and how long units have been under way since. */
    private static final class Begin {

        private final long bytesMoved;
        private int underWay;
        private long busyNanos;
        private long sinceNanos;

        Begin(long bytesMoved) {
            this.bytesMoved = bytesMoved;
        }

        synchronized void begun() {
            if (underWay++ == 0) {
                sinceNanos = System.nanoTime();
            }
        }

        synchronized void ended() {
            if (--underWay == 0) {
                busyNanos += System.nanoTime() - sinceNanos;
            }
        }

        synchronized Duration busy() {
            return Duration.ofNanos(busyNanos);
        }
    }

    SendingWatch(
            CostModels models,
            TransferUnits units,
            Senders senders,
            Replications replications,
            NightFlows flows,
            TransferSettings settings) {
        this.models = models;
        this.units = units;
        this.senders = senders;
        this.replications = replications;
        this.flows = flows;
        this.settings = settings;
    }

    @Override
    public void beforeStep(StepExecution step) {
        long run = NightlyBackupJob.run(step);
        if (replications.source(run).isPresent()) {
            // Its time is that of two sites, and says nothing about a night's.
            return;
        }
        begins.put(run, new Begin(senders.bytesMovedHere(run)));
    }

    /** Counts a unit of a run as under way. */
    Stay underWay(long run) {
        Begin begin = begins.get(run);
        if (begin == null) {
            return () -> {};
        }
        begin.begun();
        return begin::ended;
    }

    @Override
    public @Nullable ExitStatus afterStep(StepExecution step) {
        Begin begin = begins.remove(NightlyBackupJob.run(step));
        if (begin != null) {
            Duration took = begin.busy();
            if (took.compareTo(settings.learnFrom()) >= 0) {
                learn(step, begin, took);
            }
        }
        return null;
    }

    private void learn(StepExecution step, Begin begin, Duration took) {
        long run = NightlyBackupJob.run(step);
        Work verified = units.verified(run, flows.worker(run));
        int lanes = senders.lanes(run);
        long moved = senders.bytesMovedHere(run) - begin.bytesMoved;
        if (!tells(verified.bytes(), verified.entries(), moved, lanes)) {
            return;
        }
        CostModel model =
                models.learn(run, NightlyBackupJob.site(step), new Measurement(verified, lanes, took.toNanos() / 1e9));
        LOG.info(
                "run {} sent {} entries, {}, over {} lanes in {} s, with {}; learned cost for the next plan: {}/s a lane, {} ms an entry",
                run,
                verified.entries(),
                Size.text(verified.bytes()),
                lanes,
                took.toSeconds(),
                Libcrypto.note(),
                Size.text((long) model.bytesPerSecond()),
                "%.2f".formatted(1e3 * model.secondsPerEntry()));
    }

    /**
     * Returns whether a measurement is meaningful. What was at the site already, or was sent twice, says nothing about
     * the cost.
     */
    static boolean tells(long bytes, long entries, long moved, int lanes) {
        return entries > 0 && bytes >= 0 && lanes > 0 && Math.abs(moved - bytes) <= bytes * RESENT_MAX;
    }
}
