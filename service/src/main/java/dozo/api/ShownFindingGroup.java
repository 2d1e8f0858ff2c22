package dozo.api;

import dozo.ledger.Findings.Group;
import java.time.Instant;

/**
 * Open findings with the same reason in the same experiment.
 *
 * @param latest the one with the highest id
 * @param since when the first of them was found
 */
public record ShownFindingGroup(ShownFinding latest, long count, Instant since) {

    static ShownFindingGroup of(Group group) {
        return new ShownFindingGroup(ShownFinding.of(group.latest()), group.count(), group.since());
    }
}
