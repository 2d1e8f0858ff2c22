package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.registry.Experiments;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.run.ScrubRequest;
import dozo.worklist.Bookings;
import java.io.ByteArrayInputStream;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The overview page as a browser receives it. */
class OverviewPageTest {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.shared();
    }

    @Test
    void emptyItSaysWhatToDoNext() {
        assertThat(page("en"))
                .contains("No experiment is registered yet.")
                .contains("/sites/new", "/do/post/projects")
                .contains("Register the first experiment")
                .contains("lang=\"en\"");
        assertThat(page("ja")).contains("実験はまだ登録されていません。").contains("lang=\"ja\"");
    }

    @Test
    void withDataItAnswersFirst() throws Exception {
        fill();

        String english = page("en");
        assertThat(english)
                .contains("<h1>2 of 2 experiments are not safe yet.</h1>", "The oldest unprotected data is from ")
                .contains("P001/S1")
                .contains("not read yet")
                .contains("href=\"/experiments?project=P001\"")
                .contains("Ended with findings");
        assertThat(page("ja")).contains("2 件の実験のうち 2 件がまだ安全ではありません").contains("要対応ありで終了");
    }

    @Test
    void nothingOnItIsInlineAndNothingUntranslated() throws Exception {
        fill();

        for (String language : List.of("en", "ja", "de")) {
            assertThat(page(language))
                    .as(language)
                    .doesNotContainPattern("<script(?! defer=\"\" src=|\\s+defer src=| defer src=)")
                    .doesNotContain("<style")
                    .doesNotContain(" style=")
                    .doesNotContain(" onclick")
                    .doesNotContain("??")
                    .doesNotContain("th:");
        }
    }

    @Test
    void namesThatAreNoUtf8AreShownSafely() throws Exception {
        fill();

        assertThat(page("en"))
                .contains("能&lt;b&gt;\\x1B")
                .contains("a message with &lt;i&gt;")
                .doesNotContain("<b>\u001b");
    }

    @Test
    void itFollowsARunOnly() throws Exception {
        fill();
        assertThat(page("en")).doesNotContain("hx-trigger=\"every");
        service.openRun();

        assertThat(page("en")).contains("hx-trigger=\"every 5s\"").contains("Running");
    }

    @Test
    void whatFollowsARunIsOnlyTheNight() throws Exception {
        fill();

        Answer ended = service.part(service.browser(), "/");

        assertThat(ended.headers().firstValue("HX-Refresh")).hasValue("true");
        assertThat(ended.text()).contains("id=\"night\"", "Ended with findings").doesNotContain("<h1", "hx-get");
        service.openRun();

        Answer running = service.part(service.browser(), "/");

        assertThat(running.headers().firstValue("HX-Refresh")).isEmpty();
        assertThat(running.text()).contains("id=\"night\"", "hx-trigger=\"every 5s\"");
    }

    @Test
    void ofManyProjectsTheWorstAreShownAndAllAreOneClickAway() throws Exception {
        fill();
        for (int i = 10; i < 22; i++) {
            String project = "Q" + i;
            service.createExperiment(project, "S1", folder.resolve(project));
        }
        service.createExperiment("Q21", "S2", folder.resolve("second"));

        String page = page("en");

        assertThat(page)
                .contains("The 10 projects with the most unprotected data", "All 13 projects", "/audit?by=project")
                .contains("href=\"/experiments?project=Q21\"")
                .doesNotContain("href=\"/experiments?project=Q20\"");
    }

    @Test
    void everyNumberLeadsToItsList() throws Exception {
        fill();

        assertThat(page("en"))
                .contains(
                        "href=\"/experiments?state=verified\"",
                        "href=\"/findings?reason=",
                        "href=\"/findings?run=",
                        "href=\"/audit\"");
    }

    @Test
    void aSiteHasItsPageAlsoIfItsCopiesAreCountedLate() throws Exception {
        fill();
        store();
        service.jdbc().sql("""
                        update stored set last_read_at = '2020-01-01T00:00:00Z', files = 1, bytes = 7;
                        update protection set files_stored = 0, bytes_stored = 0;
                        """).update();

        assertThat(service.look(service.browser(), "/sites", "en").expect(200).text())
                .contains("7 B of 0 B were last read before");
    }

    @Test
    void aPausedRunSaysWhoPausedItAndHowItGoesOn() throws Exception {
        fill();
        Run run = service.openRun();
        service.bean(Runs.class).pause(run.id(), "an <operator>");

        assertThat(page("en"))
                .contains("Paused")
                .contains("by an &lt;operator&gt; since ")
                .contains("to continue: dozo resume " + run.id())
                .doesNotContain("Ended</dt>");
        assertThat(page("ja"))
                .contains("一時停止中")
                .contains("dozo resume " + run.id())
                .doesNotContain("??");
    }

    @Test
    void whatIsAcknowledgedNeedsNobodyAnyMoreAndIsNotSafe() throws Exception {
        fill();
        assertThat(page("en")).contains("Open findings (1)");

        Findings findings = service.bean(Findings.class);
        findings.acknowledge(
                service.get("/api/v1/findings").number("/items/0/id"),
                new Acknowledgement("admin", Instant.EPOCH, "known"));

        assertThat(page("en"))
                .contains("Open findings (0)")
                .contains("None: nothing needs a person.")
                .contains("Ended with findings")
                .contains("2 of 2 experiments are not safe yet");
    }

    @Test
    void itTellsHowOldReadingsAreAndWhatIsDamaged() throws Exception {
        fill();
        assertThat(page("en")).doesNotContain("of the stored copies");
        store();

        assertThat(page("en"))
                .contains("80 % of the stored copies were read again within 90 days, the oldest at 2 Jan 2026 ")
                .contains("None is damaged.")
                .doesNotContain("Last scrub");
        assertThat(page("ja")).contains("90 日以内").contains("破損はありません。");

        service.jdbc().sql("""
                        insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                        select experiment_id, site_id, 1, receipt_id, run_id, now(), 'MISSING' from receipt
                        """).update();
        Run scrub = service.bean(Runs.class)
                .openScrub(service.dr(), new ScrubRequest("dr", Duration.ofDays(90), true, 0, null, false), "test");
        service.bean(Runs.class).close(scrub.id(), RunState.COMPLETE, "");
        assertThat(page("en"))
                .contains("1 copy is damaged and not repaired.")
                .contains("Last scrub, run %d".formatted(scrub.id()))
                .contains("Ended with findings");
        assertThat(page("ja")).contains("1 件のコピーが破損し").contains("直近の点検").doesNotContain("??");
    }

    @Test
    void whatIsLostForGoodIsSaidFirst() throws Exception {
        fill();
        store();
        assertThat(page("en")).doesNotContain("lost for good", "Lost for good");
        service.get("/api/v1/coverage").has("/lost/files", 0);
        service.jdbc().sql("""
                        insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                        select experiment_id, site_id, 1, receipt_id, run_id, '2026-01-02T12:00:00Z', 'MISSING' from receipt;
                        insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode,
                                                 kind, name, until_manifest)
                        select experiment_id, 1, 1, 1, 2048, 0, 420, 'f', 'a', 2 from receipt;
                        """).update();

        assertThat(page("en"))
                .contains("<h1>1 file is lost for good (P001/S1).</h1>")
                .contains("2 of 2 experiments are not safe yet.")
                .contains("Lost for good (1)")
                .contains("found damaged on 2 Jan 2026")
                .doesNotContain("of known data is safe");
        assertThat(page("ja")).contains("1 件のファイルが失われ").doesNotContain("??");

        service.jdbc().sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe,
                                                bytes_safe, entries_safe, counted_at)
                        select experiment_id, 1, 1, 1, 1, 1, 1, 1, 1, now() from experiment
                        on conflict (experiment_id, site_id) do update set files_safe = 1, bytes_safe = 1, entries_safe = 1
                        """).update();
        assertThat(page("en")).contains("<h1>1 file is lost for good (P001/S1).</h1>", "Everything else is safe.");
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, now(), 1, 1, 'gone' from experiment where code = 'S2'
                        """).update();
        assertThat(page("en"))
                .contains("<h1>1 file is lost for good (P001/S1).</h1>", "frozen: 1")
                .doesNotContain("Everything else is safe.");
        service.get("/api/v1/coverage").has("/lost/first/0/code", "S1");
    }

    @Test
    void theLastNightsAreAStripThatLeadsToThem() throws Exception {
        assertThat(page("en")).as("the first day").doesNotContain("class=\"strip\"");
        fill();
        service.jdbc().sql("""
                        insert into run (run_id, kind, site_id, state, requested_by, started_at, ended_at)
                        overriding system value
                        select -n, 'nightlyBackup', site_id, case n when 3 then 'FAILED' else 'COMPLETE' end, 'schedule',
                               now() - make_interval(days => n), now() - make_interval(days => n)
                        from site, generate_series(1, 40) n where n <> 5
                        """).update();

        String english = page("en");
        assertThat(english)
                .contains(
                        "The last 30 nights",
                        "href=\"/runs/-29\"",
                        ": failed or stopped\"",
                        ": with findings\"",
                        ": no run\"")
                .doesNotContain("href=\"/runs/-30\"");
        assertThat(english.split("<li><a href=\"/runs/")).hasSize(1 + 29);
        assertThat(page("ja")).contains("直近 30 日の夜間バックアップ").doesNotContain("??");
    }

    @Test
    void withSeveralSitesTheStripIsOfTheChosenOne() throws Exception {
        fill();
        service.saveUnreachable("dr2");

        assertThat(page("en", "/?site=dr")).contains("class=\"strip\"");
        assertThat(page("en", "/?site=dr2")).doesNotContain("class=\"strip\"");
    }

    @Test
    void whatIsBookedAndWhatCameTodayIsShownToThoseWhoMaySeeIt() throws Exception {
        fill();
        service.createProject("P002");
        service.createUser("lab", Role.LAB_MANAGER, "P002");
        assertThat(page("en")).doesNotContain("id=\"today\"");
        LocalDate today = LocalDate.now(ZoneId.systemDefault());
        String csv = "accession,date,time,station,procedure,project\n"
                + "A1,%1$s,23:59,MR7T01,7T <b>session</b>,P001\nA2,%2$s,10:00,MR7T01,of yesterday,P001\n"
                        .formatted(today, today.minusDays(1));
        service.bean(Bookings.class)
                .keep(
                        Sight.EVERYTHING,
                        new ByteArrayInputStream(csv.getBytes(StandardCharsets.UTF_8)),
                        null,
                        false,
                        "test");
        service.jdbc().sql("""
                        insert into origin (name, kind, address, spool, active, updated_at)
                        values ('fw', 'flywheel', 'https://flywheel.example.org', '/spool', false, now());
                        insert into arrival (origin_id, item, state, project_id, code, title, modality, waiting, first_seen_at, changed_at)
                        select o.origin_id, v.item, v.state, p.project_id, v.item, v.item, 'MR', false, v.at, v.at
                        from origin o, project p, (values
                            ('ses-new', 'OFFERED', now()), ('ses-old', 'OFFERED', now() - interval '3 days'), ('ses-gone', 'GONE', now()))
                            v (item, state, at)
                        where p.code = 'P001'
                        """).update();

        assertThat(page("en"))
                .contains("id=\"today\"", "23:59", "7T &lt;b&gt;session&lt;/b&gt;", "expected", "ses-new", "proposal")
                .doesNotContain("of yesterday", "ses-old", "ses-gone");
        assertThat(page("ja")).contains("本日", "登録候補").doesNotContain("??");
        assertThat(service.page(service.browser("lab"), "/")).doesNotContain("id=\"today\"", "ses-new", "session");
    }

    @Test
    void moreThanFewOfTodayAreOneClickAway() throws Exception {
        fill();
        LocalDate today = LocalDate.now(ZoneId.systemDefault());
        String csv = "accession,date,time,project\n"
                + IntStream.range(0, 8)
                        .mapToObj(i -> "A%d,%s,23:5%d,P001\n".formatted(i, today, i))
                        .collect(Collectors.joining());
        service.bean(Bookings.class)
                .keep(
                        Sight.EVERYTHING,
                        new ByteArrayInputStream(csv.getBytes(StandardCharsets.UTF_8)),
                        null,
                        false,
                        "test");

        assertThat(page("en"))
                .contains("23:55", "href=\"/gaps?all=true&amp;from=%1$s&amp;until=%1$s\"".formatted(today))
                .doesNotContain("23:56");
    }

    @Test
    void theCardOfASiteSaysWhatAStolenKeyCouldDo() throws Exception {
        fill();
        assertThat(sites())
                .contains("Not checked yet", "2 of 2 experiments are not safe yet.", "Ended with findings", "none yet");

        theft("{READ,ADD,CHANGE,RENAME,REPLACE,DELETE}", "{}");
        assertThat(sites()).contains("<b class=\"damage\">The copies could be deleted.</b>");
        theft("{READ,ADD,CHANGE}", "{DELETE}");
        assertThat(sites()).contains("<b class=\"bad\">The copies could be altered, but not deleted.</b>");
        theft("{READ,ADD}", "{CHANGE,RENAME,REPLACE,DELETE}");
        assertThat(sites()).contains("<b class=\"yes\">The copies could be neither altered nor deleted.</b>");
        theft("{READ}", "{DELETE}");
        assertThat(sites()).contains("<b class=\"quiet\">Unknown whether the copies could be altered or deleted.</b>");
    }

    private void theft(String could, String couldNot) {
        service.jdbc()
                .sql("""
                        insert into site_capability (site_id, first_seen_at, last_seen_at, server, digest, digest_bytes_per_second,
                                                     syncs_at_once, unpacks_tar, links_files, rename_keeps, names_are_bytes, extensions,
                                                     key_could, key_could_not)
                        select site_id, now(), now(), 'OpenSSH', 'exec sha256sum', 0, true, true, true, true, true, '{}',
                               :could::text[], :couldNot::text[]
                        from site
                        """)
                .param("could", could)
                .param("couldNot", couldNot)
                .update();
    }

    private String sites() {
        return service.look(service.browser(), "/sites", "en").expect(200).text();
    }

    @Test
    void whatIsFrozenIsShownWithTheCommandThatReleasesIt() throws Exception {
        fill();
        assertThat(page("en")).doesNotContain("Frozen experiments");
        for (int i = 3; i < 14; i++) {
            service.createExperiment("P001", "S" + i, folder.resolve("S" + i));
        }
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, '2026-01-02T12:00:00Z', 1234, 2048, 'much is gone' from experiment
                        """).update();

        assertThat(page("en"))
                .contains("Frozen experiments (13)")
                .contains("since 2 Jan 2026")
                .contains("1,234 files and links, 2.0 kB lost")
                .contains("href=\"/experiments/P001/S1\"")
                .contains("and 3 more");
        assertThat(page("ja"))
                .contains("凍結中の実験（13）")
                .contains("ファイルとリンク 1,234 件")
                .contains("ほか 3 件")
                .doesNotContain("??");
    }

    @Test
    void itIsForThoseWhoLoggedIn() {
        HttpClient stranger = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        assertThat(service.look(stranger, "/", "en").expect(302).headers().firstValue("Location"))
                .get()
                .asString()
                .endsWith("/login");
        service.look(stranger, "/dozo.css", "en").expect(200);
        service.look(stranger, "/webjars/htmx.org/dist/htmx.min.js", "en").expect(200);
    }

    private void fill() throws Exception {
        service.saveUnreachable("dr");
        service.createProject("P001");
        for (String code : List.of("S1", "S2")) {
            Path source = Files.createDirectories(folder.resolve(code));
            service.bean(Experiments.class).register("P001", code, "<b>title</b>", source, "test");
        }
        Run run = service.openRun();
        byte[] name = {(byte) 0x94, (byte) 0x5c, '<', 'b', '>', 0x1b};
        service.bean(Findings.class)
                .add(run.id(), List.of(new Finding(null, Problem.UNREADABLE, FilePath.of(name), "a message with <i>")));
        service.bean(Runs.class).close(run.id(), RunState.COMPLETE, "");
    }

    /** Adds stored data, of which one fifth was last read long ago. */
    private void store() {
        JdbcClient jdbc = service.jdbc();
        jdbc.sql("""
                        insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                        select experiment_id, site_id, 'BUNDLE', '{1}', 100, 'VERIFIED', run_id, 0
                        from experiment, run where code = 'S1'
                        """).update();
        jdbc.sql("""
                        insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                        select experiment_id, site_id, unit_id, run_id, entry_nos, decode(repeat('00', 32), 'hex'), 'test', 'test', now()
                        from transfer_unit
                        """).update();
        jdbc.sql("update stored set files = 20, bytes = 2000, last_read_at = '2026-01-02T12:00:00Z'")
                .update();
        jdbc.sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe,
                                                bytes_safe, entries_safe, counted_at, files_stored, bytes_stored)
                        select experiment_id, site_id, 1, 1, 1, 1, 0, 0, 0, now(), 100, 10000 from receipt
                        """).update();
    }

    private String page(String language) {
        return page(language, "/");
    }

    private String page(String language, String path) {
        Answer answer = service.look(service.browser(), path, language);
        answer.expect(200);
        return answer.text();
    }
}
