package dozo.run;

import java.io.IOException;
import java.util.Optional;
import org.springframework.batch.infrastructure.item.ExecutionContext;
import org.springframework.stereotype.Component;

/** What the steps of a scrub do, each piece in one transaction and harmless when it is done twice. */
@Component
class ScrubSteps {

    private final Senders senders;

    ScrubSteps(Senders senders) {
        this.senders = senders;
    }

    void checkSite(long runId, int siteId) throws IOException, InterruptedException {
        senders.of(runId, siteId);
    }

    boolean readNext(long runId, int siteId, ExecutionContext context) throws IOException, InterruptedException {
        return false;
    }

    Optional<Integer> examineNext(long runId, int siteId, int after) throws IOException, InterruptedException {
        return Optional.empty();
    }

    void conclude(long runId, int siteId) {}
}
