package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.alert.Alerts;
import dozo.alert.Alerts.Changed;
import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.alert.Conditions;
import dozo.remote.SiteAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each condition is found by the next look after it began, is raised once, and is over by the next look after it ended. */
class ConditionsTest {

    @TempDir
    Path folder;

    /**
     * A condition, and how it begins and ends.
     *
     * @param project null: it is not a project's
     */
    private record Seed(Kind kind, @Nullable String project, String subject, String begin, String end) {}

    private static final String ACKNOWLEDGED = """
            insert into acknowledgement (finding_id, acknowledged_by, acknowledged_at, reason)
            select finding_id, 'x', now(), 'x' from finding f
            where not exists (select from acknowledgement a where a.finding_id = f.finding_id)
            """;

    private static final Set<Kind> OF_SOURCE =
            Set.of(Kind.FROZEN, Kind.LATE, Kind.LATE_SOON, Kind.SOURCE_MISSING, Kind.BLOCKED, Kind.BROKEN_DELETED_SOON);

    private static final List<Seed> SEEDS = List.of(
            new Seed(
                    Kind.FROZEN,
                    "p",
                    "p/E1",
                    """
                    insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                    values (1, 1, now(), 1, 1, 'x')
                    """,
                    "update frozen_experiment set released_at = now(), released_by = 'x', ended_at = now()"),
            new Seed(Kind.LATE, "p", "p/E1", waiting("4 days"), "delete from protection"),
            new Seed(Kind.LATE_SOON, "p", "p/E1", waiting("60 hours"), "delete from protection"),
            new Seed(
                    Kind.LATE,
                    "p",
                    "p/E1",
                    "with changed as (update project set late_hours = 24 returning 1) " + waiting("25 hours"),
                    "with changed as (update project set late_hours = null returning 1) delete from protection"),
            new Seed(
                    Kind.LATE_SOON,
                    "p",
                    "p/E1",
                    "with changed as (update project set late_hours = 24 returning 1) " + waiting("19 hours"),
                    "with changed as (update project set late_hours = null returning 1) delete from protection"),
            finding(Kind.DAMAGED, "DAMAGED"),
            new Seed(
                    Kind.SOURCE_MISSING,
                    "p",
                    "p/E1",
                    "with waiting as (" + waiting("1 hour").replaceAll("\\s+$", "") + " returning 1)"
                            + found("1", "SOURCE_MISSING"),
                    ACKNOWLEDGED),
            finding(Kind.BLOCKED, "UNREADABLE"),
            brokenAndDeletedSoon("delete from scanner"),
            brokenAndDeletedSoon("update scanner set purge_days = 30"),
            brokenAndDeletedSoon("update scanner set purge_days = null"),
            brokenAndDeletedSoon("update experiment set acquired_on = current_date - 9"),
            brokenAndDeletedSoon(ACKNOWLEDGED),
            ofSite(Kind.SITE_KEY_CHANGED),
            ofSite(Kind.SITE_FULL),
            ofSite(Kind.SITE_UNREACHABLE),
            ofSite(Kind.SITE_UNUSABLE),
            ofSite(Kind.RUN_FAILED),
            new Seed(
                    Kind.SITE_FILLING,
                    null,
                    "dr",
                    "insert into site_space (site_id, day, seen_at, total_bytes, free_bytes) values (1, current_date, now(), 1000000, 0)",
                    "delete from site_space"),
            new Seed(
                    Kind.ERASURE_REQUESTED,
                    "p",
                    "p/E1",
                    """
                    insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at)
                    values (1, 'E1', 1, now(), 'wish', 'lab', now())
                    """,
                    "update erasure set approved_by = 'admin', approved_at = now(), not_before = now()"),
            new Seed(
                    Kind.NOT_ERASED,
                    "p",
                    "p/E1",
                    "update erasure set message = 'hold 1 stands on p'",
                    "update erasure set message = ''"),
            new Seed(
                    Kind.LEDGER_BROKEN,
                    null,
                    "",
                    "insert into ledger_verification (began_at, verdict, rows_checked, breaches) values (now(), 'BROKEN', 9, 1)",
                    "insert into ledger_verification (began_at, verdict, rows_checked, breaches) values (now(), 'INCOMPLETE', 9, 0)"),
            new Seed(
                    Kind.COMMITMENT_NOT_REPORTED,
                    null,
                    "MR",
                    """
                    insert into commitment (caller, transaction_uid, class_uids, instance_uids, asked_at, given_up_at)
                    values ('MR', '1.2', '{1}', '{2}', now(), now() - interval '6 days')
                    """,
                    "update commitment set given_up_at = now() - interval '8 days'"),
            new Seed(Kind.NOBODY_STANDS_BY, null, "two", """
                    insert into service_seen (name, url, version, seen_at, stopped) values ('two', '', '1', now() - interval '1 hour', false)
                    """, "delete from service_seen"),
            new Seed(
                    Kind.NO_NIGHT,
                    null,
                    "dr",
                    "update run set started_at = now() - interval '4 days'",
                    "update run set started_at = now()"));

    @Test
    void eachIsRaisedOnceAndIsOverWhenItEnds() throws Exception {
        SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
        try (Night night = Night.on(nowhere)) {
            night.register("E1", Files.createDirectory(folder.resolve("source")));
            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now(), now())
                    """);
            Conditions conditions = night.get(Conditions.class);
            Alerts alerts = night.get(Alerts.class);
            assertThat(conditions.now()).isEmpty();

            for (Seed seed : SEEDS) {
                night.update(seed.begin);
                assertThat(conditions.now())
                        .as(seed.kind.name())
                        .filteredOn(each -> each.kind() == seed.kind)
                        .singleElement()
                        .satisfies(each -> {
                            assertThat(each.project()).isEqualTo(seed.project);
                            assertThat(each.subject()).isEqualTo(seed.subject);
                            assertThat(each.count()).isEqualTo(1);
                        });
                assertThat(conditions.now()).extracting(Condition::kind).containsExactly(seed.kind);
                assertThat(alerts.evaluate(conditions.now())).isEqualTo(new Changed(1, 0));
                assertThat(alerts.evaluate(conditions.now())).isEqualTo(new Changed(0, 0));

                night.update(seed.end);
                assertThat(conditions.now()).as("after " + seed.kind).isEmpty();
                assertThat(alerts.evaluate(conditions.now())).isEqualTo(new Changed(0, 1));
            }
        }
    }

    /** Only a drill with the key, without differences, in time and within the promise, needs nobody. */
    @Test
    void drillsOfASiteNeedAPersonUntilOneWithTheKeyIsComplete() throws Exception {
        SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
        try (Night night = Night.on(nowhere, "dozo.drill.site-days=30", "dozo.drill.rto=1h")) {
            assertThat(ofSiteDrills(night)).isEmpty();
            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now() - interval '31 days', now())
                    """);
            assertThat(ofSiteDrills(night)).containsExactlyInAnyOrder(Kind.SITE_UNREHEARSED, Kind.RTO_EXCEEDED);

            night.update(siteDrill(true, "COMPLETE", "0 days", "3599"));
            assertThat(ofSiteDrills(night)).isEmpty();

            night.update(siteDrill(false, "FINDINGS", "0 days", "3599"));
            assertThat(ofSiteDrills(night)).containsExactly(Kind.SITE_DRILL_FAILED);
            night.update(siteDrill(false, "COMPLETE", "0 days", "3599"));
            assertThat(ofSiteDrills(night)).containsExactly(Kind.SITE_DRILL_FAILED);
            night.update(siteDrill(true, "BROKEN_OFF", "0 days", "3599"));
            night.update(siteDrill(true, "COMPLETE", "0 days", "3601"));
            assertThat(ofSiteDrills(night)).containsExactly(Kind.RTO_EXCEEDED);
            night.update(siteDrill(true, "COMPLETE", "0 days", "null"));
            assertThat(ofSiteDrills(night)).containsExactly(Kind.RTO_EXCEEDED);
            night.update(siteDrill(true, "FAILED", "0 days", "null"));
            night.update(siteDrill(true, "COMPLETE", "31 days", "3599"));
            assertThat(ofSiteDrills(night)).containsExactly(Kind.SITE_UNREHEARSED);
            night.update(siteDrill(true, "COMPLETE", "-1 days", "3599"));
            assertThat(ofSiteDrills(night))
                    .as("in the future, before a clock was set back")
                    .contains(Kind.SITE_UNREHEARSED);

            assertThatThrownBy(() -> night.update("update site_drill set state = 'COMPLETE'"))
                    .hasMessageContaining("are evidence");
            assertThatThrownBy(() -> night.update("delete from site_drill")).hasMessageContaining("are evidence");
        }
    }

    private static List<Kind> ofSiteDrills(Night night) {
        Set<Kind> kinds = Set.of(Kind.SITE_DRILL_FAILED, Kind.SITE_UNREHEARSED, Kind.RTO_EXCEEDED);
        return night.get(Conditions.class).now().stream()
                .map(Condition::kind)
                .filter(kinds::contains)
                .toList();
    }

    private static String siteDrill(boolean keyed, String state, String ago, String most) {
        return """
                insert into site_drill (site_id, state, keyed, lists_only, scratch, requested_by, requested_at, ended_at, evidence)
                values (1, '%s', %s, true, 'site-drill-' || gen_random_uuid(), 'x', now(), now() - interval '%s',
                        '{"differences": 0, "rtoMostSeconds": %s}')
                """.formatted(state, keyed, ago, most);
    }

    /** What its source, its waiting or its freeze is, needs nobody; what its copies are, does. */
    @Test
    void ofARetiredExperimentOnlyItsCopiesNeedAPerson() throws Exception {
        SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
        try (Night night = Night.on(nowhere)) {
            night.register("E1", Files.createDirectory(folder.resolve("source")));
            night.register("E2", Files.createDirectory(folder.resolve("other")));
            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now(), now())
                    """);
            night.update(
                    "update experiment set retired_at = now(), retired_by = 'x', retired_reason = 'x' where code = 'E1'");
            Conditions conditions = night.get(Conditions.class);
            for (Seed seed : SEEDS) {
                if ("p/E1".equals(seed.subject) && OF_SOURCE.contains(seed.kind)) {
                    night.update(seed.begin);
                    assertThat(conditions.now()).as(seed.kind.name()).isEmpty();
                    night.update(seed.end);
                }
            }
        }
    }

    private static String waiting(String time) {
        return """
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, unprotected_since, counted_at)
                values (1, 1, 1, 1, 1, 1, 0, 0, 0, now() - interval '%s', now())
                """.formatted(time);
    }

    private static Seed finding(Kind kind, String reason) {
        return new Seed(kind, "p", "p/E1", found("1", reason), ACKNOWLEDGED);
    }

    private static Seed brokenAndDeletedSoon(String end) {
        return new Seed(Kind.BROKEN_DELETED_SOON, "p", "p/E1", """
                with told as (insert into scanner (code, purge_days) values ('3T', 4)
                              on conflict (code) do update set purge_days = excluded.purge_days),
                     acquired as (update experiment set scanner = '3T', acquired_on = current_date where code = 'E1')
                """ + found("1", "BROKEN"), end);
    }

    private static Seed ofSite(Kind kind) {
        return new Seed(kind, null, "dr", found("null", kind.name()), ACKNOWLEDGED);
    }

    private static String found(String experiment, String reason) {
        return """
                insert into finding (run_id, last_run_id, experiment_id, reason, message, found_at, last_found_at)
                select run_id, run_id, %s, '%s', '', now(), now() from run
                """.formatted(experiment, reason);
    }
}
