package dozo.run;

import dozo.run.Looks.UnderWay;
import dozo.transfer.OfferedLooks;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;

/** Looks, in a worker that has joined a run, at the sources that the service offers, up to the limit (ADR 0080). */
@Component
class OfferedLooking {

    private static final Logger LOG = LoggerFactory.getLogger(OfferedLooking.class);

    private final OfferedLooks offers;
    private final Looks looks;

    OfferedLooking(OfferedLooks offers, Looks looks) {
        this.offers = offers;
        this.looks = looks;
    }

    /** Looks until the service has read everything. Returns the number of looks. */
    int look(NightFlow flow) throws JobInterruptedException, InterruptedException {
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
}
