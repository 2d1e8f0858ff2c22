package dozo.metrics;

import static java.util.stream.Collectors.joining;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The metrics of Dozo's own, in the order of the documentation. */
public enum Metric {
    COVERAGE_EXPERIMENTS("dozo_coverage_experiments", "Registered experiments.", "site"),
    COVERAGE_EXPERIMENTS_SAFE(
            "dozo_coverage_experiments_safe", "Experiments of which every entry has a receipt at the site.", "site"),
    COVERAGE_FILES("dozo_coverage_files", "Files of all current manifests.", "site"),
    COVERAGE_FILES_SAFE("dozo_coverage_files_safe", "Those of them that have a receipt at the site.", "site"),
    COVERAGE_BYTES("dozo_coverage_bytes", "Bytes of all current manifests.", "site"),
    COVERAGE_BYTES_SAFE("dozo_coverage_bytes_safe", "Those of them that have a receipt at the site.", "site"),
    OLDEST_UNPROTECTED(
            "dozo_oldest_unprotected_seconds",
            "How long the oldest experiment has waited that is not completely safe; 0: all are safe.",
            "site"),
    PROJECT_EXPERIMENTS("dozo_project_experiments", "Registered experiments of a project.", "site", "project"),
    PROJECT_EXPERIMENTS_SAFE(
            "dozo_project_experiments_safe", "Those of them that are completely safe.", "site", "project"),
    AT_RISK("dozo_experiments_at_risk", "Experiments in each state that is at risk.", "site", "state"),
    HEADLINE("dozo_headline", "1 for the kind of the headline, as in GET /api/v1/coverage.", "site", "kind"),
    HEADLINE_BAD("dozo_headline_bad", "1: the headline needs a person; 0: it does not.", "site"),
    RUN_ACTIVE("dozo_run_active", "1: a run of this kind is active, also if it is paused; 0: none.", "kind"),
    RUN_PAUSED("dozo_run_paused", "1: the active run is paused; 0: no run is."),
    RUN_BYTES(
            "dozo_run_bytes_total",
            "Bytes that this service has sent for the active run, repeated ones included. Begins at 0 with each run."),
    RUN_PLANNED("dozo_run_planned_bytes", "Bytes that are planned so far for the active run."),
    RUN_DONE("dozo_run_done_bytes", "Bytes of the finished units of the active run."),
    RUN_FAILED("dozo_run_failed_units", "Units of the active run that failed."),
    RUN_LAST_END(
            "dozo_run_last_end_timestamp_seconds",
            "When a run of this kind last ended in this state.",
            "kind",
            "state"),
    SITE_FREE("dozo_site_free_bytes", "Free space of the site at its last check.", "site"),
    SITE_TOTAL("dozo_site_total_bytes", "Space of the site at its last check.", "site"),
    SITE_CHECKED("dozo_site_checked_timestamp_seconds", "When the space of the site was last checked.", "site"),
    SCRUB_OLDEST(
            "dozo_scrub_oldest_seconds",
            "How long ago the stored copy was read that was not read for the longest time.",
            "site"),
    SCRUB_PROMISE("dozo_scrub_promise_seconds", "How long ago that may be: DOZO_SCRUB_MAX_AGE.", "site"),
    SCRUB_DAMAGED("dozo_scrub_damaged_copies", "Copies that were found damaged and are not repaired.", "site"),
    DRILL_OVERDUE("dozo_drill_overdue_projects", "Projects that were not rehearsed in time."),
    DRILL_FAILED("dozo_drill_failed_projects", "Projects whose last drill found something or was not finished."),
    FINDINGS("dozo_findings_open", "Findings that need a person; 1001: more than 1000.", "site", "reason"),
    WORKERS("dozo_workers", "Workers on other machines that have joined the active run."),
    SERVICE_ACTIVE("dozo_service_active", "1: this service is the active one; 0: it stands by."),
    SERVICES("dozo_services", "Services with this database in each state; all 0 with an embedded one.", "state"),
    CONNECTIONS("dozo_connections", "Connections to the database; waiting: threads without one.", "pool", "state"),
    SNAPSHOT_TIME("dozo_snapshot_timestamp_seconds", "When all these values were taken from the catalogue."),
    SNAPSHOT_COST("dozo_snapshot_duration_seconds", "How long that took.");

    /** How a metric changes. */
    enum Type {
        GAUGE,
        /** It only grows, or begins at 0 again. */
        COUNTER
    }

    private final String title;
    private final String help;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> labels;

    Metric(String title, String help, String... labels) {
        this.title = title;
        this.help = help;
        this.labels = List.of(labels);
    }

    /** Returns the table of the documentation. */
    public static String table() {
        return Arrays.stream(values())
                .map(each -> "| `%s` | %s | %s | %s |\n"
                        .formatted(
                                each.title,
                                each.type().name().toLowerCase(Locale.ROOT),
                                each.labels.stream().map("`%s`"::formatted).collect(joining(", ")),
                                each.help))
                .collect(joining("", "| metric | type | labels | |\n|---|---|---|---|\n", ""));
    }

    /** Returns its name in Prometheus. */
    String title() {
        return title;
    }

    String help() {
        return help;
    }

    /** Returns how it changes, which by Prometheus's convention the name says. */
    Type type() {
        return title.endsWith("_total") ? Type.COUNTER : Type.GAUGE;
    }

    List<String> labels() {
        return labels;
    }
}
