package dozo.ledger;

import dozo.file.Problem;
import org.jspecify.annotations.Nullable;

/**
 * Selects findings; null: any.
 *
 * @param open whether they need a person
 * @param project the project's code
 * @param experiment {@code project/experiment}, or {@link #NO_EXPERIMENT}
 */
public record FindingFilter(
        @Nullable Boolean open,
        @Nullable Problem reason,
        @Nullable String project,
        @Nullable String experiment,
        @Nullable Long run,
        @Nullable Integer siteId) {

    /** Selects the findings that concern a whole run. It is no experiment's code. */
    public static final String NO_EXPERIMENT = "-";

    /** Selects the findings that need a person, of all runs. */
    public static final FindingFilter OPEN = new FindingFilter(true, null, null, null, null, null);

    /** Selects the findings that need a person, of all runs to a site. */
    public static FindingFilter openAt(int siteId) {
        return new FindingFilter(true, null, null, null, null, siteId);
    }

    /** Returns the conditions on the findings. Only those that are needed, so that indexes are used. */
    String where() {
        String stands =
                "(f.superseded_by is null and a.finding_id is null and not is_over(e.retired_at, r.kind, s.removed_at))";
        String its =
                NO_EXPERIMENT.equals(experiment) ? "f.experiment_id is null" : "p.code || '/' || e.code = :experiment";
        return " where in_sight(:seen, p.code)"
                + and(open, Boolean.FALSE.equals(open) ? "not " + stands : stands)
                + and(reason, "f.reason = :reason")
                + and(project, "p.code = :project")
                + and(experiment, its)
                + and(run, "exists (select from run_finding l where l.run_id = :run and l.finding_id = f.finding_id)")
                + and(siteId, "r.site_id = :siteId");
    }

    private static String and(@Nullable Object wanted, String condition) {
        return wanted == null ? "" : " and " + condition;
    }
}
