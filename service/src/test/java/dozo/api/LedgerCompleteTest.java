package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.people.Users;
import dozo.registry.PartnerFile;
import dozo.registry.Sites;
import dozo.restore.RestoreQueue;
import dozo.run.Runs;
import dozo.run.SiteMeasuring;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls every endpoint that changes something, with a valid change. Its rows are in the ledger; if they cannot be
 * written, the change is not made either. Add each new endpoint of this kind to {@link #changes}.
 */
class LedgerCompleteTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String ACTOR = "boss";
    private static final String FIRST = "the first of the passwords";
    private static final String SECOND = "the second password";

    /** Verifier keys of another centre, as a witness and of its ledger. */
    private static final String WITNESS = "witness.example.org+40c94fd4+BAd1WYb1FHHmd1K8kGu1m3BY5bVVcFpg1n1rXzbUo0BZ";

    private static final String LOG = "kyoto.example.org/ledger+53804377+AQd1WYb1FHHmd1K8kGu1m3BY5bVVcFpg1n1rXzbUo0BZ";

    /** Stands for a value that a test cannot know. */
    private static final String ANY = "*";

    /** Part of every free text in requests. It must not appear in the ledger. */
    private static final String PATIENT = "Yamada-Hanako";

    @TempDir
    static Path folder;

    /** A folder without any source. */
    @TempDir
    static Path restored;

    private static RunningService service;
    private static HttpServer ris;
    private static LoopbackSite site;
    private static JdbcClient jdbc;
    private static @Nullable Connection held;

    /** Selects the name and a digest of each table that belongs to the state. */
    private static String digests;

    /**
     * A change by a person.
     *
     * @param before prepares the change
     * @param rows exactly the rows with the person's name
     * @param starts whether it starts work of the program, which adds its own rows
     */
    private record Change(String endpoint, Runnable before, Supplier<Answer> ask, boolean starts, List<Row> rows) {}

    private record Row(String action, String subject, Map<String, String> detail) {}

    @BeforeAll
    static void start() throws Exception {
        ris = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ris.createContext("/", exchange -> {
            byte[] planned = """
                    [{"0008,0050": "A2", "0010,0020": "%s", "0040,0100": [{"0040,0002": "20261202"}]}]
                    """.formatted(PATIENT).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, planned.length);
            exchange.getResponseBody().write(planned);
            exchange.close();
        });
        ris.start();
        service = RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of(
                        "dozo.worklist.url",
                        "http://127.0.0.1:" + ris.getAddress().getPort()));
        jdbc = service.jdbc();
        site = LoopbackSite.openSsh(folder.resolve("keys"), Files.createDirectory(folder.resolve("site")), 0);
        service.bean(Users.class).create(ACTOR, FIRST, Set.of(Role.ADMIN), "test");
        for (String source : List.of("one", "two", "three")) {
            Path made = Files.createDirectory(folder.resolve(source + "-" + PATIENT));
            Files.writeString(made.resolve("file"), source);
        }
        Files.writeString(folder.resolve("list-" + PATIENT), "end\0");
        Files.writeString(folder.resolve("key"), "localhost:1:__force_insecure:no-key-at-all");
        Files.createDirectory(folder.resolve("spool"));
        Files.createDirectory(folder.resolve("archive"));
        Files.createDirectory(folder.resolve("second"));
        // Switched by a row: with a trigger that comes and goes, every statement would be planned again.
        jdbc.sql("""
                        create schema refusal;
                        create table refusal.now (refuses boolean);
                        insert into refusal.now values (false);
                        create function refusal.refuse_row() returns trigger language plpgsql as
                        $$ begin
                            if (select refuses from refusal.now) then
                                raise exception 'the ledger takes no row now';
                            end if;
                            return new;
                        end $$;
                        create trigger refuse before insert on ledger for each row execute function refusal.refuse_row()
                        """).update();
        digests = jdbc.sql("""
                        select string_agg(format(
                            'select %1$L as name, (select coalesce(md5(string_agg(t::text, $$|$$ order by t::text)), $$$$) from %1$I t) as digest',
                            relname), ' union all ' order by relname)
                        from pg_class
                        where relnamespace = 'public'::regnamespace and relkind = 'r'
                          and relname !~ '^((batch|flyway)_|service_(lease|seen)$|(name_block|unlisted_manifest)$)'
                        """).query(String.class).single();
    }

    @AfterAll
    static void stop() {
        service.close();
        ris.stop(0);
        site.close();
    }

    @Test
    void everyChangeHasItsRowsOrIsNotMade() {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        for (Change change : changes()) {
            if (!change.starts()) {
                // A stopped run writes its last row when it ends.
                awaitNoRun();
            }
            change.before().run();
            long last = service.bean(Ledger.class).last();
            Map<String, String> state = state();
            refuseRows(true);
            Answer refused = change.ask().get();
            refuseRows(false);
            Map<String, String> now = state();
            if (refused.status() < 500
                    || !now.equals(state)
                    || service.bean(Ledger.class).last() != last) {
                now.entrySet().removeAll(state.entrySet());
                wrong.add("%s without its row: %d %s, changed: %s"
                        .formatted(change.endpoint(), refused.status(), refused.text(), now.keySet()));
            }

            Answer answer = change.ask().get();
            List<LedgerEntry> told = service.ledgerAfter(last);
            List<Row> found = told.stream()
                    .filter(row -> !change.starts() || !row.actor().equals(Ledger.SYSTEM))
                    .map(row -> rowOf(row, change.rows()))
                    .toList();
            if (answer.status() >= 300
                    || !found.equals(change.rows())
                    || told.stream().anyMatch(row -> !row.actor().equals(ACTOR) && !change.starts())) {
                wrong.add("%s: %d %s, %s, not %s"
                        .formatted(change.endpoint(), answer.status(), answer.text(), told, change.rows()));
            }
            rows += change.rows().size();
        }

        System.out.printf("ledger: %d changes, %d rows, %d wrong%n", changes().size(), rows, wrong.size());
        assertThat(wrong).isEmpty();
        awaitNoRun();
        assertThat(service.ledger()).noneMatch(row -> row.toString().contains(PATIENT));
    }

    @Test
    void noChangingEndpointIsLeftOut() {
        Set<String> mapped = service.mappings().getHandlerMethods().keySet().stream()
                .flatMap(mapping -> mapping.getMethodsCondition().getMethods().stream()
                        .flatMap(method -> mapping.getPatternValues().stream().map(path -> method.name() + " " + path)))
                .filter(endpoint -> !endpoint.startsWith("GET "))
                // Pages change data by the same methods of the same rooms, and by nothing else (ArchitectureTest).
                .filter(endpoint -> endpoint.contains(" /api/"))
                .collect(Collectors.toCollection(TreeSet::new));

        Set<String> here = changes().stream().map(Change::endpoint).collect(Collectors.toCollection(TreeSet::new));
        assertThat(here)
                .as("every endpoint that changes something, see changes() in this test")
                .isEqualTo(mapped);
    }

    /** Returns the changes in an order in which each finds what earlier ones have made. */
    private static List<Change> changes() {
        String one = source("one");
        String two = source("two");
        String three = source("three");
        String list = folder.resolve("list-" + PATIENT).toString();
        String walked = "walked";
        String listed = "list %s by find".formatted(sha256(list));
        return List.of(
                change(
                        "POST /api/v1/projects",
                        () -> post("/projects", "{\"code\": \"P1\", \"title\": \"%s\"}".formatted(PATIENT)),
                        row("project.created", "P1")),
                change(
                        "PUT /api/v1/projects/{project}/tripwire",
                        () -> put("/projects/P1/tripwire", "{\"percent\": 7, \"entries\": 70}"),
                        row("project.changed", "P1", "before=*; after=tripwire at 7 %, 70 entries")),
                change(
                        "PUT /api/v1/projects/{project}/title",
                        () -> put("/projects/P1/title", "{\"title\": \"of %s\"}".formatted(PATIENT)),
                        row("project.changed", "P1", "before=*; after=*")),
                change(
                        "PUT /api/v1/projects/{project}/priority",
                        () -> put("/projects/P1/priority", "{\"priority\": 20}"),
                        row("project.changed", "P1", "before=priority 10; after=priority 20")),
                change(
                        "PUT /api/v1/projects/{project}/site-names",
                        () -> put("/projects/P1/site-names", "{\"siteNames\": \"codes\"}"),
                        row("project.changed", "P1", "before=names at sites: kept; after=names at sites: codes")),
                change(
                        "PUT /api/v1/projects/{project}/site-names",
                        () -> put("/projects/P1/site-names", "{\"siteNames\": \"kept\"}"),
                        row("project.changed", "P1", "before=names at sites: codes; after=names at sites: kept")),
                change(
                        "PUT /api/v1/projects/{project}/late-after",
                        () -> put("/projects/P1/late-after", "{\"hours\": 48}"),
                        row("project.changed", "P1", "before=late as by the setting; after=late after 48 hours")),
                change(
                        "PUT /api/v1/projects/{project}/drill-days",
                        () -> put("/projects/P1/drill-days", "{\"days\": 30}"),
                        row("project.changed", "P1", "before=drills as by the setting; after=drills within 30 days")),
                change(
                        "PUT /api/v1/projects/{project}/roots",
                        () -> put("/projects/P1/roots", "{\"roots\": [\"%s\"]}".formatted(folder)),
                        row("project.changed", "P1", "before=source roots none; after=source roots " + folder)),
                change(
                        "PUT /api/v1/projects/{project}/restore-roots",
                        () -> put("/projects/P1/restore-roots", "{\"roots\": [\"%s\"]}".formatted(restored)),
                        row("project.changed", "P1", "before=restore folders none; after=restore folders " + restored)),
                change(
                        "POST /api/v1/experiments",
                        () -> post(
                                "/experiments",
                                "{\"project\": \"P1\", \"code\": \"E1\", \"title\": \"%s\", \"source\": \"%s\"}"
                                        .formatted(PATIENT, one)),
                        registered("P1/E1", one)),
                change(
                        "POST /api/v1/experiments/bulk",
                        () -> service.with(boss())
                                .postCsv(
                                        "/api/v1/experiments/bulk",
                                        "project,code,source,title\nP1,E2,%s,%s\nP1,E3,%s,\n"
                                                .formatted(two, PATIENT, three)),
                        registered("P1/E2", two),
                        registered("P1/E3", three)),
                change(
                        "PUT /api/v1/experiments/{project}/{code}/list",
                        () -> put(
                                "/experiments/P1/E3/list",
                                "{\"list\": \"%s\", \"listForm\": \"find\"}".formatted(list)),
                        row("experiment.changed", "P1/E3", "before=" + walked + "; after=" + listed)),
                change(
                        "DELETE /api/v1/experiments/{project}/{code}/list",
                        () -> ask("DELETE", "/experiments/P1/E3/list", null),
                        row("experiment.changed", "P1/E3", "before=" + listed + "; after=" + walked)),
                change(
                        "POST /api/v1/bookings/bulk",
                        () -> service.with(boss())
                                .postCsv(
                                        "/api/v1/bookings/bulk",
                                        "accession,date,patient,name,procedure\nA1,2026-12-01,%s,%s,%s\n"
                                                .formatted(PATIENT, PATIENT, PATIENT)),
                        row("booking.made", "A1", "origin=csv; after=*")),
                change(
                        "POST /api/v1/bookings/worklist",
                        () -> post("/bookings/worklist", "{\"from\": \"2026-12-01\", \"until\": \"2026-12-05\"}"),
                        row("booking.made", "A2", "origin=worklist; after=*")),
                change(
                        "PUT /api/v1/scanners/{scanner}",
                        () -> put("/scanners/T7", "{\"aeTitles\": [\"MR7T01\"], \"purgeDays\": 14}"),
                        row("scanner.changed", "T7", "before=; after=titles MR7T01, purged after 14 days")),
                change(
                        "PATCH /api/v1/experiments/{project}/{code}",
                        () -> ask("PATCH", "/experiments/P1/E1", "{\"note\": \"%s\"}".formatted(PATIENT)),
                        row("experiment.corrected", "P1/E1", "note_sha256=*")),
                change(
                        "PATCH /api/v1/experiments/bulk",
                        () -> service.with(boss())
                                .ask(
                                        "PATCH",
                                        "/api/v1/experiments/bulk",
                                        "code,title\nP1/E1,%s again".formatted(PATIENT),
                                        "Content-Type",
                                        "text/csv"),
                        row("experiment.corrected", "P1/E1", "title_sha256=*")),
                change(
                        "POST /api/v1/experiments/{project}/{code}/labels",
                        () -> post("/experiments/P1/E1/labels", "{\"label\": \"%s\"}".formatted(PATIENT)),
                        row("label.added", "P1/E1", "label_sha256=*")),
                change(
                        "DELETE /api/v1/experiments/{project}/{code}/labels/{label}",
                        () -> ask("DELETE", "/experiments/P1/E1/labels/" + PATIENT, null),
                        row("label.removed", "P1/E1", "label_sha256=*")),
                change(
                        "POST /api/v1/steps/{step}/dismissal",
                        () -> post("/steps/recipient/dismissal", "{\"reason\": \"for %s\"}".formatted(PATIENT)),
                        row("step.dismissed", "recipient", "before=open; after=dismissed; reason_sha256=*")),
                change(
                        "DELETE /api/v1/steps/{step}/dismissal",
                        () -> ask("DELETE", "/steps/recipient/dismissal", null),
                        row("step.reopened", "recipient", "before=dismissed; after=open")),
                change(
                        "POST /api/v1/holds",
                        () -> post("/holds", "{\"project\": \"P1\", \"reason\": \"for %s\"}".formatted(PATIENT)),
                        row("hold.placed", "P1", "hold=*; reason_sha256=*; until=")),
                change(
                        "POST /api/v1/holds/{id}/end",
                        () -> post(
                                "/holds/%d/end"
                                        .formatted(jdbc.sql("select max(hold_id) from hold")
                                                .query(Long.class)
                                                .single()),
                                "{\"reason\": \"for %s\"}".formatted(PATIENT)),
                        row("hold.ended", "P1", "hold=*; reason_sha256=*")),
                change(
                        "POST /api/v1/experiments/{project}/{code}/retirement",
                        () -> post(
                                "/experiments/P1/E2/retirement",
                                "{\"reason\": \"for %s\", \"evenUnsafe\": true}".formatted(PATIENT)),
                        row("experiment.retired", "P1/E2", "reason_sha256=*; unsafe=*")),
                change(
                        "DELETE /api/v1/experiments/{project}/{code}/retirement",
                        () -> ask("DELETE", "/experiments/P1/E2/retirement", null),
                        row("experiment.unretired", "P1/E2", "with=P1/E2")),
                change(
                        "POST /api/v1/projects/{project}/retirement",
                        () -> post(
                                "/projects/P1/retirement",
                                "{\"reason\": \"for %s\", \"evenUnsafe\": true}".formatted(PATIENT)),
                        row("project.retired", "P1", "reason_sha256=*; unsafe=*"),
                        row("experiment.retired", "P1/E1", "reason_sha256=*; unsafe=*"),
                        row("experiment.retired", "P1/E2", "reason_sha256=*; unsafe=*"),
                        row("experiment.retired", "P1/E3", "reason_sha256=*; unsafe=*")),
                change(
                        "DELETE /api/v1/projects/{project}/retirement",
                        () -> ask("DELETE", "/projects/P1/retirement", null),
                        row("project.unretired", "P1"),
                        row("experiment.unretired", "P1/E1", "with=P1"),
                        row("experiment.unretired", "P1/E2", "with=P1"),
                        row("experiment.unretired", "P1/E3", "with=P1")),
                change(
                        "POST /api/v1/scanners/{scanner}/retirement",
                        () -> post("/scanners/T7/retirement", "{\"reason\": \"for %s\"}".formatted(PATIENT)),
                        row("scanner.retired", "T7", "reason_sha256=*; unsafe=")),
                change(
                        "DELETE /api/v1/scanners/{scanner}/retirement",
                        () -> ask("DELETE", "/scanners/T7/retirement", null),
                        row("scanner.unretired", "T7")),
                change(
                        "PUT /api/v1/alerts/recipients/{name}",
                        () -> put("/alerts/recipients/it", "{\"mail\": \"%s@example.org\"}".formatted(PATIENT)),
                        row("recipient.changed", "it", "before=; after=*")),
                change(
                        "POST /api/v1/alerts/recipients/{name}/test",
                        () -> post("/alerts/recipients/it/test", null),
                        row("recipient.tested", "it")),
                change(
                        "DELETE /api/v1/alerts/recipients/{name}",
                        () -> ask("DELETE", "/alerts/recipients/it", null),
                        row("recipient.removed", "it", "before=*; after=")),
                change(
                        "PUT /api/v1/sites/{name}",
                        () -> put("/sites/dr", RunningService.json(site.address())),
                        row("site.registered", "dr", "before=; after=*")),
                change(
                        "DELETE /api/v1/sites/{name}",
                        () -> put("/sites/unused", RunningService.json(site.address())),
                        () -> ask("DELETE", "/sites/unused", null),
                        row("site.removed", "unused", "before=*; after=")),
                change(
                        "POST /api/v1/sites/{name}/retirement",
                        () -> post("/sites/dr/retirement", "{\"reason\": \"for %s\"}".formatted(PATIENT)),
                        row("site.retired", "dr", "reason_sha256=*; unsafe=")),
                change(
                        "DELETE /api/v1/sites/{name}/retirement",
                        () -> ask("DELETE", "/sites/dr/retirement", null),
                        row("site.unretired", "dr")),
                change(
                        "PUT /api/v1/sites/{name}/schedules",
                        () -> put("/sites/dr/schedules", "{\"schedules\": [\"0 0 20 * * *\"]}"),
                        row("site.schedule", "dr", "before=; after=0 0 20 * * *")),
                change(
                        "PUT /api/v1/sites/{name}/title",
                        () -> put("/sites/dr/title", "{\"title\": \"Osaka\"}"),
                        row("site.changed", "dr", "before=title ; after=title Osaka")),
                change(
                        "PUT /api/v1/sites/{name}/timetable",
                        // NB: the later measurement would send as much as it can.
                        () -> put("/sites/dr/timetable", "{\"rules\": [\"daily 00:00-24:00 160 Mbit/s\"]}"),
                        row("site.timetable", "dr", "before=; after=daily 00:00-24:00 160 Mbit/s")),
                change(
                        "POST /api/v1/sites/{name}/check",
                        () -> post("/sites/dr/check", null),
                        row("site.capabilities", "dr", "before=; after=*")),
                change(
                        "POST /api/v1/sites/{name}/tuning",
                        () -> {
                            service.bean(SiteMeasuring.class).requireProcessorShare(0);
                            return post("/sites/dr/tuning", null);
                        },
                        row("site.tuned", "dr", "lanes=*; channels=*; bytesPerSecond=*")),
                change(
                        "PUT /api/v1/origins/{name}",
                        () -> put("/origins/fw", """
                                {"kind": "flywheel", "address": "http://localhost:1", "secretFile": "%s", "spool": "%s",
                                 "active": false}
                                """.formatted(folder.resolve("key"), folder.resolve("spool"))),
                        row("origin.registered", "fw", "before=; after=*")),
                change(
                        "POST /api/v1/arrivals/{id}/accept",
                        () -> arrive("a"),
                        () -> post("/arrivals/%d/accept".formatted(latest("arrival")), null),
                        accepted("a")),
                change(
                        "POST /api/v1/arrivals/accept",
                        () -> arrive("b"),
                        () -> post("/arrivals/accept", "{\"ids\": [%d]}".formatted(latest("arrival"))),
                        accepted("b")),
                change(
                        "POST /api/v1/arrivals/{id}/dismiss",
                        () -> arrive("c"),
                        () -> post(
                                "/arrivals/%d/dismiss".formatted(latest("arrival")),
                                "{\"reason\": \"%s\"}".formatted(PATIENT)),
                        arrival("arrival.dismissed", "c", "proposal", "dismissed")),
                change(
                        "POST /api/v1/arrivals/{id}/takeback",
                        () -> post("/arrivals/%d/takeback".formatted(latest("arrival")), null),
                        arrival("arrival.proposed", "c", "dismissed", "proposal")),
                starting(
                        "POST /api/v1/runs",
                        LedgerCompleteTest::awaitNoRun,
                        () -> post("/runs", "{}"),
                        row("run.started", ANY, "site=dr; kind=nightlyBackup")),
                starting(
                        "POST /api/v1/scrubs",
                        LedgerCompleteTest::awaitNoRun,
                        () -> post("/scrubs", "{}"),
                        row("run.started", ANY, "site=dr; kind=scrub")),
                change(
                        "POST /api/v1/findings/{id}/acknowledge",
                        LedgerCompleteTest::find,
                        () -> post(
                                "/findings/%d/acknowledge".formatted(latest("finding")),
                                "{\"reason\": \"%s\"}".formatted(PATIENT)),
                        row("finding.acknowledged", ANY, "run=*; reason=UNREADABLE; before=open; after=acknowledged")),
                change(
                        "POST /api/v1/findings/{id}/reopen",
                        () -> post("/findings/%d/reopen".formatted(latest("finding")), null),
                        row("finding.reopened", ANY, "run=*; reason=UNREADABLE; before=acknowledged; after=open")),
                change(
                        "POST /api/v1/findings/acknowledge",
                        LedgerCompleteTest::find,
                        () -> post(
                                "/findings/acknowledge?reason=UNREADABLE&upTo=" + latest("finding"),
                                "{\"reason\": \"%s\"}".formatted(PATIENT)),
                        row(
                                "findings.acknowledged",
                                "all",
                                "reason=UNREADABLE; findings=*; last=*; before=open; after=acknowledged")),
                starting(
                        "POST /api/v1/runs/{id}/retry",
                        LedgerCompleteTest::find,
                        () -> post("/runs/%d/retry".formatted(latest("run")), null),
                        row("run.started", ANY, "site=dr; kind=retry; retry_of=*")),
                starting(
                        "POST /api/v1/runs/experiments",
                        LedgerCompleteTest::awaitNoRun,
                        () -> post("/runs/experiments", "{\"experiments\": [\"P1/E1\"]}"),
                        row("run.started", ANY, "site=dr; kind=chosen")),
                starting(
                        "POST /api/v1/replications",
                        LedgerCompleteTest::addSecondSite,
                        () -> post("/replications", "{\"from\": \"dr\", \"to\": \"second\", \"project\": \"P1\"}"),
                        row("run.started", ANY, "site=second; kind=replication; from=dr")),
                starting(
                        "POST /api/v1/runs/{id}/pause",
                        () -> {
                            awaitNoRun();
                            service.bean(Sites.class).remove("second", true, "test");
                            leaveARun();
                        },
                        () -> post("/runs/%d/pause".formatted(latest("run")), null),
                        row("run.paused", ANY, "before=*; after=*")),
                starting(
                        "POST /api/v1/runs/{id}/resume",
                        () -> {},
                        () -> post("/runs/%d/resume".formatted(latest("run")), null),
                        row("run.resumed", ANY, "before=*; after=*")),
                starting(
                        "POST /api/v1/source-move",
                        () -> {},
                        () -> post(
                                "/source-move",
                                "{\"from\": \"%s\", \"to\": \"%s\", \"check\": true}"
                                        .formatted(source("one"), restored)),
                        row(
                                "move.requested",
                                "sources",
                                "from_sha256=*; to_sha256=*; experiments=0; left=0; files_read=0; bytes_read=0")),
                starting(
                        "POST /api/v1/source-move/stop",
                        LedgerCompleteTest::beginAMove,
                        LedgerCompleteTest::stopTheMove,
                        row("move.stopping", "sources")),
                starting(
                        "POST /api/v1/runs/{id}/stop",
                        LedgerCompleteTest::leaveARun,
                        () -> post("/runs/%d/stop".formatted(latest("run")), null),
                        row("run.stopping", ANY)),
                change(
                        "POST /api/v1/experiments/{project}/{code}/release",
                        LedgerCompleteTest::freeze,
                        () -> post("/experiments/P1/E1/release", null),
                        row("experiment.released", "P1/E1", "entries_lost=3; bytes_lost=30")),
                change(
                        "POST /api/v1/experiments/{project}/{code}/certificate",
                        () -> post("/experiments/P1/E1/certificate", null),
                        row("certificate.issued", "P1/E1#1", "site=dr; root=*; certificate_sha256=*; key=*")),
                change(
                        "POST /api/v1/experiments/{project}/{code}/manifests/{number}/download",
                        () -> post("/experiments/P1/E1/manifests/1/download", null),
                        row("folder.downloaded", "P1/E1", "site=dr; manifest=1; folder=*; entries=1")),
                starting(
                        "POST /api/v1/experiments/{project}/{code}/restores",
                        LedgerCompleteTest::awaitNoRun,
                        () -> post(
                                "/experiments/P1/E1/restores",
                                "{\"folder\": \"%s\"}".formatted(restored.resolve("of-" + PATIENT))),
                        row(
                                "restore.requested",
                                "P1/E1",
                                "restore=*; manifest=1; site=dr; folder="
                                        + sha256(restored.resolve("of-" + PATIENT)
                                                .toString()) + "; files=1; bytes=3")),
                starting(
                        "POST /api/v1/experiments/{project}/{code}/restores/archive",
                        LedgerCompleteTest::registerAnArchive,
                        () -> post("/experiments/P1/E1/restores/archive", "{\"origin\": \"archive\"}"),
                        row(
                                "restore.requested",
                                "P1/E1",
                                "restore=*; manifest=1; site=dr; origin=archive; replaces=false; files=1; bytes=3")),
                starting(
                        "POST /api/v1/restore-batches",
                        () -> {},
                        () -> post("/restore-batches", "{\"experiments\": [\"P1/E1\"], \"inPlace\": true}"),
                        row("batch.requested", ANY, "site=dr; experiments=1; files=1; bytes=3; in_place=true")),
                starting(
                        "POST /api/v1/restore-batches/archive",
                        () -> {},
                        () -> post("/restore-batches/archive", "{\"project\": \"P1\", \"origin\": \"archive\"}"),
                        row(
                                "batch.requested",
                                ANY,
                                "site=dr; experiments=*; files=*; bytes=*; origin=archive; replaces=false")),
                starting(
                        "POST /api/v1/restore-batches/{id}/stop",
                        () -> {},
                        () -> post("/restore-batches/%d/stop".formatted(latestBatch()), null),
                        row(
                                "batch.stopped",
                                ANY,
                                "site=dr; experiments=*; files=*; bytes=*; origin=archive; replaces=false; state=STOPPED; complete=0")),
                starting(
                        "POST /api/v1/restore-batches/{id}/resume",
                        () -> {},
                        () -> post("/restore-batches/%d/resume".formatted(latestBatch()), null),
                        row(
                                "batch.resumed",
                                ANY,
                                "site=dr; experiments=*; files=*; bytes=*; origin=archive; replaces=false")),
                starting(
                        "POST /api/v1/experiments/{project}/{code}/restores/{id}/stop",
                        () -> {},
                        () -> post("/experiments/P1/E1/restores/%d/stop".formatted(latest("restore")), null),
                        row("restore.stopping", "P1/E1", "restore=*")),
                starting(
                        "POST /api/v1/drills",
                        () -> {},
                        () -> post("/drills", "{\"project\": \"P1\", \"experiment\": \"E1\"}"),
                        row("drill.requested", "P1/E1", "drill=*; manifest=1; site=dr; files=1; bytes=3")),
                starting(
                        "POST /api/v1/drills/{id}/stop",
                        () -> {},
                        () -> post("/drills/%d/stop".formatted(latest("restore")), null),
                        row("drill.stopping", "P1/E1", "drill=*")),
                change(
                        "POST /api/v1/users",
                        () -> post(
                                "/users",
                                "{\"name\": \"tanaka\", \"password\": \"twelve letters\", \"roles\": [\"AUDITOR\"]}"),
                        row("user.created", "tanaka", "origin=LOCAL; roles=AUDITOR")),
                change(
                        "PATCH /api/v1/users/{name}",
                        () -> ask(
                                "PATCH",
                                "/users/tanaka",
                                "{\"roles\": [\"OPERATOR\"], \"disabled\": true, \"password\": \"twelve others\"}"),
                        row("password.changed", "tanaka"),
                        row("user.changed", "tanaka", "before=*; after=*")),
                change(
                        "POST /api/v1/users/{name}/departure",
                        () -> post("/users/tanaka/departure", "{\"to\": \"boss\"}"),
                        row("user.left", "tanaka", "to=boss; projects=*; recipients=*; tokens=*")),
                change(
                        "PUT /api/v1/projects/{project}/members/{name}",
                        () -> put("/projects/P1/members/tanaka", null),
                        row("project.joined", "P1", "user=tanaka")),
                change(
                        "DELETE /api/v1/projects/{project}/members/{name}",
                        () -> ask("DELETE", "/projects/P1/members/tanaka", null),
                        row("project.left", "P1", "user=tanaka")),
                change(
                        "PUT /api/v1/me/searches/{list}/{name}",
                        () -> ask(
                                "PUT",
                                "/me/searches/experiments/" + PATIENT,
                                "{\"query\": \"q=%s\"}".formatted(PATIENT)),
                        row("search.kept", ACTOR, "list=experiments; name_sha256=*")),
                change(
                        "DELETE /api/v1/me/searches/{list}/{name}",
                        () -> ask("DELETE", "/me/searches/experiments/" + PATIENT, null),
                        row("search.removed", ACTOR, "list=experiments; name_sha256=*")),
                change(
                        "POST /api/v1/me/tokens",
                        () -> post("/me/tokens", "{\"name\": \"nightly\"}"),
                        token("token.created", "boss/nightly")),
                change(
                        "POST /api/v1/me/tokens/{id}/rotation",
                        () -> post(
                                "/me/tokens/" + service.count("select max(token_id) from api_token") + "/rotation",
                                "{}"),
                        row(
                                "token.rotated",
                                "boss/nightly",
                                "roles=[ADMIN]; scope=ALL; read_only=false; expires=*; former_until=*")),
                change(
                        "POST /api/v1/keys/{name}/rotation",
                        () -> post("/keys/site-key/rotation", null),
                        row("key.introduced", ANY, "purpose=sites; after=*")),
                change(
                        "DELETE /api/v1/keys/{name}/former",
                        () -> ask("DELETE", "/keys/site-key/former?force=true", null),
                        row("key.dropped", ANY, "purpose=sites; anyway=true")),
                change(
                        "DELETE /api/v1/me/tokens/{id}",
                        () -> ask("DELETE", "/me/tokens/" + service.count("select max(token_id) from api_token"), null),
                        token("token.revoked", "boss/nightly")),
                change(
                        "DELETE /api/v1/users/{name}/tokens/{id}",
                        () -> post("/me/tokens", "{\"name\": \"weekly\"}"),
                        () -> ask(
                                "DELETE",
                                "/users/boss/tokens/" + service.count("select max(token_id) from api_token"),
                                null),
                        token("token.revoked", "boss/weekly")),
                change(
                        "POST /api/v1/erasures",
                        () -> toErase("G1", ""),
                        () -> post(
                                "/erasures",
                                "{\"project\": \"P1\", \"experiment\": \"G1\", \"reason\": \"of %s\"}"
                                        .formatted(PATIENT)),
                        row("erasure.requested", "P1/G1", "erasure=*; reason_sha256=*")),
                change(
                        "POST /api/v1/erasures/{id}/approve",
                        () -> toErase("G2", "requested_by = requested_by"),
                        () -> post("/erasures/%d/approve".formatted(erasure("G2")), "{}"),
                        row("erasure.approved", "P1/G2", "erasure=*; not_before=*")),
                change(
                        "POST /api/v1/erasures/{id}/withdraw",
                        () -> toErase("G3", "requested_by = requested_by"),
                        () -> post("/erasures/%d/withdraw".formatted(erasure("G3")), "{}"),
                        row("erasure.withdrawn", "P1/G3", "erasure=*")),
                change(
                        "POST /api/v1/erasures/{id}/sites/{name}/statement",
                        () -> toErase("G4", """
                                approved_by = 'third', approved_at = now(), not_before = now(), begun_at = now(), manifests = 1,
                                files = 1, bytes = 1, receipts = 1
                                """),
                        () -> post(
                                "/erasures/%d/sites/dr/statement".formatted(erasure("G4")),
                                "{\"reason\": \"says %s\"}".formatted(PATIENT)),
                        row("erasure.stated", "P1/G4", "erasure=*; site=dr; reason_sha256=*"),
                        row("erasure.completed", "P1/G4", "erasure=*")),
                change(
                        "PUT /api/v1/partners/{name}/offer",
                        () -> put("/partners/kyoto/offer", """
                                {"host": "osaka.example.org", "account": "dozo-kyoto", "root": "/srv/dozo-kyoto", "quota": "1 TB",
                                 "hostKey": "%s"}
                                """.formatted(
                                        site.address().hostKey().strip())),
                        row("partner.offered", "kyoto", "before=; after=*")),
                change(
                        "PUT /api/v1/partners/{name}/acceptance",
                        () -> put("/partners/kyoto/acceptance", """
                                {"file": "%s", "fingerprint": "%s"}
                                """.formatted(
                                        kyoto().text().replace("\n", "\\n"), kyoto().fingerprint())),
                        row("site.registered", "kyoto", "before=; after=*"),
                        row("partner.accepted", "kyoto", "before=; after=*")),
                change(
                        "PUT /api/v1/witnesses/{name}",
                        () -> put("/witnesses/kyoto", """
                                {"address": "https://kyoto.example.org/witness", "vkey": "%s"}
                                """.formatted(WITNESS)),
                        row("witness.saved", "kyoto", "address=https://kyoto.example.org/witness; vkey=" + WITNESS)),
                change(
                        "DELETE /api/v1/witnesses/{name}",
                        () -> ask("DELETE", "/witnesses/kyoto", null),
                        row("witness.removed", "kyoto")),
                change(
                        "POST /api/v1/trusted-logs",
                        () -> post("/trusted-logs", "{\"vkey\": \"%s\"}".formatted(LOG)),
                        row("log.trusted", "kyoto.example.org/ledger", "vkey=" + LOG)),
                change(
                        "DELETE /api/v1/trusted-logs",
                        () -> ask("DELETE", "/trusted-logs?origin=kyoto.example.org/ledger", null),
                        row("log.distrusted", "kyoto.example.org/ledger")),
                change(
                        "POST /api/v1/checkpoint/declaration",
                        () -> post("/checkpoint/declaration", "{\"reason\": \"of %s\"}".formatted(PATIENT)),
                        row("log.declared", ANY, "after=*; size=*; root=*; reason_sha256=*")),
                change(
                        "PUT /api/v1/me/password",
                        () -> put(
                                "/me/password", "{\"present\": \"%s\", \"password\": \"%s\"}".formatted(FIRST, SECOND)),
                        row("password.changed", ACTOR)),
                // Nothing is compared after it: its program writes rows until the service ends.
                starting(
                        "POST /api/v1/site-drills",
                        () -> {},
                        () -> service.with(RunningService.basic(ACTOR, SECOND))
                                .ask("POST", "/api/v1/site-drills", "{\"site\": \"dr\"}"),
                        row("site.drilling", "dr", "drill=*; keyed=false; lists_only=true")));
    }

    /** Returns the file of a partner. */
    private static PartnerFile kyoto() {
        String key = site.address().hostKey().strip();
        return new PartnerFile(
                Instant.parse("2026-11-30T20:00:00Z"),
                List.of(key),
                "kyoto.example.org",
                22,
                List.of(key),
                "dozo",
                "/srv/dozo",
                1_000_000_000,
                "Asia/Tokyo",
                List.of());
    }

    /**
     * Makes an experiment of P1, and an erasure of it that another person requested.
     *
     * @param set how far the erasure is, as SQL; empty: there is none
     */
    private static void toErase(String code, String set) {
        jdbc.sql("""
                        insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                        select project_id, :code, 'none', convert_to('/gone/' || :code, 'UTF8'), now(), 'test'
                        from project where code = 'P1'
                        """).param("code", code).update();
        if (!set.isEmpty()) {
            jdbc.sql("""
                            insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at)
                            select project_id, code, experiment_id, registered_at, 'wish', 'other', now()
                            from experiment where code = :code
                            """).param("code", code).update();
            jdbc.sql("update erasure set %s where code = :code".formatted(set))
                    .param("code", code)
                    .update();
            jdbc.sql("""
                            insert into erasure_site (erasure_id, site_id, files, bytes)
                            select erasure_id, site_id, 1, 1 from erasure, site
                            where erasure.code = :code and begun_at is not null and site.name = 'dr'
                            """).param("code", code).update();
        }
    }

    private static long erasure(String code) {
        return jdbc.sql("select erasure_id from erasure where code = :code")
                .param("code", code)
                .query(Long.class)
                .single();
    }

    private static Change change(String endpoint, Supplier<Answer> ask, Row... rows) {
        return change(endpoint, () -> {}, ask, rows);
    }

    private static Change change(String endpoint, Runnable before, Supplier<Answer> ask, Row... rows) {
        return new Change(endpoint, before, ask, false, List.of(rows));
    }

    private static Change starting(String endpoint, Runnable before, Supplier<Answer> ask, Row... rows) {
        return new Change(endpoint, before, ask, true, List.of(rows));
    }

    private static Row row(String action, String subject) {
        return new Row(action, subject, Map.of());
    }

    /** Returns a row with details as in {@code name=value; other=value}. */
    private static Row row(String action, String subject, String detail) {
        Map<String, String> told = new TreeMap<>();
        for (String each : detail.split("; ", -1)) {
            String[] pair = each.split("=", 2);
            told.put(pair[0], pair[1]);
        }
        return new Row(action, subject, told);
    }

    private static Row registered(String experiment, String source) {
        return row(
                "experiment.registered",
                experiment,
                "source_sha256=" + sha256(source)
                        + "; kind=filesystem; modality=unknown; scanner=unknown; acquired=unknown");
    }

    private static Row[] accepted(String item) {
        return new Row[] {
            row(
                    "experiment.registered",
                    "P1/fw-" + item,
                    "source_sha256=*; kind=flywheel; modality=unknown; scanner=unknown; acquired=unknown"),
            row(
                    "arrival.accepted",
                    "P1/fw-" + item,
                    "origin=fw; item_sha256=" + Digest.ofText(item).toString() + "; before=proposal; after=experiment")
        };
    }

    private static void arrive(String item) {
        jdbc.sql("""
                        insert into arrival (origin_id, item, state, project_id, code, title, waiting, first_seen_at, changed_at)
                        select o.origin_id, :item, 'OFFERED', p.project_id, 'fw-' || :item, :title, true, now(), now()
                        from origin o, project p where p.code = 'P1'
                        """).param("item", item).param("title", PATIENT).update();
    }

    private static Row arrival(String action, String item, String before, String after) {
        return row(
                action,
                ANY,
                "origin=fw; item_sha256=" + Digest.ofText(item).toString() + "; before=" + before + "; after=" + after);
    }

    private static Row token(String action, String subject) {
        return row(action, subject, "roles=[ADMIN]; scope=ALL; read_only=false; expires=*");
    }

    /** Returns a row, with {@link #ANY} where any content is expected. Actors are checked elsewhere. */
    private static Row rowOf(LedgerEntry entry, List<Row> expected) {
        Map<String, String> detail =
                new TreeMap<>(JSON.readValue(entry.detail(), new TypeReference<Map<String, String>>() {}));
        String subject = entry.subject();
        for (Row row : expected) {
            if (row.action().equals(entry.action())) {
                row.detail().forEach((key, value) -> {
                    if (value.equals(ANY) && !detail.getOrDefault(key, "").isEmpty()) {
                        detail.put(key, ANY);
                    }
                });
                subject = row.subject().equals(ANY) ? ANY : subject;
            }
        }
        return new Row(entry.action(), subject, detail);
    }

    private static void refuseRows(boolean refuse) {
        jdbc.sql("update refusal.now set refuses = ?").param(refuse).update();
    }

    /** Returns a digest of each table, except those of Spring Batch and Flyway, and what services record about themselves. */
    private static Map<String, String> state() {
        Map<String, String> state = new LinkedHashMap<>();
        jdbc.sql(digests).query(row -> {
            state.put(row.getString("name"), row.getString("digest"));
        });
        return state;
    }

    private static void freeze() {
        jdbc.sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, now(), 3, 30, 'much is gone' from experiment where code = 'E1'
                        """).update();
    }

    private static void addSecondSite() {
        awaitNoRun();
        service.saveSite(
                "second", site.address().withRoot(folder.resolve("second").toString()));
    }

    /** Leaves a run as a dead process does. */
    private static void leaveARun() {
        awaitNoRun();
        service.openRun();
    }

    /** Begins a move of sources that waits for a row until it was asked to stop. */
    private static void beginAMove() {
        // The run that was resumed before looks at its site.
        awaitNoRun();
        try {
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> !ask("GET", "/source-move", null).at("/goesOn").asBoolean());
            Files.createDirectory(folder.resolve("moved"));
            held = service.bean(DataSource.class).getConnection();
            held.setAutoCommit(false);
            held.createStatement().execute("select from experiment for update");
            post(
                    "/source-move",
                    "{\"from\": \"%s\", \"to\": \"%s\"}".formatted(source("one"), folder.resolve("moved")));
        } catch (IOException | SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Answer stopTheMove() {
        Answer answer = post("/source-move/stop", null);
        try {
            if (answer.status() < 300) {
                Objects.requireNonNull(held).close();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return answer;
    }

    private static void awaitNoRun() {
        await().atMost(Duration.ofMinutes(5))
                .until(() -> service.bean(Runs.class).running().isEmpty()
                        && jdbc.sql("select from restore where ended_at is null")
                                .query()
                                .listOfRows()
                                .isEmpty());
    }

    /** NB: no restore runs any more, so the one into it waits until it is stopped; and no night looks at it. */
    private static void registerAnArchive() {
        awaitNoRun();
        service.bean(RestoreQueue.class).stop();
        put("/origins/archive", """
                {"kind": "dicomweb", "address": "http://127.0.0.1:1", "spool": "%s", "active": false}
                """.formatted(folder.resolve("archive")));
    }

    /** Adds a finding to the latest run. */
    private static void find() {
        awaitNoRun();
        jdbc.sql("""
                        insert into finding (run_id, experiment_id, reason, message, found_at)
                        select max(run_id), (select experiment_id from experiment where code = 'E1'), 'UNREADABLE', '', now()
                        from run
                        """).update();
    }

    private static long latest(String table) {
        return service.count("select max(%1$s_id) from %1$s".formatted(table));
    }

    private static long latestBatch() {
        return service.count("select max(batch_id) from restore_batch");
    }

    private static String source(String name) {
        return folder.resolve(name + "-" + PATIENT).toString();
    }

    private static String sha256(String path) {
        return Digest.ofContent(path.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static String boss() {
        return RunningService.basic(ACTOR, FIRST);
    }

    private static Answer post(String path, @Nullable String body) {
        return ask("POST", path, body);
    }

    private static Answer put(String path, @Nullable String body) {
        return ask("PUT", path, body);
    }

    private static Answer ask(String method, String path, @Nullable String body) {
        return service.with(boss()).ask(method, "/api/v1" + path, body);
    }
}
