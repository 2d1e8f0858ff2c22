package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Reason;
import dozo.registry.Refusal;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Acknowledgements of findings by people. They only mark a finding as needing nobody: unsafe data stays unsafe, the run
 * still ended with findings, and a problem that is found with another message is a new finding (ADR 0030, ADR 0056).
 */
@Component
public class Acknowledgements {

    private final Findings findings;
    private final Ledger ledger;
    private final InstantSource clock;

    Acknowledgements(Findings findings, Ledger ledger, InstantSource clock) {
        this.findings = findings;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Stores who has acknowledged a finding and why. The ledger gets everything but the reason, which is a person's own
     * words.
     *
     * @throws Refusal for the field {@code reason} if it is invalid, for {@code finding} if it is acknowledged already
     */
    @Transactional
    public void add(KeptFinding finding, String reason, String by) {
        String text = Reason.of(reason).text();
        if (!findings.acknowledge(finding.id(), new Acknowledgement(by, clock.instant(), text))) {
            throw Refusal.conflict("finding", "finding %d has already been acknowledged", finding.id());
        }
        ledger.append(
                by,
                "finding.acknowledged",
                String.valueOf(finding.id()),
                Map.of("run", finding.run(), "reason", finding.reason(), "before", "open", "after", "acknowledged"));
    }

    /**
     * Removes an acknowledgement: the finding is open again, unless it is over.
     *
     * @throws Refusal for {@code finding} if it is not acknowledged
     */
    @Transactional
    public void takeBack(KeptFinding finding, String by) {
        ledger.append(
                by,
                "finding.reopened",
                String.valueOf(finding.id()),
                Map.of("run", finding.run(), "reason", finding.reason(), "before", "acknowledged", "after", "open"));
        if (!findings.reopen(finding.id())) {
            throw Refusal.conflict("finding", "finding %d is not acknowledged", finding.id());
        }
    }

    /**
     * Acknowledges all open findings of one cause, with one ledger row.
     *
     * @param wanted their reason, and perhaps their project or experiment
     * @param upTo the highest id that the person has seen; later findings stay open
     * @return the number of findings acknowledged now
     * @throws Refusal for the field {@code reason} if it is invalid, for {@code finding} if none is open
     */
    @Transactional
    public int addAll(Sight sight, FindingFilter wanted, long upTo, String reason, String by) {
        String text = Reason.of(reason).text();
        int count = findings.acknowledge(sight, wanted, upTo, new Acknowledgement(by, clock.instant(), text));
        if (count == 0) {
            throw Refusal.conflict("finding", "none of these findings is open");
        }
        Map<String, Object> detail = new LinkedHashMap<>();
        detail.put("reason", requireNonNull(wanted.reason()));
        detail.put("findings", count);
        detail.put("last", upTo);
        detail.put("before", "open");
        detail.put("after", "acknowledged");
        ledger.append(by, "findings.acknowledged", subject(wanted), detail);
        return count;
    }

    private static String subject(FindingFilter wanted) {
        return Stream.of(wanted.experiment(), wanted.project())
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("all");
    }
}
