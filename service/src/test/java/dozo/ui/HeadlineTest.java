package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewPageOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.ScreenshotOptions;
import dozo.Ended;
import dozo.RunningService;
import dozo.run.Headlines.Kind;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first sentence of the overview, REST and the command line is the gravest thing that is true. */
class HeadlineTest {

    private static final Pattern FIRST = Pattern.compile("<h1>([^<]*)</h1>");

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        assertSaid("none");
        save("dr");
        service.createProject("P1");
        for (String code : new String[] {"E1", "E2", "E3"}) {
            service.createExperiment("P1", code, folder.resolve(code));
        }
        sql("""
            insert into run (kind, site_id, state, requested_by, started_at, ended_at)
            values ('nightlyBackup', 1, 'COMPLETE', 'x', now(), now())
            """);
        sql("""
            insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                                    counted_at)
            select experiment_id, 1, 1, 1, 1, 1, 1, 1, 1, now() from experiment
            """);
        assertSaid("safe");
    }

    /** Each further disaster is graver than all before. */
    @Test
    void theGravestDisasterIsSaidFirstWhoeverIsAsked() {
        sql(
                "update protection set entries_safe = 0, files_safe = 0, bytes_safe = 0, unprotected_since = now() where experiment_id = 1");
        assertSaid("waiting");

        sql("""
            insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new, entries_changed,
                                  entries_gone)
            values (1, 1, now(), 1, 1, 0, 0, 1, 0, 0);
            update protection set safe_manifest = 1 where experiment_id = 1;
            update experiment set registered_at = now() - interval '91 days' where experiment_id = 1
            """);
        assertSaid("unrehearsed");
        assertThat(overview("en")).contains("1 project was not rehearsed in time.");

        sql("""
            with unit as (
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', 1, 0) returning *
            )
            insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
            select experiment_id, site_id, unit_id, run_id, entry_nos, decode(repeat('00', 32), 'hex'), 'x', 'x', now() from unit
            """);
        sql("update protection set files_stored = 1, bytes_stored = 1 where experiment_id = 1");
        sql("update stored set files = 1, bytes = 1, last_read_at = '2020-01-01T00:00:00Z'");
        assertSaid("unread");

        sql("update run set started_at = now() - interval '10 days'");
        assertThat(overview("en")).contains(">Complete</span><small>, 10 days ago</small>");
        assertThat(overview("ja")).contains("（10 日前）");
        assertSaid("no-night");

        sql("update run set started_at = now() + interval '1 year'");
        assertSaid("clock-set-back");
        assertThat(service.page(service.browser(), "/runs"))
                .as("a duration is never negative")
                .contains("<td class=\"number\">0:00:00</td>");

        find("2", "UNREADABLE");
        assertSaid("blocked");
        assertState("E2", "blocked");

        sql("""
            insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, ended_at)
            values (1, 1, 1, '/x', 'FAILED', 'dozo', now(), now());
            insert into drill (restore_id) select restore_id from restore
            """);
        assertSaid("drill-failed");
        assertThat(overview("en")).contains("The last drill of 1 project failed.");

        find("null", "RUN_FAILED");
        assertSaid("run-failed");
        find("null", "SITE_UNUSABLE");
        assertSaid("site-unusable");
        find("null", "SITE_UNREACHABLE");
        assertSaid("site-unreachable");
        find("null", "SITE_FULL");
        assertSaid("site-full");
        find("null", "SITE_KEY_CHANGED");
        assertSaid("site-key-changed");

        sql("update protection set unprotected_since = now() - interval '10 days' where experiment_id = 1");
        assertSaid("late");
        assertState("E1", "late");

        find("2", "SOURCE_MISSING");
        find("3", "SOURCE_EMPTY");
        assertSaid("source-missing");
        assertState("E3", "source missing");

        sql("""
            insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
            values (2, 1, now(), 120, 2000, 'x')
            """);
        assertSaid("frozen");
        assertState("E2", "frozen");

        sql("""
            insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
            select experiment_id, site_id, 1, receipt_id, run_id, now(), 'MISSING' from receipt
            """);
        assertSaid("damaged");
        assertState("E1", "damaged");

        sql("""
            insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name,
                                     until_manifest)
            values (1, 1, 1, 1, 2048, 0, 420, 'f', 'a', 2)
            """);
        assertSaid("lost");
        assertState("E1", "lost");

        assertThat(overview("en"))
                .contains("href=\"/experiments?state=frozen\"", ">frozen: 1<", ">source missing: 1<")
                .contains("1 of 3 experiments is not safe yet.")
                .doesNotContain("of known data is safe");
        assertThat(dozo("coverage"))
                .satisfies(ended -> assertThat(ended.code()).isEqualTo(1))
                .satisfies(ended -> assertThat(ended.out())
                        .containsSubsequence(
                                "  lost: P1/E1, 1 file, 2.0 kB, found damaged at 20",
                                "; the source no longer has it\n",
                                "  frozen: P1/E2 since 20",
                                "dozo release P1/E2\n",
                                "  source missing: P1/E3\n"));
    }

    @Test
    void theWorstSiteDecides() {
        save("dr2");

        assertThat(overview("en"))
                .contains("<h1>dr2: 3 of 3 experiments are not safe yet.</h1>")
                .containsSubsequence(
                        "href=\"/?site=dr\"", "All 3 experiments are safe at dr.", "href=\"/?site=dr2\"", "3 of 3");
        assertThat(service.page(service.browser(), "/?site=dr")).contains("<h1>All 3 experiments are safe at dr.</h1>");
        service.get("/api/v1/coverage?site=dr2").has("/headline", "waiting");
        sql("update run set started_at = now() - interval '10 days'");
        assertThat(service.look(service.browser(), "/?site=dr2", "ja").text())
                .as("what is true of all sites names none; what is behind it does")
                .contains("<h1>夜間実行の予定がありません。新しいデータはコピーされません。</h1>")
                .contains(">dr2：3 件の実験のうち 3 件がまだ安全ではありません。</p>");
    }

    @Test
    void anEarlierTimeHasNoHeadline() {
        assertThat(service.get("/api/v1/coverage?asOf=2020-01-01").json().has("sentence"))
                .isFalse();
        assertThat(dozo("coverage --as-of 2020-01-01").out()).doesNotContain("at risk", "are safe");
    }

    private void save(String site) {
        service.saveUnreachable(site);
    }

    private void find(String experiment, String reason) {
        sql("""
            insert into finding (run_id, experiment_id, reason, message, found_at) values (1, %s, '%s', 'x', now())
            """.formatted(experiment, reason));
    }

    private void sql(String statement) {
        service.jdbc().sql(statement).update();
    }

    /** Asserts what the headline is about. What it says is in first-sentences.txt. */
    private void assertSaid(String word) {
        service.get("/api/v1/coverage").has("/headline", word);
        if (Kind.of(word).bad()) {
            String sentence = service.get("/api/v1/coverage").string("/sentence");
            assertThat(first("en")).isEqualTo(sentence);
            assertThat(dozo("coverage").out()).contains(sentence + "\n");
        }
        if (Boolean.getBoolean("write.pages")) {
            shoot(word);
        }
    }

    /** Takes screenshots for people. They prove nothing. */
    private void shoot(String word) {
        for (String language : new String[] {"en", "ja"}) {
            try (Page page = Chromium.browser().newPage(new NewPageOptions().setLocale(language))) {
                page.navigate(service.url() + "/login");
                page.fill("[name=username]", "admin");
                page.fill("[name=password]", service.password());
                page.click(".buttons button");
                page.screenshot(new ScreenshotOptions()
                        .setFullPage(true)
                        .setPath(Path.of("target", "pages", "headline-%s-%s.png".formatted(word, language))));
            }
        }
    }

    /** The list, the experiment's page, REST and the command line name the same state. */
    private void assertState(String code, String words) {
        String badge = ">" + words + "</span>";
        String word = words.replace(' ', '-');
        assertThat(service.page(service.browser(), "/experiments?state=" + word))
                .contains("P1/" + code + "</", badge);
        assertThat(service.page(service.browser(), "/experiments/P1/" + code)).contains(badge);
        assertThat(service.get("/api/v1/experiments?state=" + word).at("/items").toString())
                .contains("\"code\":\"" + code + "\"", "\"state\":\"" + word + "\"");
        assertThat(dozo("experiments --state", word).out()).containsPattern("P1/" + code + " +" + word);
        assertThat(dozo("coverage").out()).containsPattern("P1/" + code + " +" + words);
    }

    private String first(String language) {
        Matcher first = FIRST.matcher(overview(language));
        assertThat(first.find()).isTrue();
        return first.group(1);
    }

    private String overview(String language) {
        String page = service.look(service.browser(), "/", language).text();
        assertThat(page).doesNotContain("??");
        return page;
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
