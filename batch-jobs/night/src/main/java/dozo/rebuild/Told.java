package dozo.rebuild;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Finding;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The findings about one bag, up to a number for each reason; one more counts the rest. Thread-safe. */
final class Told {

    private static final int EACH_MAX = 1_000;

    private final int experimentId;
    private final List<Finding> findings = new ArrayList<>();
    private final Map<Problem, Integer> counts = new EnumMap<>(Problem.class);

    Told(int experimentId) {
        this.experimentId = experimentId;
    }

    synchronized void add(Problem problem, @Nullable FilePath path, String message) {
        if (counts.merge(problem, 1, Integer::sum) <= EACH_MAX) {
            findings.add(new Finding(experimentId, problem, path, message));
        }
    }

    synchronized int count(Problem problem) {
        return counts.getOrDefault(problem, 0);
    }

    synchronized List<Finding> findings() {
        List<Finding> all = new ArrayList<>(findings);
        counts.forEach((problem, count) -> {
            if (count > EACH_MAX) {
                all.add(new Finding(
                        experimentId,
                        problem,
                        "more findings of this kind, which are not listed: %,d".formatted(count - EACH_MAX)));
            }
        });
        return all;
    }
}
