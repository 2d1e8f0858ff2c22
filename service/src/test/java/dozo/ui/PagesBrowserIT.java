package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dozo.RunningService.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.ScreenshotOptions;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Cookie;
import com.microsoft.playwright.options.FilePayload;
import com.microsoft.playwright.options.Media;
import dozo.RunningService;
import dozo.collect.Origins;
import dozo.drill.Rehearsals;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.loopback.Ports;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.people.Role;
import dozo.people.Tokens;
import dozo.people.Users;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Holds;
import dozo.registry.Projects;
import dozo.registry.RestorePlaces;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.SiteAddress;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.SharedData;
import dozo.worklist.Bookings;
import dozo.worklist.Studies;
import dozo.worklist.Studies.ReceivedSeries;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What people do with the pages, in a real browser and in both languages; accessibility of every page, light and dark,
 * wide and narrow. Takes over a minute: each page is drawn four times and checked by axe three times.
 */
class PagesBrowserIT {

    private static final Path SHOTS = Path.of("target", "pages");

    private static final int WIDE = 1280;
    private static final int NARROW = 400;

    /** Maximum height of the pages' head in pixels: two rows of controls. */
    private static final int HEAD_MAX = 100;

    /** More files than fit on a page of a folder. */
    private static final int FILES = 230;

    /** Shift-JIS, then bytes that are not text in any encoding, and markup. */
    private static final byte[] NO_TEXT = {(byte) 0x94, (byte) 0x5c, (byte) 0xff, ' ', '<', 'b', '>', '.', 'r', 'a', 'w'
    };

    @TempDir
    static Path folder;

    @TempDir
    static Path allowed;

    private static RunningService service;
    private static LoopbackSite site;
    private static Browser browser;
    private static String login = "";

    /** A logged-in browser of the administrator for each language, which keeps loaded files for all tests. */
    private static final Map<String, BrowserContext> USUAL = new HashMap<>();

    /** Their pages that no test uses now: a new page takes half a second of processor time. */
    private static final Map<BrowserContext, Deque<Page>> IDLE = new HashMap<>();

    private final List<AutoCloseable> opened = new ArrayList<>();

    /**
     * Starts the browser in this thread, because it belongs to its thread; the service and its nights start at the same
     * time.
     */
    @BeforeAll
    static void start() throws Exception {
        try (ExecutorService beside = Executors.newSingleThreadExecutor()) {
            Future<?> served = beside.submit(() -> {
                serve();
                return null;
            });
            browser = Chromium.browser();
            served.get();
        }
        login = loggedIn();
    }

    private static void serve() throws Exception {
        int port = Ports.free();
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectories(folder.resolve("site")), port);
        service.saveSite("dr", site.address());
        service.bean(Projects.class).create("P001", "脳機能イメージング", "test");
        service.createProject("P002");
        service.createUser("lab", Role.LAB_MANAGER, "P001");
        service.bean(Projects.class).setRoots("P001", List.of(folder), "test");
        service.bean(Tokens.class).create("lab", "sheet of the lab", null, true, 30);
        back();
        restore();
        drill();
        addBatches();
        past();
        plan();
        hold();
        erase();
    }

    private static void restore() throws Exception {
        service.bean(RestorePlaces.class).setRoots("P001", List.of(allowed.toRealPath()), "test");
        Experiment experiment =
                service.bean(Experiments.class).find("P001", "S0001").orElseThrow();
        Manifest manifest =
                service.bean(Manifests.class).current(experiment.id()).orElseThrow();
        Site dr = service.dr();
        Restores restores = service.bean(Restores.class);
        Path target = allowed.toRealPath().resolve("研究");
        long id = service.bean(RestoreQueue.class)
                .request(experiment, manifest, Selection.of(FilePath.of("protocol.txt")), dr, target, "lab")
                .id();
        Awaitility.await()
                .atMost(Duration.ofMinutes(5))
                .until(() ->
                        !restores.find(experiment, id).orElseThrow().state().goesOn());
    }

    /** Adds batches of restores: one that has failed, partly, and one that waits. */
    private static void addBatches() {
        service.bean(RestoreQueue.class).stop();
        service.jdbc().sql("""
                        insert into restore_batch (site_id, folder, state, requested_by, requested_at, ended_at)
                        select site_id, folder, 'FINDINGS', 'lab', now(), now() from restore where restore_id = 1;
                        insert into restore_batch (site_id, origin, state, requested_by, requested_at)
                        select site_id, 'pacs', 'RUNNING', 'operator', now() from restore where restore_id = 1;
                        insert into restore_batch_item (batch_id, position, experiment_id, manifest_no, restore_id)
                        select 1, 1, experiment_id, manifest_no, restore_id from restore where restore_id = 1;
                        insert into restore_batch_item (batch_id, position, experiment_id, refused)
                        select 1, 1 + row_number() over (order by experiment_id), experiment_id, 'it was never backed up'
                        from experiment where experiment_id not in (select experiment_id from restore where restore_id = 1);
                        insert into restore_batch_item (batch_id, position, experiment_id, manifest_no)
                        select 2, row_number() over (order by experiment_id), experiment_id,
                               (select max(manifest_no) from manifest m where m.experiment_id = e.experiment_id)
                        from experiment e
                        """).update();
    }

    /** Adds drills: one that ran, one that failed, and earlier ones for a forecast. */
    private static void drill() {
        long id = service.bean(Rehearsals.class)
                .request("P001", "S0001", null, "operator")
                .id();
        Restores restores = service.bean(Restores.class);
        Awaitility.await()
                .atMost(Duration.ofMinutes(5))
                .until(() -> !restores.drill(Sight.EVERYTHING, id)
                        .orElseThrow()
                        .state()
                        .goesOn());
        service.jdbc().sql("""
                        insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, started_at,
                                             ended_at, entries, bytes, entries_verified, bytes_verified, findings)
                        select experiment_id, manifest_no, site_id, folder, 'FINDINGS', 'dozo', now(), now(), now(), 9, 9, 8, 8, 1
                        from restore where restore_id = 2;
                        insert into drill select max(restore_id), 4, 0.5 from restore;
                        insert into restore_finding select max(restore_id), 1, 'anat/脳.nii', 'MISMATCHED', 'checksum mismatch' from restore;
                        insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, started_at,
                                             ended_at, entries, bytes, entries_verified, bytes_verified)
                        select experiment_id, manifest_no, site_id, folder, 'COMPLETE', 'dozo', t, t, t, n, n * 1e8, n, n * 1e8
                        from restore, (select n, now() - make_interval(days => 13 - n) as t from generate_series(1, 12) n) s
                        where restore_id = 2;
                        insert into drill select restore_id, 0.5 + entries * (1.5 + 0.2 * sin(restore_id)), 0.5
                        from restore where restore_id > 3;
                        """).update();
    }

    /** Adds nights of the last two months with every result, before those that really ran. */
    private static void past() {
        service.jdbc().sql("""
                        insert into run (run_id, kind, site_id, state, requested_by, started_at, ended_at)
                        overriding system value
                        select -n, 'nightlyBackup', site_id,
                               case when n % 11 = 0 then 'FAILED' when n % 13 = 0 then 'STOPPED' when n % 5 = 0 then 'FINDINGS'
                                    else 'COMPLETE' end,
                               'schedule', now() - make_interval(days => n), now() - make_interval(days => n, hours => -1)
                        from site, generate_series(1, 55) n where n % 17 <> 0;
                        insert into run_total (run_id, project_id, bytes, entries)
                        select run_id, project_id, 4e11 * (2 + sin(run_id / 3.0)), 2e5 * (2 + cos(run_id / 2.0))
                        from run, project where run_id < 0;
                        insert into run_limit (run_id, name, seconds, seconds_needed)
                        select run_id, name, seconds, needed
                        from run, (values ('LINK', 61, 40), ('PROCESSORS', 30, 15), ('TIMETABLE', 0.1, 0.05)) as looked (name, seconds, needed)
                        on conflict do nothing;
                        delete from run_tuning;
                        insert into run_tuning (run_id, decided_at, lanes, channels, bytes_per_second, reason)
                        select run_id, now() - make_interval(secs => 60 - n), lanes, channels, nullif(rate, 0), reason
                        from run, (values (1, 4, 1, 0, 'ASSUMED_RATE'), (4, 4, 2, 2.1e8, 'WINDOWS'), (6, 4, 2, 4.2e8, 'MORE_FASTER'),
                                          (9, 4, 4, 4.2e8, 'WINDOWS'), (15, 4, 2, 4.1e8, 'MORE_NO_FASTER')) as made (n, lanes, channels, rate, reason);
                        insert into site_tuning (site_id, measured_at, measured_by, cell_lanes, cell_channels, cell_bytes_per_second,
                                                 lanes, channels, bytes_per_second)
                        select site_id, now(), 'mori', '{1,1,1,2,2,2,4,4,4,8,8,8}', '{1,2,4,1,2,4,1,2,4,1,2,4}',
                               '{58e6,116e6,231e6,117e6,230e6,455e6,232e6,461e6,902e6,460e6,940e6,948e6}', 4, 4, 9.02e8
                        from site;
                        insert into scanner (code, purge_days) values ('MR7T', 2) on conflict do nothing;
                        delete from run_forecast_experiment where run_id = 2;
                        delete from run_forecast where run_id = 2;
                        insert into run_forecast (run_id, made_at, until_at, nights, experiments, unknown, bytes, bytes_low, bytes_middle,
                                                  bytes_high, experiments_low, experiments_middle, experiments_high, safe_low, safe_middle,
                                                  bytes_verified, experiments_safe)
                        values (2, now() - interval '12 hours', now() - interval '1 hour', 14, 3, 1, 1.1e12, 6.2e11, 8.1e11, 9.6e11, 1, 2, 3,
                                now() - interval '2 hours', now(), 7.9e11, 2);
                        insert into run_forecast_experiment (run_id, experiment_id, position, bytes, estimated, probability, safe_at,
                                                             deleted_at, deleted_probability, safe)
                        select 2, experiment_id, n, 2e11 * n, n = 2, 1.0 / n, now() - make_interval(hours => 9 - n::integer),
                               case n when 1 then now() + interval '1 day' end, 0.02 * n, n < 3
                        from (select experiment_id, row_number() over (order by experiment_id) as n from experiment limit 3) few;
                        insert into site_space (site_id, day, seen_at, total_bytes, free_bytes)
                        select site_id, current_date - n, now() - make_interval(days => n), s.total_bytes,
                               least(s.total_bytes, s.free_bytes + s.total_bytes / 1000 * n)
                        from site_space s, generate_series(1, 100) n;
                        insert into coverage (experiment_id, site_id, manifest_no, since, until, files, bytes, entries, files_safe,
                                              bytes_safe, entries_safe, files_proven, bytes_proven)
                        select experiment_id, site_id, 1, now() - make_interval(days => n), now() - make_interval(days => n - 10),
                               100, 1000, 100, 100 - n / 4, 1000 - 2 * n, 100 - n / 4, 0, 0
                        from experiment, site, generate_series(10, 300, 10) n;
                        update experiment set registered_at = now() - interval '310 days' where code = 'S0001';
                        """).update();
    }

    /** Adds erasures: one in each state. */
    private static void erase() {
        service.jdbc().sql("""
                insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at, approved_by,
                                     approved_at, not_before, withdrawn_by, withdrawn_at, begun_at, manifests, files, bytes, receipts,
                                     completed_at)
                select p.project_id, v.code, v.number, now() - interval '200 days', v.reason, 'mori', now() - v.asked, v.approved,
                       case when v.approved is not null then now() - v.asked end,
                       case when v.approved is not null then now() - v.asked end,
                       case when v.withdrawn then 'mori' end, case when v.withdrawn then now() end,
                       case when v.begun then now() - interval '1 day' end, case when v.begun then 2 end,
                       case when v.begun then 1200 end, case when v.begun then 45000000 end, case when v.begun then 9 end,
                       case when v.completed then now() end
                from project p, (values
                    ('X0001', 900001, '参加者からの申し出（受付 2026-88）', interval '20 days', 'admin', false, true, true),
                    ('X0002', 900002, 'Letter of 2 November 2026', interval '10 days', 'admin', false, true, false),
                    ('X0003', 900003, 'Letter of 5 November 2026', interval '5 days', null, true, false, false),
                    ('X0004', 900004, 'Consent was withdrawn, file 31', interval '2 hours', 'admin', false, false, false),
                    ('X0005', 900005, 'Consent was withdrawn, file 32', interval '1 hour', null, false, false, false))
                    v (code, number, reason, asked, approved, withdrawn, begun, completed)
                where p.code = 'P001'
                order by v.number;
                insert into erasure_site (erasure_id, site_id, files, bytes, tried_at, message, removed_at, stated_by, stated_reason, done_at)
                select x.erasure_id, s.site_id, 1300, 46000000, now(),
                       case when x.completed_at is null then 'cannot remove P001/X0002/data: permission denied' else '' end, null,
                       case when x.completed_at is not null then 'admin' end,
                       case when x.completed_at is not null then 'removed by the site, ticket 17' end, x.completed_at
                from erasure x, site s where x.begun_at is not null and s.removed_at is null
                """).update();
    }

    /** Adds holds: one that was ended, one on a project, and one on an experiment that ends by itself. */
    private static void hold() {
        Holds holds = service.bean(Holds.class);
        int experiment = service.bean(Experiments.class)
                .find("P001", "S0001")
                .orElseThrow()
                .id();
        long ended = holds.place("P001", experiment, "査読中の論文のデータ（受付 2026-114）", null, "mori")
                .id();
        holds.end(ended, "論文が受理された", "admin");
        holds.place("P001", null, "Inquiry 2026-07 of the research ethics committee", null, "mori");
        holds.place("P001", experiment, "監査 2026 の対象", Instant.now().plus(Duration.ofDays(90)), "mori");
    }

    /** Adds booked visits, with one gap of each kind. */
    private static void plan() throws Exception {
        service.bean(Scanners.class).put(new Scanner("S7T", List.of("MR7T01"), 14), "test");
        service.bean(Scanners.class).put(new Scanner("S3T", List.of("MR3T01"), null), "test");
        LocalDate day = LocalDate.now(ZoneId.systemDefault()).minusDays(4);
        StringBuilder csv = new StringBuilder("受付番号,検査日,予約時刻,装置,検査内容,シリーズ数,StudyInstanceUID,課題,患者ID\r\n");
        for (int i = 1; i <= 9; i++) {
            csv.append("A26-041%d,%s,1%d:00,MR7T01,7T 視覚実験 セッション%d,2,2.25.41%d,P001,%04d\r\n"
                    .formatted(i, day, i, i, i, i));
        }
        service.bean(Bookings.class)
                .keep(
                        Sight.EVERYTHING,
                        new ByteArrayInputStream(csv.toString().getBytes(StandardCharsets.UTF_8)),
                        null,
                        false,
                        "test");
        Instant at = day.atTime(18, 0).atZone(ZoneId.systemDefault()).toInstant();
        arrive("2.25.411", 1, "A26-0411", "MR7T01", day, at);
        arrive("2.25.411", 2, "A26-0411", "MR7T01", day, at);
        arrive("2.25.412", 1, "A26-0412", "MR7T01", day, at);
        arrive("2.25.413", 1, "A26-0413", "MR7T01", day, at.plus(Duration.ofDays(2)));
        arrive("2.25.413", 2, "A26-0413", "MR7T01", day, at.plus(Duration.ofDays(2)));
        arrive("2.25.414", 1, "A26-0414", "MR3T01", day, at);
        arrive("2.25.414", 2, "A26-0414", "MR3T01", day, at);
        arrive("2.25.415", 1, "A26-0415", "MR7T01", day, at);
        arrive("2.25.4152", 2, "A26-0415", "MR7T01", day, at);
        arrive("2.25.416", 1, "A26-0416", "MR7T01", day, at);
        arrive("2.25.416", 2, "A26-0416", "MR7T01", day.plusDays(1), at);
        String another = service.bean(PseudonymousCode.class).of("0009").orElseThrow();
        arrive("2.25.418", 1, "A26-0418", "MR7T01", another, day, at);
        arrive("2.25.418", 2, "A26-0418", "MR7T01", another, day, at);
        arrive("2.25.419", 1, "A26-0419", "MR7T01", day.minusDays(1), at);
        arrive("2.25.419", 2, "A26-0419", "MR7T01", day.minusDays(1), at);
        arrive("2.25.499", 1, null, "MR3T01", day, at);
    }

    private static void arrive(
            String study, int series, @Nullable String accession, String station, LocalDate day, Instant at) {
        arrive(study, series, accession, station, null, day, at);
    }

    private static void arrive(
            String study,
            int series,
            @Nullable String accession,
            String station,
            @Nullable String subject,
            LocalDate day,
            Instant at) {
        service.bean(Studies.class)
                .received(new ReceivedSeries(
                        study,
                        study + "." + series,
                        accession,
                        subject,
                        day,
                        null,
                        null,
                        station,
                        "MR",
                        120,
                        null,
                        at,
                        at));
    }

    /** Runs two nights, with changes between them; then adds a frozen experiment and one that waits. */
    private static void back() throws Exception {
        Path visit = Files.createDirectories(folder.resolve("visit"));
        Path series = Files.createDirectories(visit.resolve("dicom"));
        for (int i = 0; i < FILES; i++) {
            Files.writeString(series.resolve("IM%04d.dcm".formatted(i)), "image " + i);
        }
        Files.writeString(FilePath.of(NO_TEXT).under(visit), "raw");
        Files.writeString(visit.resolve("protocol.txt"), "first");
        Files.createSymbolicLink(visit.resolve("latest"), Path.of("dicom"));
        register("P001", "S0001", "視覚野のレチノトピー（7T パイロット）", visit);
        register("P001", "S0002", "<b>resting state</b>", Files.createDirectories(folder.resolve("empty")));
        service.backUp();
        Files.writeString(visit.resolve("protocol.txt"), "second version");
        Files.writeString(visit.resolve("new.txt"), "new");
        service.backUp();
        register("P002", "T0001", "", Files.createDirectories(folder.resolve("later")));
        propose();
    }

    /** Adds proposals as nights find them, in a Flywheel that is inactive now. */
    private static void propose() {
        JdbcClient jdbc = service.jdbc();
        jdbc.sql("""
                        insert into origin (name, kind, address, spool, active, updated_at)
                        values ('fw', 'flywheel', 'https://flywheel.example.org', :spool, false, now())
                        """).param("spool", FilePath.rawBytes(folder.resolve("spool"))).update();
        jdbc.sql("""
                        insert into arrival (origin_id, item, state, project_id, code, title, modality, acquired_on, files_told,
                                             bytes_told, waiting, first_seen_at, changed_at)
                        select o.origin_id, 'item-' || n, 'OFFERED', p.project_id, 'fw-item-' || n, '安静時 <b>' || n, 'MR',
                               '2026-10-01', 12, 3000000000, false, now(), now()
                        from origin o, project p, generate_series(1, 5) n where p.code = 'P001' order by n
                        """).update();
        reconcile(jdbc);
        jdbc.sql("""
                        update arrival set dismissed_at = now(), dismissed_by = 'lab', dismissed_reason = 'ファントム'
                        where item = 'item-5'
                        """).update();
    }

    /** Adds a night in which something is missing, and a tree that nights found unusable. */
    private static void reconcile(JdbcClient jdbc) {
        jdbc.sql("""
                        insert into origin (name, kind, address, spool, active, patterns, updated_at)
                        values ('meg', 'tree', 'file:///data/meg', :root, true, array['{project}/{label}'], now())
                        """).param("root", FilePath.rawBytes(folder.resolve("meg"))).update();
        jdbc.sql("""
                        insert into reconciliation (run_id, origin_id, state, items_told, items_changed, items_tried, missing, remarks,
                                                    message, began_at, ended_at)
                        select 2, origin_id, case name when 'fw' then 'DIFFERS' else 'UNUSABLE' end, 5, 5, 5, 2, 1,
                               case name when 'fw' then '' else 'its root cannot be listed' end, now(), now()
                        from origin
                        """).update();
        jdbc.sql("""
                        insert into reconciliation_item (run_id, origin_id, arrival_id, missing, name, id, reason, message, found_at)
                        select 2, a.origin_id, a.arrival_id, n.missing, '安静時 <b>', a.item || n.reason, n.reason, 'file 3 of 12: 403', now()
                        from arrival a, (values (false, 'NO_HASH'), (true, 'DENIED'), (true, 'HASH_DIFFERS')) n (missing, reason)
                        where a.item in ('item-1', 'item-4')
                        """).update();
    }

    private static void register(String project, String code, String title, Path source) {
        service.bean(Experiments.class)
                .register(
                        Sight.EVERYTHING,
                        project,
                        code,
                        title,
                        source,
                        null,
                        new Acquisition("MR", "S7T", LocalDate.of(2026, 10, 1)),
                        "test");
    }

    private static String loggedIn() {
        try (BrowserContext context = browser.newContext()) {
            Page page = context.newPage();
            page.navigate(service.url() + "/");
            page.getByLabel("Name").fill("admin");
            page.getByLabel("Password").fill(service.password());
            page.getByRole(AriaRole.BUTTON).getByText("Log in").click();
            assertThat(page.locator("h1")).containsText("not safe");
            return context.storageState();
        }
    }

    @AfterEach
    void closePages() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @AfterAll
    static void stop() throws Exception {
        writeSheet();
        service.close();
        site.close();
        USUAL.values().forEach(BrowserContext::close);
    }

    @InEachLanguage
    void whoAsksWhetherAllIsSafeSeesItAndFollowsABar(String language) throws Exception {
        Page page = open(language, "/");
        assertThat(page.locator(".whole")).containsText("%");
        assertThat(page.locator("h1")).hasText(Pattern.compile("\\d.*\\d.*"));

        page.getByRole(AriaRole.LINK, named("P001")).first().click();
        assertThat(page).hasURL(Pattern.compile(".*/experiments\\?project=P001"));
        assertThat(page.locator("tbody")).not().containsText("P002/");
        assertThat(page.locator("tbody")).containsText(word(language, "is.VERIFIED"));

        page.locator("tbody a[href$='/experiments/P001/S0001']").click();
        assertThat(page.locator(".way li")).hasCount(4);
        assertThat(page.locator(".way")).containsText(word(language, "way.verified"));
    }

    @InEachLanguage
    void whoTypesFindsWhileTyping(String language) throws Exception {
        Page page = open(language, "/experiments");
        page.getByLabel(word(language, "find.text")).pressSequentially("レチノ");

        assertThat(page.locator("tbody tr")).hasCount(1);
        assertThat(page.locator("tbody")).containsText("P001/S0001");
        assertThat(page).hasURL(Pattern.compile(".*q=%E3%83%AC.*"));

        page.getByLabel(word(language, "find.text")).fill("nothing is like this");
        assertThat(page.locator(".empty")).containsText(word(language, "find.nothing"));
    }

    @InEachLanguage
    void whoTicksExperimentsIsAskedOnceForAllOfThem(String language) throws Exception {
        Page page = open(language, "/experiments?project=P001");
        page.getByLabel(word(language, "selected.page")).check();
        assertThat(page.locator("tbody input:not(:checked)")).hasCount(0);
        page.locator("tbody input").first().uncheck();
        assertThat(page.getByLabel(word(language, "selected.page"))).not().isChecked();
        accessible(page, "experiments-ticked", language);
        press(page, language, "do.post.experiments.project.code.labels.several.tick");
        accessible(page, "selected", language);
        page.getByLabel(word(language, "do.post.experiments.project.code.labels.label"))
                .fill("a label & more");
        press(page, language, "do.post.experiments.project.code.labels.yes");
        assertThat(page.locator(".field.wrong #label-error")).isVisible();
        accessible(page, "selected-refused", language);
        page.navigate(service.url() + "/experiments?project=P001");
        page.getByLabel(word(language, "searches.name")).fill("Two");
        press(page, language, "searches.keep");
        assertThat(page.locator(".flash")).isVisible();
        Locator kept = page.locator(".searches");
        Locator remove = kept.locator("span button");
        remove.click();
        assertThat(kept).not().containsText("Two");
        assertThat(page.locator(".flash"))
                .hasText(Pattern.compile(".*" + word(language, "retired.undo") + "\\s*$", Pattern.DOTALL));
        accessible(page, "flash", language);
        press(page, language, "retired.undo");
        assertThat(kept).containsText("Two");
        remove.click();
        assertThat(kept).not().containsText("Two");
    }

    @Test
    void theHeadOfAColumnSortsTheListAndTheFilterStays() throws Exception {
        Page page = open("en", "/experiments?project=P001");
        assertThat(page.locator(".sums")).containsText("safe");
        page.locator("thead").getByText(word("en", "sort.SIZE")).click();

        assertThat(page).hasURL(Pattern.compile(".*/experiments\\?project=P001&sort=-size"));
        assertThat(page.locator("[aria-sort]")).hasAttribute("aria-sort", "descending");
        page.locator("[aria-sort] a").click();
        assertThat(page.locator("[aria-sort]")).hasAttribute("aria-sort", "ascending");
        // The page's script is at work.
        page.waitForLoadState();
        page.getByLabel(word("en", "find.text")).fill("S0001");
        assertThat(page).hasURL(Pattern.compile(".*q=S0001.*"));
        assertThat(page.locator("[aria-sort]")).hasAttribute("aria-sort", "ascending");

        for (String wrong : List.of("site=nowhere", "sort=weight", "sort=size&after=1", "before=x")) {
            page.navigate(service.url() + "/experiments?" + wrong);
            assertThat(page.locator(".notice.gap")).isVisible();
            assertThat(page.locator("tbody")).hasCount(0);
        }
    }

    @InEachLanguage
    void anAuditorReadsTheLedgerAndVerifiesIt(String language) throws Exception {
        Page page = open(language, "/audit");
        follow(page, language, "ledger");
        assertThat(page.getByLabel(word(language, "ledger.action"))).isVisible();
        page.waitForLoadState();
        page.getByLabel(word(language, "ledger.action")).selectOption("experiment.registered");
        assertThat(page).hasURL(Pattern.compile(".*action=experiment.registered.*"));
        assertThat(page.locator("tbody th").first()).hasText(word(language, "did.experiment.registered"));
        page.locator("tbody details summary").first().click();
        assertThat(page.locator("tbody details dl").first()).containsText("source_sha256");

        press(page, language, "ledger.verify");
        assertThat(page.locator(".notice.safe h2")).hasText(word(language, "ledger.INTACT"));
        Sites sites = service.bean(Sites.class);
        SiteAddress dr = site.address();
        sites.save(
                "dr",
                new SiteAddress(dr.host(), 1, dr.user(), dr.root(), dr.identity(), dr.hostKey(), dr.way()),
                "test");
        try {
            press(page, language, "ledger.verify");
            assertThat(page.locator(".notice.gap h2")).hasText(word(language, "ledger.INCOMPLETE"));
            assertThat(page.locator(".notice.gap li")).containsText(language.equals("en") ? "Site dr" : "バックアップ先 dr");
            shoot(page, "ledger-unknown", language);
        } finally {
            sites.save("dr", dr, "test");
        }

        JdbcClient jdbc = service.jdbc();
        jdbc.sql("alter table ledger disable trigger ledger_is_append_only").update();
        try {
            press(page, language, "ledger.verify");
            assertThat(page.locator(".notice.gap h2")).hasText(word(language, "ledger.BROKEN"));
            assertThat(page.locator(".notice.gap")).containsText(word(language, "breach.UNGUARDED"));
            shoot(page, "ledger-broken", language);
        } finally {
            jdbc.sql("alter table ledger enable trigger ledger_is_append_only").update();
        }
    }

    /** A long table goes on on further sheets; only Chromium's PDF shows it, with {@code -Dwrite.pages=true}. */
    @InEachLanguage
    void theAuditReportIsPrintedWithoutNavigation(String language) throws Exception {
        Page page = open(language, "/audit");
        follow(page, language, "auditreport");
        assertThat(page.locator("[data-print]")).isVisible();
        assertThat(page.locator(".signature")).isVisible();

        page.emulateMedia(new Page.EmulateMediaOptions().setMedia(Media.PRINT));
        for (String unprinted : List.of(".top nav", "[data-print]", ".themes", "form.find")) {
            assertThat(page.locator(unprinted)).isHidden();
        }
        assertThat(page.locator("article")).containsText("dr");
        assertThat(page.locator("article")).containsText("admin");
        page.evaluate("""
                const body = document.querySelector("table.bars tbody");
                const row = body.rows[0];
                for (let i = 0; i < 200; i++) body.append(row.cloneNode(true));
                """);
        byte[] pdf = page.pdf(new Page.PdfOptions().setFormat("A4"));
        if (Boolean.getBoolean("write.pages")) {
            Files.write(SHOTS.resolve("audit-report-%s.pdf".formatted(language)), pdf);
        }
        assertThat(Pattern.compile("/Type /Page\\b")
                        .matcher(new String(pdf, StandardCharsets.ISO_8859_1))
                        .results()
                        .count())
                .isGreaterThan(3);
    }

    @Test
    void proposalsThatAreTickedBecomeExperiments() throws Exception {
        Page page = open("en", "/arrivals");
        page.getByLabel("Accept fw-item-3").check();
        page.getByRole(AriaRole.BUTTON)
                .getByText("Accept those that are ticked")
                .click();

        assertThat(page.locator(".notice.safe")).containsText("1 accepted");
        page.navigate(service.url() + "/arrivals/2");
        page.getByLabel("Code").fill("S0012");
        page.getByRole(AriaRole.BUTTON).getByText("Accept it").click();

        assertThat(page.locator("h1")).containsText("S0012");
    }

    @InEachLanguage
    void whatNobodyWantsIsDismissedWithAReasonAndTakenBack(String language) throws Exception {
        Page page = open(language, "/arrivals/4");
        follow(page, language, "dismiss");
        assertThat(page.locator(".confirm li")).hasCount(3);
        press(page, language, "do.post.arrivals.id.dismiss.yes");
        assertThat(page.locator("#reason-error")).isVisible();
        field(page, language, "do.post.arrivals.id.dismiss.reason").fill("a phantom");
        press(page, language, "do.post.arrivals.id.dismiss.yes");
        assertThat(page.locator(".notice")).containsText("a phantom");

        page.navigate(service.url() + "/arrivals");
        assertThat(page.locator("tbody")).not().containsText("<b>4");
        page.navigate(service.url() + "/arrivals?dismissed=true");
        assertThat(page.locator("tbody")).containsText("<b>4");
        page.navigate(service.url() + "/arrivals/4");
        press(page, language, "do.post.arrivals.id.takeback.yes");

        assertThat(page.getByRole(AriaRole.LINK, named(word(language, "dismiss"))))
                .isVisible();
    }

    @Test
    void findingNeedsNoScript() throws Exception {
        Page page = open("en", "/experiments", new NewContextOptions().setJavaScriptEnabled(false));
        page.getByLabel(word("en", "find.state")).selectOption("planned");
        page.getByRole(AriaRole.BUTTON, named(word("en", "find"))).click();

        assertThat(page.locator("tbody")).containsText("P002/T0001");
        assertThat(page.getByLabel(word("en", "find.state"))).hasValue("planned");
    }

    @InEachLanguage
    void whoRegistersOneKeepsWhatWasTyped(String language) throws Exception {
        Path source = Files.createDirectories(folder.resolve("new-" + language));
        Page page = open(language, "/register");
        assertThat(page.locator("#project option[value=P001]")).hasCount(1);
        field(page, language, "project").selectOption("P002");
        field(page, language, "code").fill("not a code");
        field(page, language, "source").fill("/never/there");
        field(page, language, "modality").fill("mr");
        field(page, language, "title").fill("聴覚 oddball");
        press(page, language, "register.yes");

        assertThat(page.locator("#source-error")).isVisible();
        assertThat(page.locator("#modality-error")).isVisible();
        assertThat(page.locator("#project")).hasValue("P002");
        assertThat(page.locator("#code-error")).containsText(language.equals("ja") ? "1～64 文字" : "1 to 64 letters");
        assertThat(field(page, language, "code")).hasAttribute("aria-invalid", "true");
        assertThat(field(page, language, "title")).hasValue("聴覚 oddball");
        shoot(page, "register-refused", language);

        field(page, language, "code").fill("N-" + language);
        field(page, language, "source").fill(source.toString());
        field(page, language, "modality").fill("");
        press(page, language, "register.yes");
        assertThat(page.locator("h1")).containsText("P002/N-" + language);
        assertThat(page.locator(".empty")).containsText(word(language, "manifests.none"));
    }

    /** The figure to hold: five steps (clicks and fields) and half a minute. */
    @InEachLanguage
    void aLabManagerRegistersADicomFolderInFiveStepsAndHalfAMinute(String language) throws Exception {
        Path visit = dicom("0-visit-" + language);
        Page page = lab(language, "lab", "/experiments");
        Locator link = page.getByRole(AriaRole.LINK, named(word(language, "folders.title")));
        Locator box = page.getByLabel(
                word(language, "folders.take.of")
                        .replace("{0}", visit.getFileName().toString()),
                new Page.GetByLabelOptions().setExact(true));
        Locator next = page.getByRole(AriaRole.BUTTON, named(word(language, "folders.next")));
        Locator register = page.locator("article button.main");
        List<Runnable> steps = List.of(link::click, box::check, next::click, register::click);

        Instant began = Instant.now();
        steps.forEach(Runnable::run);
        assertThat(page.locator(".notice.safe")).isVisible();

        assertThat(steps).hasSizeLessThanOrEqualTo(5);
        assertThat(Duration.between(began, Instant.now())).isLessThan(Duration.ofMinutes(2));
        Experiment registered =
                service.bean(Experiments.class).withSource(visit).orElseThrow();
        assertThat(registered.project()).isEqualTo("P001");
        assertThat(registered.code()).matches("20200929-MR-[0-9a-f]{4}(-[0-9]+)?");
        assertThat(registered.acquisition()).isEqualTo(new Acquisition("MR", "00090004", LocalDate.of(2020, 9, 29)));
        assertThat(box).hasCount(0);
        assertThat(page.locator("tbody")).containsText(registered.name());
    }

    @Test
    void aFolderIsRegisteredByKeyboardAlone() throws Exception {
        Path visit = dicom("0-keys");
        Page page = lab("en", "lab", "/register/folders");
        press(page, page.locator(".skip"), "Enter");
        press(page, page.getByLabel("Register 0-keys"), "Space");
        press(page, page.getByText(word("en", "folders.next")), "Enter");
        assertThat(page.locator("h1")).hasText(word("en", "chosen"));
        press(page, page.locator("article button.main"), "Enter");

        assertThat(page.locator(".notice.safe")).isVisible();
        assertThat(service.bean(Experiments.class).withSource(visit)).isPresent();
    }

    /** Moves to an element by the tabulator key and presses a key there. */
    private static void press(Page page, Locator element, String key) {
        for (int i = 0; i < 100 && !Boolean.TRUE.equals(element.evaluate("it => it === document.activeElement")); i++) {
            page.keyboard().press("Tab");
        }
        assertThat(element).isFocused();
        page.keyboard().press(key);
    }

    @InEachLanguage
    void foldersAreRegisteredTogetherAndAllErrorsAreShownAtOnce(String language) throws Exception {
        Path parent =
                Files.createDirectories(folder.resolve("1-many-" + language)).toRealPath();
        for (String name : List.of("a", "b", "c <b>")) {
            Files.createDirectories(parent.resolve(name));
        }
        Files.createDirectory(FilePath.of(NO_TEXT).under(parent));
        Files.createSymbolicLink(parent.resolve("link"), parent);
        Page page =
                lab(language, "lab", "/register/folders?folder=" + Bytes.of(FilePath.between(Path.of("/"), parent)));
        assertThat(page.locator("tbody tr")).hasCount(5);
        assertThat(page.locator("tbody")).containsText(word(language, "folders.state.LINK"));
        assertThat(page.locator("tbody")).containsText(word(language, "folders.bytes"));
        press(page, language, "folders.next");
        assertThat(page.locator("[role=alert]")).isVisible();
        for (Locator box : page.locator("tbody input").all()) {
            box.check();
        }
        shoot(page, "folders-chosen", language);
        press(page, language, "folders.next");
        assertThat(page.locator("fieldset.row")).hasCount(4);

        Experiments experiments = service.bean(Experiments.class);
        assertThat(page.locator("[id='project.1']")).hasValue("P001");
        page.locator("[id='code.1']").fill("not a code");
        page.locator("[id='modality.1']").fill("mr");
        page.locator("[id='acquired.2']").fill("2999-01-01");
        page.locator("[id='code.3']").fill("C-" + language);
        page.locator("[id='code.4']").fill("C-" + language);
        page.locator("article button.main").click();
        for (String wrong : List.of("code.1", "modality.1", "acquired.2", "code.4")) {
            assertThat(page.locator("[id='" + wrong + "-error']")).isVisible();
        }
        assertThat(page.locator("[id='modality.1']")).hasValue("mr");
        assertThat(experiments.withSource(parent.resolve("b"))).isEmpty();
        accessible(page, "chosen-wrong", language);
        fits(page, "chosen-wrong", language);
        page.setViewportSize(NARROW, 800);
        fits(page, "chosen-narrow", language);
        shoot(page, "chosen-narrow", language);

        page.locator("[name='skip.1']").check();
        page.locator("[id='acquired.2']").fill("2026-10-01");
        page.locator("[id='code.4']").fill("D-" + language);
        page.locator("article button.main").click();
        assertThat(page.locator(".notice.safe")).containsText("3");
        assertThat(experiments.withSource(parent.resolve("a"))).isEmpty();
        assertThat(experiments.find("P001", "C-" + language)).isPresent();
        assertThat(experiments.withSource(FilePath.of(NO_TEXT).under(parent))).isPresent();
    }

    @Test
    void whoCannotRegisterIsToldWhomToAsk() throws Exception {
        service.createUser("lab2", Role.LAB_MANAGER);
        Page page = lab("en", "lab2", "/register/folders");
        assertThat(page.locator("main")).containsText(word("en", "register.noproject.next"));
        service.bean(Users.class).join("P002", "lab2", "test");

        for (String address : List.of("/register", "/register/folders")) {
            page.navigate(service.url() + address);
            assertThat(page.locator(".notice")).containsText(word("en", "register.rootless.next"));
            assertThat(page.locator(".notice")).containsText("P002");
        }
        assertThat(page.navigate(service.url() + "/register/folders?folder="
                                + Bytes.of(FilePath.between(Path.of("/"), folder.toRealPath())))
                        .status())
                .isEqualTo(422);

        Path gone = Files.createDirectory(folder.resolve("gone"));
        service.createProject("P003");
        service.bean(Projects.class).setRoots("P003", List.of(folder, gone), "test");
        Files.delete(gone);
        service.bean(Users.class).join("P003", "lab2", "test");
        page.navigate(service.url() + "/register/folders");
        assertThat(page.locator("tbody tr")).hasCount(2);
        assertThat(page.locator("tbody")).containsText(word("en", "folders.state.GONE"));
        accessible(page, "roots", "en");
        fits(page, "roots", "en");
    }

    /** Copies a real DICOM folder to a new one, below the root of P001. */
    private static Path dicom(String name) throws IOException {
        Path made = Files.createDirectories(folder.resolve(name)).toRealPath();
        try (Stream<Path> files = Files.list(SharedData.folder().resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"))) {
            for (Path file : files.toList()) {
                Files.copy(file, made.resolve(file.getFileName()));
            }
        }
        return made;
    }

    /** Opens a page as another user. */
    private Page lab(String language, String user, String path) throws Exception {
        BrowserContext context = browser.newContext(new NewContextOptions().setLocale(language));
        opened.add(context);
        Page page = context.newPage();
        page.navigate(service.url() + path);
        logIn(page, language, PASSWORD, user);
        return page;
    }

    @Test
    void whatIsTypedWhileAFolderIsReadStays() throws Exception {
        Path source = Files.createDirectories(folder.resolve("typed"));
        Files.writeString(
                source.resolve("scan.json"),
                "{\"Modality\": \"MR\", \"AcquisitionDateTime\": \"2026-10-01T09:30\", \"StudyInstanceUID\": \"1.2.392.7.1\"}");
        Page page = open("en", "/register");
        List<Route> asked = new ArrayList<>();
        page.route("**/register/suggestions*", asked::add);
        field(page, "en", "source").fill(source.toString());
        field(page, "en", "title").focus();
        page.waitForCondition(() -> !asked.isEmpty());

        field(page, "en", "modality").fill("EEG");
        field(page, "en", "title").focus();
        asked.getFirst().resume();

        assertThat(field(page, "en", "acquired")).hasValue("2026-10-01");
        assertThat(field(page, "en", "modality")).hasValue("EEG");
        assertThat(asked.getFirst().request().url()).contains("source=").doesNotContain("_csrf");
    }

    @Test
    void aLoginLeadsToWhatWasWanted() throws Exception {
        BrowserContext context = browser.newContext(new NewContextOptions().setLocale("en"));
        opened.add(context);
        Page page = context.newPage();
        page.navigate(service.url() + "/experiments?state=planned");
        logIn(page, "en", "a wrong password");

        assertThat(page.locator("[role=alert]")).hasText(word("en", "login.wrong"));
        page.getByText("日本語", exactly()).click();
        assertThat(page.locator("h1")).hasText(word("ja", "login"));
        page.getByText(word("ja", "theme.dark"), exactly()).click();
        assertThat(page.locator("html")).hasAttribute("data-theme", "dark");
        logIn(page, "ja", PASSWORD);
        assertThat(page).hasURL(Pattern.compile(".*/experiments\\?state=planned.*"));
        assertThat(page.locator("html")).hasAttribute("data-theme", "dark");

        press(page, "ja", "logout");
        assertThat(page.locator("[role=status]")).hasText(word("ja", "login.out"));
        page.getByText("English", exactly()).click();
        logIn(page, "en", PASSWORD);
        assertThat(page).hasURL(Pattern.compile(".*:[0-9]+/(\\?continue)?"));
        assertThat(page.locator("h1")).isVisible();
    }

    @Test
    void whoseSessionHasEndedIsToldSoAndGoesOn() throws Exception {
        Page page = open("en", "/", new NewContextOptions());
        endSession(page);
        page.navigate(service.url() + "/runs");
        assertThat(page.locator("[role=status]")).hasText(word("en", "login.ended"));
        logIn(page, "en", service.password(), "admin");
        assertThat(page).hasURL(Pattern.compile(".*/runs(\\?continue)?"));

        page.navigate(service.url() + "/do/post/projects");
        field(page, "en", "code").fill("NEVER");
        endSession(page);
        press(page, "en", "do.post.projects.yes");
        assertThat(page.locator("[role=status]")).hasText(word("en", "login.ended"));
        logIn(page, "en", service.password(), "admin");
        assertThat(page).hasURL(Pattern.compile(".*/do/post/projects(\\?continue)?"));
        assertThat(service.bean(Projects.class).find("NEVER")).isEmpty();

        page.navigate(service.url() + "/experiments");
        endSession(page);
        page.getByLabel(word("en", "find.state")).selectOption("planned");
        assertThat(page.locator("h1")).hasText(word("en", "login"));
    }

    /** Leaves the browser with the cookie of a session that does not exist, as after a restart of the service. */
    private static void endSession(Page page) {
        BrowserContext context = page.context();
        context.addCookies(context.cookies().stream()
                .filter(cookie -> cookie.httpOnly)
                .map(cookie -> new Cookie(cookie.name, "0").setUrl(service.url()))
                .toList());
    }

    private static void logIn(Page page, String language, String password) throws Exception {
        logIn(page, language, password, "lab");
    }

    private static void logIn(Page page, String language, String password, String name) throws Exception {
        field(page, language, "login.name").fill(name);
        field(page, language, "login.password").fill(password);
        press(page, language, "login");
    }

    @InEachLanguage
    void whoRegistersManySeesEveryVerdictFirst(String language) throws Exception {
        Path source = Files.createDirectories(folder.resolve("csv-" + language));
        String csv = "project,code,source,title%nP002,C-%s,%s,脳波%nP002,no code,%s,%nNOWHERE,X,%s,%n"
                .formatted(language, source, source, source);
        Page page = open(language, "/register/csv");
        page.locator("#file")
                .setInputFiles(new FilePayload("visits.csv", "text/csv", csv.getBytes(StandardCharsets.UTF_8)));
        press(page, language, "csv.judge");

        assertThat(page.locator("tbody tr")).hasCount(3);
        assertThat(page.locator("tbody"))
                .containsText(language.equals("ja") ? "プロジェクト「NOWHERE」がありません" : "does not exist");
        assertThat(service.bean(Experiments.class).find("P002", "C-" + language))
                .isEmpty();
        accessible(page, "preview", language);

        page.locator(".confirm button").click();
        assertThat(page.locator("h1")).containsText("1");
        assertThat(page.locator("tbody")).containsText(word(language, "verdict.REGISTERED"));
        assertThat(service.bean(Experiments.class).find("P002", "C-" + language))
                .isPresent();
    }

    @Test
    void aFileThatIsNoneIsRefusedAtItsField() throws Exception {
        Page page = open("en", "/register/csv");
        page.locator("#file").setInputFiles(new FilePayload("a.csv", "text/csv", "what,is,this\n1,2,3\n".getBytes()));
        press(page, "en", "csv.judge");

        assertThat(page.locator(".error").first()).isVisible();
        assertThat(page).hasURL(service.url() + "/register/csv");
    }

    @InEachLanguage
    void whoLooksForAFileFindsItsProofWhateverItsName(String language) throws Exception {
        Page page = open(language, "/experiments/P001/S0001");
        follow(page, language, "manifests.files.of", "2");
        page.getByText("<b>.raw").click();

        assertThat(page.locator("h1")).hasText(word(language, "proof.title"));
        assertThat(page.locator(".badge.safe")).hasText(word(language, "proven"));
        assertThat(page.locator("dd code").first()).hasText(Pattern.compile("[0-9a-f]{64}"));
    }

    @InEachLanguage
    void aLargeFolderIsLookedThroughPageByPage(String language) throws Exception {
        Page page = open(language, "/experiments/P001/S0001/manifests/1");
        page.getByText("dicom/").click();
        assertThat(page.locator("tbody tr")).hasCount(200);

        page.getByText(word(language, "pages.next")).click();
        assertThat(page.locator("tbody tr")).hasCount(FILES - 200);
        assertThat(page.locator("tbody tr").last()).containsText("IM0229.dcm");
        page.getByText(word(language, "pages.first")).click();
        assertThat(page.locator("tbody tr").first()).containsText("IM0000.dcm");
    }

    @InEachLanguage
    void whatChangedBetweenTwoManifestsIsListed(String language) throws Exception {
        Page page = open(language, "/experiments/P001/S0001");
        follow(page, language, "manifests.changes.of", "2");

        Locator listed = page.locator("tbody").last();
        assertThat(listed).containsText("new.txt");
        assertThat(listed).containsText(word(language, "change.NEW"));
        assertThat(listed).containsText("protocol.txt");
        assertThat(listed).containsText(word(language, "change.CHANGED"));
    }

    @InEachLanguage
    void whoReleasesIsToldFirstWhatThatDoes(String language) throws Exception {
        freeze();
        Page page = open(language, "/experiments/P001/S0001");
        page.getByText(word(language, "release"), new Page.GetByTextOptions().setExact(true))
                .click();
        assertThat(page.locator(".confirm li")).hasCount(5);
        accessible(page, "release", language);

        press(page, language, "do.post.experiments.project.code.release.yes");
        assertThat(page.locator("h1")).containsText("P001/S0001");
        assertThat(page.locator(".notice")).hasCount(0);
    }

    private static void freeze() {
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 2, now(), 1234, 567890, 'much is gone' from experiment where code = 'S0001'
                        on conflict do nothing
                        """).update();
        service.jdbc()
                .sql("update frozen_experiment set released_at = null, released_by = null")
                .update();
    }

    @Test
    void languageAndLightAreRemembered() throws Exception {
        Page page = open("en", "/experiments?project=P001", new NewContextOptions());
        page.getByText("日本語").click();
        assertThat(page.locator("html")).hasAttribute("lang", "ja");
        assertThat(page).hasURL(Pattern.compile(".*/experiments\\?project=P001"));
        page.getByText(word("ja", "theme.dark")).click();
        page.navigate(service.url() + "/");

        assertThat(page.locator("html")).hasAttribute("lang", "ja");
        assertThat(page.locator("html")).hasAttribute("data-theme", "dark");
        assertThat(page.locator("body")).hasCSS("background-color", "rgb(20, 24, 27)");
    }

    @Test
    void theKeyboardIsEnough() throws Exception {
        Page page = open("en", "/experiments");
        page.keyboard().press("Tab");
        assertThat(page.locator(".skip")).isFocused();
        page.keyboard().press("Enter");
        page.keyboard().press("Tab");

        assertThat(page.getByText(word("en", "register"))).isFocused();
    }

    /**
     * Loads each page once in each language, then looks at it light and dark, wide and narrow. NB: a language changes no
     * colour, so the colours are checked in English only.
     */
    @InEachLanguage
    void everyPageIsForEverybody(String language) throws Exception {
        Page page = open(language, "/");
        List<String> failed = new ArrayList<>();
        page.onResponse(response -> {
            if (response.status() >= 400 && !response.request().isNavigationRequest()) {
                failed.add(response.status() + " " + response.url());
            }
        });
        boolean english = language.equals("en");
        for (Map.Entry<String, String> each : pages().entrySet()) {
            page.setViewportSize(WIDE, 800);
            page.emulateMedia(in(english ? ColorScheme.LIGHT : ColorScheme.DARK));
            page.navigate(service.url() + each.getValue());
            String wide = "%s-%s-%d".formatted(each.getKey(), english ? "light" : "dark", WIDE);
            look(page, wide, language);
            if (english) {
                accessible(page, wide, language, Axe.WCAG);
            }
            page.setViewportSize(NARROW, 800);
            page.emulateMedia(in(english ? ColorScheme.DARK : ColorScheme.LIGHT));
            String narrow = "%s-%s-%d".formatted(each.getKey(), english ? "dark" : "light", NARROW);
            look(page, narrow, language);
            accessible(page, narrow, language, english ? Axe.LOOKS : Axe.WORDS);
        }
        assertThat(failed).as("files that pages name").isEmpty();
    }

    private static void look(Page page, String name, String language) throws Exception {
        shoot(page, name, language);
        fits(page, name, language);
    }

    private static Page.EmulateMediaOptions in(ColorScheme scheme) {
        return new Page.EmulateMediaOptions().setColorScheme(scheme);
    }

    /** Lists the pages by the names of their screenshots. Add a line for each new page. */
    private static Map<String, String> pages() {
        String experiment = "/experiments/P001/S0001";
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("overview", "/");
        pages.put("experiments", "/experiments");
        pages.put("experiments-none", "/experiments?q=nothing");
        pages.put("search", "/search?q=p001");
        pages.put("search-none", "/search?q=nothing+like+this");
        pages.put("ledger", "/audit/ledger");
        pages.put("audit-report", "/audit/report");
        pages.put("audit-report-before", "/audit/report?at=2020-01-01&project=P001");
        pages.put("audit-report-wrong", "/audit/report?at=2099-01-01");
        pages.put("holds", "/holds");
        pages.put("erasures", "/erasures");
        pages.put("ledger-wrong", "/audit/ledger?from=2026-11-02&until=2026-11-01");
        pages.put("experiments-sorted", "/experiments?sort=-size");
        pages.put("experiments-wrong", "/experiments?from=yesterday");
        pages.put("experiment", experiment);
        pages.put("experiment-new", "/experiments/P002/T0001");
        pages.put("manifest", experiment + "/manifests/2");
        pages.put("changes", experiment + "/changes?from=1&to=2");
        pages.put("proof", experiment + "/proof?path=" + Bytes.of(FilePath.of("protocol.txt")));
        pages.put("restore", experiment + "/restore?path=" + Bytes.of(FilePath.of("protocol.txt")));
        pages.put("restore-selected", experiment + "/restore?paths=dicom&patterns=%5Ba-z%5D*.json");
        pages.put("restored", experiment + "/restores/1");
        pages.put("restores", "/restores");
        pages.put("batch", "/restores/1");
        pages.put("batch-open", "/restores/2?state=WAITING");
        pages.put("batch-new", "/do/post/restore-batches?back=/restores/*");
        pages.put("batch-archive", "/do/post/restore-batches/archive?back=/restores/*");
        pages.put("certificate", experiment + "/certificate?manifest=2");
        pages.put("register", "/register");
        pages.put("folders", "/register/folders?folder=" + Bytes.of(FilePath.between(Path.of("/"), folder)));
        pages.put("csv", "/register/csv");
        pages.put("gaps", "/gaps?all=true");
        pages.put("gaps-none", "/gaps?kind=split");
        pages.put("bookings", "/gaps/bookings");
        pages.put("arrivals", "/arrivals");
        pages.put("arrivals-none", "/arrivals?project=P002");
        pages.put("arrivals-dismissed", "/arrivals?dismissed=true");
        pages.put("arrival", "/arrivals/1");
        pages.put("arrival-dismissed", "/arrivals/5");
        pages.put("alerts", "/alerts");
        pages.put("morning-report", "/report");
        pages.put("morning-report-wrong", "/report?date=tomorrow");
        pages.put("origins", "/origins");
        pages.put("originkind", "/origins/new");
        pages.put("origin-new", "/origins/new?kind=tree");
        pages.put("origin", "/origins/fw/change");
        pages.put("runs", "/runs");
        pages.put("run", "/runs/2");
        pages.put("reconciliation", "/runs/2/reconciliation");
        pages.put("reconciliation-none", "/runs/1/reconciliation?missing=true");
        pages.put("start", "/do/post/runs?back=/runs/*");
        pages.put("replicate", "/do/post/replications?back=/runs/*");
        pages.put("recipient-new", "/do/put/alerts/recipients/*?active=true");
        pages.put("drills", "/drills");
        pages.put("drill", "/drills/2");
        pages.put("drill-failed", "/drills/3");
        pages.put("act", "/do/post/runs/2/retry?back=/runs/*");
        pages.put("findings", "/findings");
        pages.put("findings-all", "/findings?all=true");
        pages.put("acknowledge", "/findings/%d/acknowledge".formatted(openFinding()));
        pages.put("audit", "/audit?by=scanner");
        pages.put("audit-wrong", "/audit?asOf=tomorrow");
        pages.put("audit-none", "/audit?asOf=2020-01-01&from=2020-01-01&until=2020-01-02");
        pages.put("sites", "/sites");
        pages.put("check", "/sites/dr/check");
        pages.put("newsite", "/sites/new");
        pages.put("changesite", "/sites/dr/change");
        pages.put("forecast", "/sites/dr/forecast");
        pages.put("forecast-run", "/runs/2/forecast");
        pages.put("schedule", "/do/put/sites/dr/schedules?back=/sites");
        pages.put("timetable", "/do/put/sites/dr/timetable?back=/sites");
        pages.put("sitetuning", "/sites/dr/tuning");
        pages.put("removesite", "/do/delete/sites/dr?back=/sites");
        pages.put("administration", "/administration");
        pages.put("password", "/do/put/me/password?back=/administration");
        pages.put("tokens", "/administration/tokens");
        pages.put("users", "/administration/users");
        pages.put("newuser", "/do/post/users?back=/administration/users/*");
        pages.put("user", "/administration/users/lab");
        pages.put("user-change", "/do/patch/users/lab?only=roles,disabled");
        pages.put("token-new", "/do/post/me/tokens?scope=all&days=90");
        pages.put("drill-new", "/do/post/drills?back=/drills/*");
        pages.put("projects", "/administration/projects");
        pages.put("newproject", "/do/post/projects?back=/administration/projects/*");
        pages.put("hold-new", "/do/post/holds?back=/holds");
        pages.put("member-new", "/do/put/projects/P001/members/*");
        pages.put("project", "/administration/projects/P001");
        pages.put("missing", "/experiments/P001/NEVER");
        pages.put("nowhere", "/nowhere");
        pages.put("login", "/login");
        return pages;
    }

    private static long openFinding() {
        return service.bean(Findings.class)
                .page(Sight.EVERYTHING, FindingFilter.OPEN, Long.MAX_VALUE, 1)
                .getFirst()
                .id();
    }

    @InEachLanguage
    void whoStartsABackupFollowsItToItsEnd(String language) throws Exception {
        Path many = Files.createDirectories(folder.resolve("many-" + language));
        for (int i = 0; i < 1_500; i++) {
            Files.writeString(many.resolve("f" + i), "content " + i);
        }
        register("P002", "M-" + language, "", many);
        Page page = open(language, "/runs");
        follow(page, language, "start");
        assertThat(page.locator(".confirm li")).hasCount(3);
        try (Connection held = service.bean(DataSource.class).getConnection();
                Statement lock = held.createStatement()) {
            // The run cannot end before the page was checked: recording is blocked.
            lock.execute("""
                    create function hold() returns trigger language plpgsql
                    as 'begin perform pg_advisory_xact_lock_shared(7); return new; end';
                    create trigger held before insert on receipt for each row execute function hold();
                    """);
            held.setAutoCommit(false);
            lock.execute("select pg_advisory_xact_lock(7)");
            AtomicInteger asked = new AtomicInteger();
            page.route("**/events", route -> {
                if (asked.getAndIncrement() == 0) {
                    route.fulfill(new Route.FulfillOptions().setStatus(503));
                } else {
                    route.resume();
                }
            });
            press(page, language, "do.post.runs.yes");
            assertThat(page).hasURL(Pattern.compile(".*/runs/[0-9]+"));
            page.evaluate("window.neverLoadedAgain = true");
            assertThat(page.getByText(word(language, "run.lost"))).isVisible();
            assertThat(page.getByText(word(language, "run.lost")))
                    .isHidden(new LocatorAssertions.IsHiddenOptions().setTimeout(30_000));
            assertThat(page.locator("[data-live='byte-rate']")).containsText("/s", within(30));
            assertThat(page.locator("#experiments tbody")).containsText("P002/M-" + language, within(30));
            page.locator("#engine > summary").click();
            // If other processes use all processors, these are the bottleneck.
            assertThat(page.locator("[data-live-word='limit']"))
                    .hasText(
                            oneOf(word(language, "limit.RECORDING"), word(language, "limit.PROCESSORS")),
                            textWithin(60).setUseInnerText(true));
            assertThat(page.locator("table[data-live-rows='lane-rows'] tbody th")
                            .first())
                    .hasText("1");
            assertThat(page.locator("figure.chart tbody tr").first()).isAttached();
            assertThat(page.locator("figure.chart[data-live] canvas")).hasCount(2);
            assertThat(page.locator("#found li"))
                    .hasCount(3, new LocatorAssertions.HasCountOptions().setTimeout(30_000));
            fits(page, "run-live", language);
            accessible(page, "run-live", language);
            held.rollback();
        }
        assertThat(page.locator("h1 .badge")).hasText(word(language, "state.FINDINGS"), textWithin(90));
        // Not before the end: a change of the table waits for one transaction of the run and keeps the others waiting.
        service.jdbc().sql("drop trigger held on receipt; drop function hold()").update();
        assertThat(page.locator("[data-live='share']").first()).hasText("100");
        assertThat(page.evaluate("window.neverLoadedAgain")).isEqualTo(true);
        assertThat(page.locator("#run")).not().hasAttribute("data-events", Pattern.compile(".*"));
        assertThat(page.locator("#experiments tbody tr")
                        .filter(new Locator.FilterOptions().setHasText("P002/M-" + language)))
                .containsText(word(language, "run.is.VERIFIED"));
        String ended = page.locator("#run").innerText();
        keepsItsSpeed(page, language);
        page.reload();
        page.locator("#engine > summary").click();
        assertThat(page.locator("#run").innerText()).isEqualTo(ended);
        keepsItsSpeed(page, language);
        shoot(page, "run-ended", language);
    }

    private static void keepsItsSpeed(Page page, String language) throws Exception {
        assertThat(page.locator("#pace figcaption")).containsText("/s");
        assertThat(page.locator("#pace canvas")).hasCount(2);
        page.locator("#pace").getByText(word(language, "chart.table")).click();
        assertThat(page.locator("#pace tbody tr").first()).isVisible();
    }

    @InEachLanguage
    void whoPausesOrStopsIsToldFirstWhatThatDoes(String language) throws Exception {
        Runs runs = service.bean(Runs.class);
        long run = service.openRun().id();
        runs.pause(run, "test");
        Page page = open(language, "/runs/" + run);
        assertThat(page.locator(".notice")).containsText("test");
        accessible(page, "run-paused", language);
        follow(page, language, "act.stop");
        assertThat(page.locator(".confirm li")).hasCount(3);
        accessible(page, "stop", language);
        press(page, language, "do.post.runs.id.stop.yes");

        assertThat(page.locator("h1 .badge")).hasText(word(language, "state.STOPPED"));
    }

    @InEachLanguage
    void aRunThatIsStoppingSaysWhoAskedForIt(String language) throws Exception {
        Runs runs = service.bean(Runs.class);
        Operations operations = service.bean(Operations.class);
        // Held, because the schedule ends a run that is to stop and that no process works on.
        synchronized (operations) {
            long run = service.openRun().id();
            runs.stop(run, "night owl");
            Page page = open(language, "/runs/" + run);
            assertThat(page.locator(".notice"))
                    .containsText(word(language, "run.stopping.by").replace("{0}", "night owl"));
            assertThat(page.getByRole(AriaRole.LINK, named(word(language, "act.stop"))))
                    .hasCount(0);
            accessible(page, "run-stopping", language);
            operations.stop(run, "test");
        }
    }

    @InEachLanguage
    void whoResumesOrTriesAgainIsToldFirstWhatThatDoes(String language) throws Exception {
        Runs runs = service.bean(Runs.class);
        long run = service.openRun().id();
        runs.pause(run, "test");
        Page page = open(language, "/runs/" + run);
        press(page, language, "act.resume");
        assertThat(page).hasURL(service.url() + "/runs/" + run);
        assertThat(page.locator("h1 .badge")).hasText(word(language, "state.FINDINGS"), textWithin(60));

        page.navigate(service.url() + "/runs/" + run);
        follow(page, language, "act.retry");
        assertThat(page.locator(".confirm li")).hasCount(3);
        press(page, language, "do.post.runs.id.retry.yes");
        assertThat(page).not().hasURL(service.url() + "/runs/" + run);
        assertThat(page.locator(".lead"))
                .containsText(word(language, "run.retry").replace("{0}", "" + run));
        assertThat(page.locator("h1 .badge")).hasText(word(language, "state.FINDINGS"), textWithin(60));
    }

    @InEachLanguage
    void equalFindingsAreOneLineAndAreAcknowledgedTogether(String language) throws Exception {
        long run = service.bean(Runs.class).latest().orElseThrow().id();
        service.bean(Findings.class)
                .add(
                        run,
                        IntStream.range(0, 400)
                                .mapToObj(n -> new Findings.Finding(
                                        null, Problem.CYCLE, FilePath.of(language + n), "a loop of " + language))
                                .toList());
        Page page = open(language, "/");
        page.locator(".top nav").getByText(word(language, "nav.findings")).click();

        Locator line = page.locator("#results > ul > li")
                .filter(new Locator.FilterOptions().setHasText(word(language, "reason.CYCLE")));
        assertThat(line).hasCount(1);
        assertThat(line).containsText(word(language, "finding.times").replace("{0}", "400"));
        assertThat(line).containsText(word(language, "means.CYCLE"));
        line.getByText(word(language, "finding.acknowledge.all").replace("{0}", "400"))
                .click();
        press(page, language, "finding.acknowledge.yes");
        assertThat(page.locator("#reason-error")).isVisible();
        field(page, language, "finding.why").fill("計画停電のため");
        press(page, language, "finding.acknowledge.yes");

        assertThat(page).hasURL(service.url() + "/findings");
        assertThat(page.locator("#results")).not().containsText(word(language, "reason.CYCLE"));
    }

    @InEachLanguage
    void aFindingLeadsToItsCure(String language) throws Exception {
        long run = service.bean(Runs.class).latest().orElseThrow().id();
        service.bean(Findings.class)
                .add(run, List.of(new Findings.Finding(null, Problem.LIST_OLD, null, "of yesterday: " + language)));
        Page page = open(language, "/findings?reason=LIST_OLD");

        page.getByText(word(language, "cure.retry"), exactly()).click();

        assertThat(page).hasURL(Pattern.compile(".*/do/post/runs/\\d+/retry\\?.*"));
    }

    @InEachLanguage
    void whoAcknowledgesGivesAReasonThatIsKept(String language) throws Exception {
        long run = service.bean(Runs.class).latest().orElseThrow().id();
        service.bean(Findings.class)
                .add(run, List.of(new Findings.Finding(null, Problem.SITE_CHANGED, null, "for " + language)));
        Page page = open(language, "/findings?reason=SITE_CHANGED");
        page.getByText(word(language, "finding.acknowledge"), exactly()).first().click();
        press(page, language, "finding.acknowledge.yes");
        assertThat(page.locator("#reason-error")).isVisible();
        field(page, language, "finding.why").fill("計画停電のため");
        press(page, language, "finding.acknowledge.yes");

        assertThat(page.locator("main")).containsText("計画停電のため");
        assertThat(page.locator("main")).containsText(word(language, "finding.acknowledged"));
    }

    @InEachLanguage
    void anAuditorTakesASheetAndFindsAProof(String language) throws Exception {
        Page page = open(language, "/audit");
        page.getByLabel(word(language, "audit.by"), new Page.GetByLabelOptions().setExact(true))
                .selectOption("scanner");
        press(page, language, "audit.show");
        assertThat(page.locator("#coverage + *, table.bars tbody").first()).isVisible();
        assertThat(page.locator("table.bars tbody")).containsText("S7T");
        String csv = word(language, "audit.csv.coverage");
        Download sheet = page.waitForDownload(
                () -> page.getByText(csv, exactly()).first().click());
        assertThat(sheet.suggestedFilename()).isEqualTo("coverage-by-scanner.csv");
        assertThat(Files.readString(sheet.path())).startsWith("asOf,name,").contains("S7T");

        field(page, language, "experiment").fill("P001/S0001");
        field(page, language, "path").fill("no such file");
        press(page, language, "audit.proof");
        assertThat(page.locator("#path-error")).isVisible();
        assertThat(field(page, language, "experiment")).hasValue("P001/S0001");
        field(page, language, "path").fill("dicom/IM0001.dcm");
        press(page, language, "audit.proof");
        assertThat(page.locator("h1")).hasText(word(language, "proof.title"));
    }

    @InEachLanguage
    void anOriginIsAddedAndChangedAndWhatIsWrongIsSaidAtItsField(String language) throws Exception {
        String root =
                Files.createDirectories(folder.resolve("tree-" + language)).toString();
        Page page = open(language, "/origins");
        follow(page, language, "origins.new");
        follow(page, language, "origins.kind.TREE");
        page.locator("#name").fill("tree-" + language);
        page.locator("#root").fill(root);
        page.locator("#patterns").fill("{nobody}");
        page.locator("input[name=active]").uncheck();
        press(page, language, "change.yes");
        assertThat(page.locator("#patterns-error")).containsText("{nobody}");
        assertThat(page.locator("#root")).hasValue(root);
        assertThat(page.locator("input[name=active]")).not().isChecked();
        accessible(page, "origin-wrong", language);
        page.locator("#patterns").fill("{project}/{label}");
        press(page, language, "change.yes");
        assertThat(page.locator("#origin-tree-" + language)).containsText(word(language, "origins.is.inactive"));

        page.navigate(service.url() + "/origins/tree-%s/change".formatted(language));
        Page other = open(language, "/origins/tree-%s/change".formatted(language));
        other.locator("#project").fill("P002");
        press(other, language, "change.yes");
        page.locator("#projects").fill("MEG01=P001");
        press(page, language, "change.yes");
        assertThat(page.locator(".error").first()).isVisible();
        assertThat(page.locator("#projects")).hasValue("MEG01=P001");
        assertThat(service.bean(Origins.class)
                        .find("tree-" + language)
                        .orElseThrow()
                        .terms()
                        .project())
                .isEqualTo("P002");
    }

    @Test
    void aRunTellsWhatOriginsHadWhatIsMissingFirst() throws Exception {
        Page page = open("en", "/runs/2");
        page.locator("#reconciled tbody th a").first().click();

        assertThat(page.locator("ul.sheet li")).hasCount(6);
        assertThat(page.locator("ul.sheet li").first()).containsText(word("en", "says.DENIED"));
        assertThat(page.locator("ul.sheet li").last()).containsText(word("en", "says.NO_HASH"));
        Download sheet = page.waitForDownload(
                () -> page.getByText("All lines of the run as CSV", exactly()).click());
        assertThat(Files.readString(sheet.path())).contains("HASH_DIFFERS");
        page.locator("#missing").selectOption("true");
        press(page, "en", "find");
        assertThat(page.locator("ul.sheet li")).hasCount(4);
    }

    @InEachLanguage
    void whoChecksASiteSeesWhatWasFound(String language) throws Exception {
        Page page = open(language, "/sites");
        assertThat(page.locator("main")).containsText("SHA256:");
        follow(page, language, "check.of", "dr");
        press(page, language, "check.yes");
        assertThat(page.locator("h1")).containsText("dr");
        assertThat(page.locator(".notice")).containsText(word(language, "checked.usable"), within(40));
        assertThat(page.locator("dl")).containsText(word(language, "site.thief"));
        assertThat(page.locator("dl")).containsText(word(language, "power.DELETE"));
        accessible(page, "checked", language);
    }

    @InEachLanguage
    void aTokenIsShownOnceAndRevoked(String language) throws Exception {
        Page page = open(language, "/administration");
        follow(page, language, "tokens");
        follow(page, language, "do.post.me.tokens");
        page.locator("#name").fill("report " + language);
        press(page, language, "do.post.me.tokens.yes");
        assertThat(page.locator("#secret")).containsText("dozo_");
        accessible(page, "token-made", language);
        page.navigate(service.url() + "/administration/tokens");
        assertThat(page.locator("main")).not().containsText("dozo_");
        follow(page, language, "token.revoke.of", "report " + language);
        accessible(page, "revoke", language);
        press(page, language, "do.delete.me.tokens.id.yes");

        assertThat(page.locator("main")).not().containsText("report " + language);
    }

    @InEachLanguage
    void anAdministratorMakesAUserAndGivesAProject(String language) throws Exception {
        String name = "person-" + language;
        Page page = open(language, "/do/post/users?back=/administration/users/*");
        page.locator("#name").fill(name);
        page.locator("#password").fill("short");
        page.locator("input[value=LAB_MANAGER]").check();
        press(page, language, "do.post.users.yes");
        assertThat(page.locator("#password-error")).isVisible();
        assertThat(page.locator("input[value=LAB_MANAGER]")).isChecked();
        assertThat(page.locator("#name")).hasValue(name);
        page.locator("#password").fill("a password for tests");
        press(page, language, "do.post.users.yes");
        assertThat(page.locator("h1")).containsText(name);

        page.navigate(service.url() + "/administration/projects/P002");
        page.getByText(word(language, "project.join"), exactly()).click();
        page.locator("#name").fill(name);
        press(page, language, "do.put.projects.project.members.name.yes");
        assertThat(page.locator("main")).containsText(name);
        page.getByLabel(word(language, "project.change.of").replace("{0}", word(language, "project.tripwire")))
                .click();
        page.locator("#percent").fill("200");
        page.locator("#percent").press("Enter");
        assertThat(page.locator("#percent-error")).isVisible();
        assertThat(page.locator("#percent")).hasValue("200");

        page.navigate(service.url() + "/administration/users/" + name);
        assertThat(page.locator("main")).containsText("P002");
        page.getByRole(AriaRole.LINK, named(word(language, "project.change"))).click();
        assertThat(page.locator("input[value=LAB_MANAGER]")).isChecked();
        page.locator("input[name=disabled]").check();
        press(page, language, "change.yes");
        assertThat(page.locator("h1 .badge")).hasText(word(language, "user.disabled"));
    }

    @Test
    void aLabManagerIsShownOnlyWhatTheyMay() throws Exception {
        BrowserContext context = browser.newContext(new NewContextOptions().setLocale("en"));
        opened.add(context);
        Page page = context.newPage();
        page.navigate(service.url() + "/");
        logIn(page, "en", PASSWORD);

        assertThat(page.locator(".top nav a"))
                .hasText(Stream.of(
                                "Overview", "Findings\\d+", "Experiments", "Planned", "Runs", "Audit", "Administration")
                        .map(Pattern::compile)
                        .toArray(Pattern[]::new));
        page.navigate(service.url() + "/runs/2");
        assertThat(page.locator(".head .links")).hasCount(0);
        page.navigate(service.url() + "/administration");
        assertThat(page.locator("main")).not().containsText("Users");
        assertThat(page.navigate(service.url() + "/administration/users").status())
                .isEqualTo(403);
        assertThat(page.navigate(service.url() + "/sites").status()).isEqualTo(403);
        assertThat(page.navigate(service.url() + "/administration/projects/P002")
                        .status())
                .isEqualTo(404);
    }

    private static Pattern oneOf(String... texts) {
        return Pattern.compile("^(" + String.join("|", texts) + ")$");
    }

    private static LocatorAssertions.ContainsTextOptions within(int seconds) {
        return new LocatorAssertions.ContainsTextOptions()
                .setTimeout(Duration.ofSeconds(seconds).toMillis());
    }

    private static LocatorAssertions.HasTextOptions textWithin(int seconds) {
        return new LocatorAssertions.HasTextOptions()
                .setTimeout(Duration.ofSeconds(seconds).toMillis());
    }

    private static Page.GetByTextOptions exactly() {
        return new Page.GetByTextOptions().setExact(true);
    }

    /** Asserts that axe-core finds no violation of WCAG 2.2 AA, and takes a screenshot for people. */
    private static void accessible(Page page, String name, String language) {
        shoot(page, name, language);
        accessible(page, name, language, Axe.WCAG);
    }

    private static void accessible(Page page, String name, String language, String rules) {
        Axe.check(page, name + "-" + language, rules);
    }

    @InEachLanguage
    void onANarrowScreenTheMenuOpens(String language) throws Exception {
        Page page = open(language, "/");
        page.setViewportSize(NARROW, 800);
        Locator pages = page.locator(".top nav");
        assertThat(pages).isHidden();

        page.locator(".top .menu").click();
        assertThat(pages).isVisible();
        accessible(page, "menu", language, Axe.WCAG);
        pages.getByText(word(language, "nav.experiments")).click();
        assertThat(page).hasURL(Pattern.compile(".*/experiments"));
        assertThat(pages).isHidden();
    }

    /** Asserts that nothing is broken, wider than the window, or untranslated. */
    private static void fits(Page page, String name, String language) throws Exception {
        String what = name + "-" + language;
        Map<?, ?> seen = (Map<?, ?>) Objects.requireNonNull(page.evaluate("""
                () => ({
                    title: document.querySelector("h1").textContent,
                    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                    head: document.querySelector(".top").offsetHeight,
                    keys: document.documentElement.outerHTML.includes("??"),
                    language: document.documentElement.lang
                })
                """));
        assertThat(seen.get("title")).as(what).isNotEqualTo(word(language, "problem.defect"));
        assertThat(seen.get("over")).as(what + " is too wide").isEqualTo(0);
        assertThat((Integer) seen.get("head"))
                .as(what + " has a head of two rows at most")
                .isLessThan(HEAD_MAX);
        assertThat(seen.get("keys")).as(what + " has words without a text").isEqualTo(false);
        assertThat(seen.get("language")).as(what).isEqualTo(language);
    }

    /** Takes a screenshot for people. It proves nothing. */
    private static void shoot(Page page, String name, String language) {
        if (!Boolean.getBoolean("write.pages")) {
            return;
        }
        page.screenshot(new ScreenshotOptions()
                .setFullPage(true)
                .setPath(SHOTS.resolve("%s-%s.png".formatted(name, language))));
    }

    /** Puts the screenshots of all pages on a sheet: a row for each page, in each language light or dark, wide and narrow. */
    private static void writeSheet() throws IOException {
        if (!Boolean.getBoolean("write.pages")) {
            return;
        }
        StringBuilder rows = new StringBuilder();
        for (String page : pages().keySet()) {
            rows.append("<tr><th>").append(page);
            for (String look : List.of("light-1280-en", "dark-400-en", "dark-1280-ja", "light-400-ja")) {
                String file = page + "-" + look + ".png";
                rows.append("<td><a href=%s><img loading=lazy src=%s alt=%s></a>".formatted(file, file, look));
            }
            rows.append("\n");
        }
        Files.writeString(SHOTS.resolve("index.html"), """
                <!DOCTYPE html><meta charset=utf-8><title>All pages of Dozo</title>
                <style>img { max-width: 24rem; max-height: 40rem } td, th { vertical-align: top; text-align: left }</style>
                <table>
                """ + rows + "</table>");
    }

    private Page open(String language, String path) throws Exception {
        BrowserContext context = USUAL.get(language);
        if (context == null) {
            context = context(language, new NewContextOptions().setViewportSize(WIDE, 800));
            USUAL.put(language, context);
        }
        Deque<Page> idle = IDLE.computeIfAbsent(context, _ -> new ArrayDeque<>());
        Page page = idle.isEmpty() ? context.newPage() : idle.pop();
        opened.add(() -> {
            leave(page);
            idle.push(page);
        });
        page.navigate(service.url() + path);
        return page;
    }

    /** Leaves a page as a new one is. */
    private static void leave(Page page) {
        page.unrouteAll();
        page.navigate("about:blank");
        page.setViewportSize(WIDE, 800);
        page.emulateMedia(new Page.EmulateMediaOptions().setMedia(null).setColorScheme(null));
    }

    private Page open(String language, String path, NewContextOptions options) throws Exception {
        BrowserContext context = context(language, options);
        opened.add(context);
        Page page = context.newPage();
        page.navigate(service.url() + path);
        return page;
    }

    /** Returns a browser context in which the administrator has logged in. */
    private BrowserContext context(String language, NewContextOptions options) throws Exception {
        BrowserContext context = browser.newContext(options.setLocale(language).setStorageState(login));
        context.setDefaultTimeout(Duration.ofSeconds(15).toMillis());
        return context;
    }

    private static Locator field(Page page, String language, String name) throws Exception {
        return page.getByLabel(word(language, name)).first();
    }

    private static void press(Page page, String language, String word) throws Exception {
        page.getByRole(AriaRole.BUTTON, named(word(language, word))).click();
    }

    private static void follow(Page page, String language, String word) throws Exception {
        follow(page, language, word, "");
    }

    private static void follow(Page page, String language, String word, String value) throws Exception {
        page.getByRole(AriaRole.LINK, named(word(language, word).replace("{0}", value)))
                .click();
    }

    private static Page.GetByRoleOptions named(String name) {
        return new Page.GetByRoleOptions().setName(name).setExact(true);
    }

    private static String word(String language, String key) throws Exception {
        Properties words = WordsTest.words(language);
        return Objects.requireNonNull(words.getProperty(key), key);
    }
}
