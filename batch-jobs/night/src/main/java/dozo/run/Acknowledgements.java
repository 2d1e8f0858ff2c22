package dozo.run;

import dozo.ledger.Findings;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Ledger;
import dozo.registry.Code;
import dozo.registry.Refusal;
import java.time.InstantSource;
import java.util.Map;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What people say of findings. An acknowledged finding needs nobody any more, and that is all: what is not safe is not safe, the
 * run still ended with findings, and what is found again is a finding again (ADR 0030).
 */
@Component
public class Acknowledgements {

    private static final int REASON_LENGTH_MAX = 500;

    private final Findings findings;
    private final Ledger ledger;
    private final InstantSource clock;

    Acknowledgements(Findings findings, Ledger ledger, InstantSource clock) {
        this.findings = findings;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Keeps who has acknowledged a finding and why. The ledger has all but the reason, which is a person's own words.
     *
     * @throws Refusal of the field {@code reason} when it is none, of {@code finding} when it is acknowledged already
     */
    @Transactional
    public void add(KeptFinding finding, String reason, String by) {
        String text = checked(reason);
        if (!findings.acknowledge(finding.id(), new Acknowledgement(by, clock.instant(), text))) {
            throw Refusal.conflict("finding", "finding %d has already been acknowledged", finding.id());
        }
        ledger.append(
                by,
                "finding.acknowledged",
                String.valueOf(finding.id()),
                Map.of("run", finding.runId(), "reason", finding.reason(), "before", "open", "after", "acknowledged"));
    }

    private static String checked(String reason) {
        String text = reason.strip();
        if (text.isEmpty() || text.codePointCount(0, text.length()) > REASON_LENGTH_MAX || !Code.isText(text)) {
            throw new Refusal(
                    "reason",
                    "expected a reason: one line of 1 to %d characters without control characters",
                    REASON_LENGTH_MAX);
        }
        return text;
    }
}
