package dozo.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.audit.AuditReport.AtSite;
import dozo.audit.AuditReport.Certificate;
import dozo.audit.AuditReport.Evidence;
import dozo.audit.AuditReport.InProject;
import dozo.audit.FileEvidence.FileLine;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.ledger.Coverage;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.ledger.Verification;
import dozo.run.RetentionSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** A report has what was known and open at its moment, and nothing that came later. */
class AuditReportsTest {

    private static final Instant SEALED = Instant.parse("2026-09-01T20:00:00Z");
    private static final Instant SAFE = Instant.parse("2026-09-02T00:00:00Z");
    private static final Instant SCRUBBED = Instant.parse("2026-09-10T00:00:00Z");
    private static final Instant REPAIRED = Instant.parse("2026-09-11T00:00:00Z");
    private static final Instant NOW = Instant.parse("2026-10-01T00:00:00Z");

    private final javax.sql.DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private Instant now = SEALED;
    private final Ledger ledger = new Ledger(jdbc, () -> now);
    private final AuditReports reports = new AuditReports(
            jdbc,
            new Coverage(jdbc),
            new Ledger(jdbc, () -> NOW),
            new RetentionSettings(Duration.ofDays(400)),
            () -> NOW);

    /** P1/A is safe since {@link #SAFE}; a scrub found one of its two files damaged, and it was repaired. P2/B was never read. */
    @BeforeEach
    void nights() {
        execute("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', '2026-09-01T00:00Z');
                insert into project (code, created_at) values ('P1', '2026-09-01T00:00Z'), ('P2', '2026-09-01T00:00Z');
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'A', 'filesystem', '/a', '2026-09-01T10:00Z', 'lab'), (2, 'B', 'filesystem', '/b', '2026-09-20T10:00Z', 'lab');
                insert into directory (experiment_id, directory_no, path) values (1, 1, '');
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                values (1, 1, 1, 1, 10, 0, 420, 'f', 'f1'), (1, 2, 1, 1, 10, 0, 420, 'f', 'f2');
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                      entries_changed, entries_gone)
                values (1, 1, '2026-09-01T20:00Z', 2, 20, 0, 0, 2, 0, 0);
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                values ('nightlyBackup', 1, 'COMPLETE', 'dozo', '2026-09-01T20:00Z', '2026-09-02T00:00Z'),
                       ('scrub', 1, 'FINDINGS', 'dozo', '2026-09-10T00:00Z', '2026-09-10T01:00Z'),
                       ('nightlyBackup', 1, 'COMPLETE', 'dozo', '2026-09-11T00:00Z', '2026-09-11T01:00Z');
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, unprotected_since, counted_at)
                values (1, 1, 1, 2, 20, 2, 0, 0, 0, '2026-09-01T20:00Z', '2026-09-01T20:00Z');
                update protection set files_safe = 2, bytes_safe = 20, entries_safe = 2, safe_manifest = 1, unprotected_since = null,
                                      counted_at = '2026-09-02T00:00Z';
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1,2}', 20, 'VERIFIED', 1, 0), (1, 1, 'BUNDLE', '{2}', 10, 'VERIFIED', 3, 0);
                insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method, worker, verified_at)
                values (1, 1, 1, 1, 1, '{1,2}', sha256('a') || sha256('b'), 'exec sha256sum', 'test', '2026-09-01T23:00Z');
                insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method, not_as_proven)
                values (1, 2, '2026-09-10T00:00Z', 20, 2, false, 'exec sha256sum', '{2}');
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                values (1, 1, 2, 1, 2, '2026-09-10T00:00Z', 'MISSING');
                insert into finding (run_id, experiment_id, reason, message, found_at, superseded_by)
                values (2, 1, 'MISSING', '', '2026-09-10T00:00Z', 3), (3, null, 'UNANCHORED', '', '2026-09-11T00:30Z', null);
                insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method, worker, verified_at)
                values (1, 1, 2, 3, 1, '{2}', sha256('b'), 'readback', 'test', '2026-09-11T00:00Z');
                insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, ended_at)
                values (1, 1, 1, '/scratch/1', 'FAILED', 'dozo', '2026-09-12T00:00Z', '2026-09-12T01:00Z'),
                       (1, 1, 1, '/scratch/2', 'COMPLETE', 'dozo', '2026-09-13T00:00Z', '2026-09-13T01:00Z'),
                       (1, 1, 1, '/mine', 'COMPLETE', 'lab', '2026-09-14T00:00Z', '2026-09-14T01:00Z');
                insert into drill (restore_id) values (1), (2);
                """);
    }

    @Test
    void everyPartIsAsItWasAtItsMoment() {
        assertThat(evidence(at(SEALED), "P1")).isEqualTo(Evidence.NONE);
        assertThat(at(SEALED).sites().getFirst().totals().safe()).isFalse();

        Evidence safe = evidence(at(SAFE), "P1");
        assertThat(at(SAFE).sites().getFirst().totals().safe()).isTrue();
        assertThat(safe.receipts()).isEqualTo(1);
        assertThat(safe.methods()).containsExactly("exec sha256sum");
        assertThat(safe.lastReadAt()).isNull();
        assertThat(safe.leastRecentlyReadAt()).isEqualTo(Instant.parse("2026-09-01T23:00:00Z"));

        Evidence damaged = evidence(at(SCRUBBED), "P1");
        assertThat(damaged.copiesMissing()).isEqualTo(1);
        assertThat(damaged.findings()).as("superseded later").isEqualTo(1);
        assertThat(damaged.leastRecentlyReadAt()).isEqualTo(SCRUBBED);
        assertThat(at(SCRUBBED).allWell()).isFalse();

        Evidence repaired = evidence(at(REPAIRED.plusSeconds(7_200)), "P1");
        assertThat(repaired.copiesMissing()).isZero();
        assertThat(repaired.findings()).isZero();
        assertThat(repaired.methods()).containsExactly("exec sha256sum", "readback");
        assertThat(repaired.drills()).isZero();

        assertThat(evidence(at(Instant.parse("2026-09-12T12:00:00Z")), "P1").lastDrillState())
                .isEqualTo("FAILED");
        Evidence today = evidence(at(null), "P1");
        assertThat(today.drills()).as("restores are no drills").isEqualTo(2);
        assertThat(today.drillsComplete()).isEqualTo(1);
        assertThat(today.lastDrillState()).isEqualTo("COMPLETE");
        assertThat(site(at(null)).findingsOfRuns()).isEqualTo(1);
    }

    @Test
    void theEvidenceOfAProjectIsTheSameAloneAndAmongAll() {
        for (Instant moment : List.of(SEALED, SAFE, SCRUBBED, REPAIRED, REPAIRED.plusSeconds(7_200), NOW)) {
            Evidence alone = evidence(reports.of(Sight.EVERYTHING, "P1", moment), "P1");

            assertThat(alone).as("at %s", moment).isEqualTo(evidence(at(moment), "P1"));
        }
    }

    @Test
    void beforeTheFirstExperimentNothingIsKnownAndNothingIsWell() {
        AuditReport before = at(Instant.parse("2026-08-01T00:00:00Z"));

        assertThat(before.nothingRegistered()).isTrue();
        assertThat(before.registeredSince()).isEqualTo(Instant.parse("2026-09-01T10:00:00Z"));
        assertThat(before.sites()).singleElement().satisfies(site -> {
            assertThat(site.projects()).isEmpty();
            assertThat(site.totals()).as("unknown, not 0 %").isNull();
        });
        assertThat(before.allWell()).isFalse();
        assertThat(before.ledger().head()).isNull();
    }

    @Test
    void aReaderSeesOnlyTheirOwnProjects() {
        ledger.append("lab", "certificate.issued", "P1/A#1", certificate("one"));
        ledger.append("lab", "certificate.issued", "P2/B#1", certificate("two"));

        AuditReport own = reports.of(Sight.of(List.of("P2")), null, null);
        assertThat(site(own).projects()).extracting(InProject::project).containsExactly("P2");
        assertThat(site(own).findingsOfRuns()).as("of whole runs").isZero();
        assertThat(own.registeredSince()).isEqualTo(Instant.parse("2026-09-20T10:00:00Z"));
        assertThat(own.certificates().latest())
                .extracting(Certificate::manifest)
                .containsExactly("P2/B#1");

        AuditReport one = reports.of(Sight.EVERYTHING, "P1", null);
        assertThat(site(one).projects()).extracting(InProject::project).containsExactly("P1");
        assertThat(one.certificates().latest()).extracting(Certificate::sha256).containsExactly("one");
        assertThat(reports.of(Sight.of(List.of()), null, null).registeredSince())
                .isNull();
    }

    @Test
    void theLedgersHeadIsThatOfTheMomentAndAChangedClockIsSaid() {
        append("2026-09-01T00:00:00Z");
        append("2026-09-02T00:00:00Z");
        append("2026-09-03T00:00:00Z");
        assertThat(Objects.requireNonNull(at(SAFE).ledger().head()).seq()).isEqualTo(2);
        assertThat(at(SAFE).ledger().clockChanged()).isFalse();

        append("2027-01-01T00:00:00Z");
        append("2026-09-04T00:00:00Z");
        assertThat(Objects.requireNonNull(at(null).ledger().head()).seq()).isEqualTo(5);
        assertThat(at(null).ledger().clockChanged())
                .as("row 4 is from the future")
                .isTrue();
        assertThat(at(SAFE).ledger().clockChanged()).as("not then").isFalse();

        append("2026-09-01T12:00:00Z");
        assertThat(at(SAFE).ledger().clockChanged()).as("row 6 was set back").isTrue();
    }

    private static Verification verification(Instant at, String verdict, long rows, long breaches) {
        return new Verification(at, verdict, rows, breaches, null, List.of());
    }

    @Test
    void theLastVerificationAndAnchorsAreNamed() {
        assertThat(at(null).ledger().verification()).as("unknown").isNull();
        ledger.verified(verification(SAFE, "INTACT", 5, 0));
        ledger.verified(verification(REPAIRED, "BROKEN", 7, 2));
        assertThat(at(null).ledger().verification()).isEqualTo(verification(REPAIRED, "BROKEN", 7, 2));

        now = SAFE;
        ledger.append("dozo", "ledger.anchored", "dr", Map.of("seq", 41, "hash", "ab"));
        now = SCRUBBED;
        ledger.append("dozo", "ledger.anchored", "dr", Map.of("seq", 42, "hash", "cd"));
        assertThat(Objects.requireNonNull(site(at(SAFE)).anchor()).seq()).isEqualTo(41);
        assertThat(Objects.requireNonNull(site(at(null)).anchor()).hash()).isEqualTo("cd");
        assertThat(site(at(SEALED)).anchor()).isNull();
    }

    @Test
    void olderThanTheRetentionFindingsMayBeMissing() {
        assertThat(at(NOW.minus(Duration.ofDays(400))).findingsComplete()).isTrue();
        assertThat(at(NOW.minus(Duration.ofDays(401))).findingsComplete()).isFalse();
    }

    @Test
    void theEvidenceOfEveryFileIsThatOfTheMoment() {
        assertThat(states(SEALED)).containsExactly("f1 unverified", "f2 unverified");
        assertThat(states(SAFE)).containsExactly("f1 safe", "f2 safe");
        assertThat(states(SCRUBBED)).containsExactly("f1 safe", "f2 missing");
        assertThat(states(REPAIRED)).containsExactly("f1 safe", "f2 safe");
        assertThat(states(Instant.parse("2026-08-01T00:00:00Z"))).isEmpty();
        assertThat(lines(Sight.of(List.of("P2")), NOW)).isEmpty();
        assertThat(lines(Sight.EVERYTHING, NOW).getFirst()).satisfies(line -> {
            assertThat(line.sha256())
                    .isEqualTo(Digest.ofContent(new byte[] {'a'}).toString());
            assertThat(line.lastReadAt()).isEqualTo(SCRUBBED);
            assertThat(line.pathBytes()).isNull();
        });
    }

    private List<String> states(Instant at) {
        return lines(Sight.EVERYTHING, at).stream()
                .map(line -> line.path() + " " + line.state())
                .toList();
    }

    private List<FileLine> lines(Sight sight, Instant at) {
        List<FileLine> lines = new ArrayList<>();
        new FileEvidence(jdbc, new JdbcTransactionManager(database)).each(sight, 1, at, lines::add);
        return lines;
    }

    private AuditReport at(@Nullable Instant moment) {
        return reports.of(Sight.EVERYTHING, null, moment);
    }

    private static AtSite site(AuditReport report) {
        return report.sites().getFirst();
    }

    private static Evidence evidence(AuditReport report, String project) {
        return site(report).projects().stream()
                .filter(each -> each.project().equals(project))
                .findFirst()
                .orElseThrow()
                .evidence();
    }

    private static Map<String, String> certificate(String sha256) {
        return Map.of("site", "dr", "root", "r", "certificate_sha256", sha256, "key", "k");
    }

    private void append(String at) {
        now = Instant.parse(at);
        ledger.append("dozo", "run.started", "1", Map.of());
    }

    private void execute(String statements) {
        jdbc.sql(statements).update();
    }
}
