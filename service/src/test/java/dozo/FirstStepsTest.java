package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.ledger.Ledger;
import dozo.people.Role;
import dozo.record.RecoverySettings;
import dozo.registry.SiteSchedules;
import dozo.registry.Sites;
import dozo.run.FirstSteps;
import dozo.run.FirstSteps.FirstStep;
import dozo.run.FirstSteps.Step;
import dozo.run.NightTimes;
import dozo.run.Timetable;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** First steps by command, by REST and on the overview: open until the facts say that they are done, or somebody dismisses them. */
class FirstStepsTest {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.shared();
    }

    @Test
    void aStepIsDoneWhenTheFactsSaySo() throws Exception {
        assertThat(open()).containsExactly(Step.values());
        dozo("step dismiss schedule --reason", "tests have no nights").ends(0);

        service.saveUnreachable("dr");
        assertThat(open()).as("not checked").contains(Step.SITE);
        checked();
        assertThat(open()).doesNotContain(Step.SITE);
        service.createExperiment("P1", "E1", folder.resolve("source"));
        assertThat(open()).doesNotContain(Step.PROJECT, Step.EXPERIMENT);
        sealed(0);
        sql("insert into run (kind, site_id, state, requested_by, started_at, ended_at)"
                + " select 'nightlyBackup', site_id, 'COMPLETE', 'x', now(), now() from site");
        assertThat(open()).as("nothing is safe").contains(Step.BACKUP);
        sql("update protection set files_safe = 1, entries_safe = 1");
        assertThat(open()).doesNotContain(Step.BACKUP);
        recipient(false);
        assertThat(open()).as("an inactive recipient").contains(Step.RECIPIENT);
        sql("update recipient set active = true");
        drill("FINDINGS");
        assertThat(open()).containsExactly(Step.RECOVERY_KEY, Step.DRILL);
        sql("update restore set state = 'COMPLETE'");
        assertThat(open()).containsExactly(Step.RECOVERY_KEY);

        sql("update experiment set retired_at = now(), retired_by = 'x', retired_reason = 'x'");
        sql("update project set retired_at = now(), retired_by = 'x', retired_reason = 'x'");
        assertThat(open()).as("what is retired was begun").containsExactly(Step.RECOVERY_KEY);
        sql("update site set removed_at = now()");
        sql("update recipient set active = false");
        assertThat(open())
                .as("facts change")
                .containsExactly(Step.SITE, Step.BACKUP, Step.RECIPIENT, Step.RECOVERY_KEY);
    }

    @Test
    void schedulesAndKeysForTheRecordsAreReadFromTheSettings() {
        service.saveUnreachable("dr");
        String recipient =
                service.get("/api/v1/recovery-key").json().path("publicKey").asString();

        assertThat(steps("-", " , ")).contains(Step.SCHEDULE, Step.RECOVERY_KEY);
        assertThat(steps("0 0 1 * * *", recipient)).doesNotContain(Step.SCHEDULE, Step.RECOVERY_KEY);
        sql("update site set removed_at = now()");
        assertThat(steps("-", "")).as("without a site").contains(Step.SCHEDULE);
    }

    @Test
    void aStepIsDismissedByNameWithAReasonAndReopened() {
        assertThat(dozo("step list").ends(Exit.NOT_SAFE).out())
                .containsPattern("recipient +open +There is no recipient for alerts: .* Run dozo alert save NAME");

        assertThat(dozo("step dismiss recipient --reason", "we read the metrics"))
                .isEqualTo(new Ended(0, "the step recipient is dismissed\n", ""));

        assertThat(dozo("step list").out()).containsPattern("recipient +dismissed by admin: we read the metrics");
        service.get("/api/v1/steps")
                .has("/5/step", "recipient")
                .has("/5/dismissedBy", "admin")
                .has("/5/open", "false");
        assertThat(dozo("step dismiss recipient --reason again")
                        .ends(Exit.REFUSED)
                        .err())
                .contains("the step recipient is dismissed already");
        assertThat(dozo("step reopen recipient").out()).isEqualTo("the step recipient is no longer dismissed\n");
        assertThat(open()).contains(Step.RECIPIENT);
        assertThat(dozo("step reopen recipient").ends(Exit.REFUSED).err())
                .contains("the step recipient is not dismissed");
    }

    @Test
    void whatIsDoneOrNoStepOrWithoutAReasonIsRefused() {
        service.createProject("P1");
        assertThat(dozo("step dismiss project --reason x").ends(Exit.REFUSED).err())
                .contains("the step project is done");
        assertThat(dozo("step dismiss nothing --reason x").ends(Exit.REFUSED).err())
                .contains("step \"nothing\" does not exist");
        for (String wrong : List.of(" ", "x".repeat(501), "two\nlines")) {
            assertThat(dozo("step dismiss recipient --reason", wrong)
                            .ends(Exit.REFUSED)
                            .err())
                    .contains("reason: expected a reason of 1 to 500 characters in one line");
        }
        assertThat(open()).contains(Step.RECIPIENT);
    }

    @Test
    void everyStepIsDoneOrDismissedWithExitCodeZero() {
        open().forEach(step ->
                dozo("step dismiss", step.word(), "--reason", "a test").ends(0));

        dozo("step list").ends(0);
    }

    @Test
    void theOverviewWarnsOfEachOpenStepAfterTheFirstBackupUntilItIsDismissed() throws Exception {
        backedUp();
        HttpClient admin = service.browser();

        assertThat(page(admin))
                .contains("Steps that are not done yet", "There is no recipient for alerts", "Tell somebody")
                .contains("There is no stand-in for the recovery key", "No drill was complete yet")
                .contains("/do/post/steps/recipient/dismissal?back=/", "/do/post/drills?back=/drills/*")
                .doesNotContain("No experiment is registered", "First steps");
        assertThat(service.look(admin, "/", "ja").text()).contains("通知先がありません", "却下");

        service.submit(admin, "/do/post/steps/recipient/dismissal", "reason=not+here&confirmed=true&back=/");

        assertThat(page(admin))
                .doesNotContain("There is no recipient for alerts")
                .contains("No drill was complete yet");
        assertThat(service.page(admin, "/administration"))
                .contains("Dismissed first steps", "by admin: not here", "/do/delete/steps/recipient/dismissal");
        service.submit(admin, "/do/delete/steps/recipient/dismissal", "confirmed=true&back=/");
        assertThat(page(admin)).contains("There is no recipient for alerts");
    }

    @Test
    void onlyWhoMayActOnAStepSeesIt() throws Exception {
        backedUp();
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.createUser("operator", Role.OPERATOR);
        service.createUser("auditor", Role.AUDITOR);

        for (String name : List.of("lab", "auditor")) {
            assertThat(page(service.browser(name))).doesNotContain("Steps that are not done yet");
        }
        assertThat(page(service.browser("operator")))
                .contains("No drill was complete yet")
                .doesNotContain("There is no recipient for alerts", "There is no stand-in", "/dismissal");
    }

    private void backedUp() throws Exception {
        service.saveUnreachable("dr");
        checked();
        service.createExperiment("P1", "E1", folder.resolve("source"));
        sealed(1);
    }

    private void sealed(int safe) {
        sql("""
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                    entries_changed, entries_gone)
                select experiment_id, 1, now(), 1, 1, 0, 0, 1, 0, 0 from experiment
                """);
        sql("""
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                    entries_safe, counted_at)
                select experiment_id, site_id, 1, 1, 1, 1, %1$d, %1$d, %1$d, now() from experiment, site
                """.formatted(safe));
    }

    private void checked() {
        sql("""
                insert into site_capability (site_id, first_seen_at, last_seen_at, server, digest, digest_bytes_per_second,
                    syncs_at_once, rename_keeps, names_are_bytes, extensions, unpacks_tar,
                    links_files, key_could, key_could_not)
                select site_id, now(), now(), 'x', 'exec sha256sum', 1, true, true, true, '{}', true, true, '{}', '{}' from site
                """);
    }

    private void recipient(boolean active) {
        sql(
                "insert into recipient (name, channel, address, language, active, morning_report) values ('it', 'mail', 'it@example.org', 'en', "
                        + active + ", true)");
    }

    private void drill(String state) {
        sql("""
                insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, ended_at)
                select experiment_id, 1, site_id, '/x', '%s', 'dozo', now(), now() from experiment, site
                """.formatted(state));
        sql("insert into drill select restore_id, 1, 1 from restore");
    }

    private void sql(String sql) {
        service.jdbc().sql(sql).update();
    }

    private List<Step> open() {
        return open(service.bean(FirstSteps.class));
    }

    private List<Step> steps(String cron, String recipients) {
        return open(new FirstSteps(
                service.jdbc(),
                service.bean(Sites.class),
                new NightTimes(Timetable.of(cron, "UTC"), service.bean(SiteSchedules.class)),
                new RecoverySettings(recipients),
                service.bean(Ledger.class),
                InstantSource.system()));
    }

    private static List<Step> open(FirstSteps steps) {
        return steps.all().stream().filter(FirstStep::open).map(FirstStep::step).toList();
    }

    private String page(HttpClient browser) {
        return service.page(browser, "/");
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
