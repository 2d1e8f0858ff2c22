package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dozo.Answer;
import dozo.RunningService;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.loopback.LoopbackSite;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** REST executes valid requests, and every refusal names the field and the expected value. */
class ApiTest {

    private static final AtomicInteger COUNT = new AtomicInteger();

    @TempDir
    static Path folder;

    private static RunningService service;
    private static LoopbackSite site;

    private String project = "";

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        service.register("dr", site.address()).expect(200);
    }

    @AfterAll
    static void stop() {
        service.close();
        site.close();
    }

    @BeforeEach
    void createProject() {
        project = "P" + COUNT.incrementAndGet();
        assertThat(service.post("/api/v1/projects", "{\"code\": \"%s\"}".formatted(project))
                        .expect(201)
                        .location())
                .isEqualTo("/api/v1/projects/" + project);
    }

    @Test
    void aProjectIsListedAndShown() {
        service.get("/api/v1/projects/" + project).has("/code", project);
        assertThat(service.get("/api/v1/projects?limit=500").text()).contains('"' + project + '"');
    }

    @Test
    void theTripwireIsSetAndTheLedgerSaysFromWhatToWhat() {
        String tripwire = "/api/v1/projects/" + project + "/tripwire";
        assertThat(service.get("/api/v1/projects/" + project).at("/tripwire").toString())
                .isEqualTo("{\"percent\":20,\"entries\":100}");

        Answer set = service.put(tripwire, "{\"percent\": 50, \"entries\": 1000}");
        Answer again = service.put(tripwire, "{\"percent\": 50, \"entries\": 1000}");

        set.expect(200);
        assertThat(again.text()).isEqualTo(set.text());
        assertThat(service.get("/api/v1/projects?limit=500").text())
                .contains("\"tripwire\":{\"percent\":50,\"entries\":1000}");
        assertThat(service.ledger())
                .filteredOn(entry ->
                        entry.subject().equals(project) && entry.action().equals("project.changed"))
                .singleElement()
                .satisfies(entry -> {
                    assertThat(entry.actor()).isEqualTo("admin");
                    assertThat(entry.detail())
                            .contains("\"before\": \"tripwire at 20 %, 100 entries\"")
                            .contains("\"after\": \"tripwire at 50 %, 1000 entries\"");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"percent\": 0, \"entries\": 100} | percent",
                "{\"percent\": 101, \"entries\": 100} | percent",
                "{\"percent\": 20, \"entries\": 9} | entries",
                "{\"entries\": 100} | percent",
                "{\"percent\": 20, \"entries\": null} | entries"
            })
    void aTripwireThatCannotBeIsRefusedAndChangesNothing(String body, String field) {
        service.put("/api/v1/projects/" + project + "/tripwire", body).refused(422, field);

        assertThat(service.get("/api/v1/projects/" + project).at("/tripwire").toString())
                .isEqualTo("{\"percent\":20,\"entries\":100}");
    }

    @Test
    void aTripwireTakesTheLeastAndTheMostOfANumberAndNoOther() {
        String tripwire = "/api/v1/projects/" + project + "/tripwire";

        service.put(tripwire, "{\"percent\": 1, \"entries\": 10}").expect(200);
        service.put(tripwire, "{\"percent\": 100, \"entries\": 2147483647}").expect(200);
        service.put(tripwire, "{\"percent\": 20, \"entries\": 2147483648}").expect(400);
        service.put(tripwire, "{\"percent\": 20.5, \"entries\": 100}").expect(400);
        service.put("/api/v1/projects/nix/tripwire", "{\"percent\": 20, \"entries\": 100}")
                .expect(404);
    }

    @Test
    void aPriorityTakesTheLeastAndTheMostOfANumberAndNoOther() {
        String priority = "/api/v1/projects/" + project + "/priority";

        for (String wrong : List.of("{}", "{\"priority\": null}", "{\"priority\": 0}", "{\"priority\": 101}")) {
            service.put(priority, wrong).refused(422, "priority");
        }
        service.put(priority, "{\"priority\": 20.5}").expect(400);
        service.get("/api/v1/projects/" + project).has("/priority", 10);
        for (int taken : List.of(1, 100)) {
            service.put(priority, "{\"priority\": %d}".formatted(taken)).has("/priority", taken);
        }
    }

    @Test
    void theLedgerIsListedBySubjectActionAndTime() {
        Answer created = service.get("/api/v1/ledger?subject=" + project);

        assertThat(created.items()).isEqualTo(1);
        created.has("/items/0/actor", "admin");
        created.has("/items/0/action", "project.created");
        assertThat(created.string("/items/0/hash")).matches("[0-9a-f]{64}");
        assertThat(created.at("/items/0/detail").isObject()).isTrue();
        String at = created.string("/items/0/at");
        String of = "/api/v1/ledger?subject=" + project + "&action=";
        assertThat(service.get(of + "project.created&from=" + at).items()).isEqualTo(1);
        assertThat(service.get(of + "project.created&until=" + at).items())
                .as("until is not in it")
                .isZero();
        assertThat(service.get(of + "run.started").items()).isZero();
        assertThat(service.get(of + "&from=2020-01-01").items()).isZero();
        service.get("/api/v1/ledger?from=yesterday").refused(422, "from");
        service.get("/api/v1/ledger?until=2999-01-01").refused(422, "until");
        service.get("/api/v1/ledger?limit=501").refused(422, "limit");
        service.get("/api/v1/ledger?after=x").refused(422, "after");
        service.with(null).get("/api/v1/ledger").expect(401);
    }

    /** Years that Java supports and the database cannot store. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-300000000-01-01",
                "+300000-01-01",
                "-4714-01-01",
                "0000-12-30",
                "+10000-01-01",
                "+999999999-12-31",
                "-999999999-01-01",
                "+999999999-12-31T23:59:59Z",
                "-300000000-01-01T00:00:00Z",
                "-0001-12-31T23:59:59Z",
                "+1000000000-12-31T23:59:59.999999999Z"
            })
    void aTimeOfAnAbsurdYearIsRefusedWithItsField(String time) throws Exception {
        String experiment = "/api/v1/experiments/%s/E1/manifests".formatted(project);
        Path source = Files.createDirectories(folder.resolve(project + "-source"));
        register("E1", source).expect(201);
        String asked = time.replace("+", "%2B");
        for (String path : List.of(
                "/api/v1/coverage?site=dr&",
                "/api/v1/coverage/groups?site=dr&by=project&",
                "/api/v1/gaps?site=dr&",
                experiment + "?")) {
            service.get(path + "asOf=" + asked).refused(422, "asOf");
        }
        service.get("/api/v1/ledger?from=" + asked).refused(422, "from");
        service.get("/api/v1/ledger?until=" + asked).refused(422, "until");
        for (String list : List.of("changes", "waits")) {
            String path = "/api/v1/coverage/" + list + "?site=dr&by=project";
            service.get(path + "&until=2026-01-01&from=" + asked).refused(422, "from");
            service.get(path + "&from=2026-01-01&until=" + asked).refused(422, "until");
        }
        String body = "{\"from\": \"%s\", \"until\": \"2026-10-01\"}".formatted(time);
        service.post("/api/v1/bookings/worklist", body).refused(422, "from");
        service.post("/api/v1/scrubs", "{\"site\": \"dr\", \"until\": \"%s\"}".formatted(time))
                .refused(422, "until");
        if (!time.contains("T")) {
            service.get("/api/v1/gaps?site=dr&plannedFrom=" + asked).refused(422, "plannedFrom");
            service.get("/api/v1/gaps?site=dr&plannedUntil=" + asked).refused(422, "plannedUntil");
            service.get("/api/v1/experiments?site=dr&acquiredFrom=" + asked).refused(422, "acquiredFrom");
            service.get("/api/v1/experiments?site=dr&acquiredUntil=" + asked).refused(422, "acquiredUntil");
            String wish = "{\"project\": \"%s\", \"code\": \"E2\", \"source\": \"/\", \"acquired\": \"%s\"}";
            service.post("/api/v1/experiments", wish.formatted(project, time)).refused(422, "acquired");
        }
    }

    /** Every list and map of the requests' records. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PUT  | /origins/t            | {'kind': 'tree', 'root': '/', 'patterns': [null]}                        | patterns",
                "PUT  | /origins/t            | {'kind': 'tree', 'root': '/', 'patterns': ['{label}'], 'ready': [null]}  | ready",
                "PUT  | /origins/t            | {'kind': 'tree', 'root': '/', 'projects': {'x': null}}                   | projects",
                "PUT  | /origins/f            | {'kind': 'flywheel', 'storageHosts': ['h', null]}                        | storageHosts",
                "PUT  | /projects/{}/roots    | {'roots': [null]}                                                        | roots",
                "PUT  | /projects/{}/roots    | {'rootsBytes': ['Lw==', null]}                                           | rootsBytes",
                "PUT  | /scanners/T9          | {'aeTitles': [null]}                                                     | aeTitles",
                "POST | /users                | {'name': 'n', 'password': 'a long password', 'roles': [null]}            | roles",
                "PATCH| /users/admin          | {'roles': ['ADMIN', null]}                                               | roles",
                "POST | /me/tokens            | {'name': 'n', 'roles': [null]}                                           | roles",
                "POST | /arrivals/accept      | {'ids': [1, null]}                                                       | ids"
            })
    void nullInAListIsRefusedWithTheFieldOfTheList(String method, String path, String body, String field) {
        service.as("admin")
                .ask(method, "/api/v1" + path.replace("{}", project), body.replace('\'', '"'))
                .refused(422, field);
    }

    @Test
    void aListOfNoNumbersIsRefused() {
        for (String lanes : List.of(",", ",,", "1,,2")) {
            service.get("/api/v1/plan?site=dr&lanes=" + lanes).refused(422, "lanes");
        }
    }

    @Test
    void theLedgersPagesFollowEachOtherInOrder() {
        Answer first = service.get("/api/v1/ledger?limit=1");
        first.has("/items/0/seq", 1);

        service.get("/api/v1/ledger?limit=1&after=" + first.string("/next")).has("/items/0/seq", 2);
    }

    @Test
    void theLedgerIsVerified() {
        Answer verified = service.get("/api/v1/ledger/verification");

        verified.expect(200);
        assertThat(verified.string("/verdict")).isNotEqualTo("BROKEN");
        verified.has("/rows", verified.number("/head/seq"));
        assertThat(verified.at("/breaches").size()).isZero();
        verified.has("/sites/0/site", "dr");
        verified.has("/sites/0/compared", true);
        service.with(null).get("/api/v1/ledger/verification").expect(401);
    }

    @Test
    void pagesFollowEachOtherToTheEnd() {
        service.post("/api/v1/projects", "{\"code\": \"%sb\"}".formatted(project))
                .expect(201);
        int pages = 0;
        String found = "";
        String next = "";
        do {
            Answer page = service.get("/api/v1/projects?limit=1&after=" + next);
            found += page.string("/items/0/code") + " ";
            next = page.at("/next").asString("");
            pages++;
        } while (!next.isEmpty());

        assertThat(found).contains(project + " " + project + "b ");
        assertThat(pages).isEqualTo(found.split(" ").length);
    }

    @Test
    void anExperimentIsRegisteredWithItsFolder() throws Exception {
        Path source = Files.createDirectories(folder.resolve(project + "-source"));

        assertThat(register("S1", source).expect(201).location()).isEqualTo("/api/v1/experiments/" + project + "/S1");
        Answer shown = service.get("/api/v1/experiments/" + project + "/S1");
        shown.has("/source", source.toString());
        shown.has("/registeredBy", "admin");
        shown.has("/kind", "filesystem");
    }

    @Test
    void aFrozenExperimentIsReleasedOnceAndByName() throws Exception {
        String release = "/api/v1/experiments/" + project + "/S1/release";
        service.post(release, "").expect(404);
        Path source = Files.createDirectories(folder.resolve(project + "-source"));
        int id = register("S1", source).at("/id").asInt();
        service.post(release, "").refused(409, "experiment");
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        values (:id, 1, now(), 100, 1000, 'much is gone')
                        """).param("id", id).update();

        String experiment = "/api/v1/experiments/" + project + "/S1";
        service.get(experiment).has("/frozen/message", "much is gone");
        service.get("/api/v1/experiments?limit=1&after=" + (id - 1)).has("/items/0/frozen/entriesLost", 100);

        service.post(release, "").expect(200);

        assertThat(service.get(experiment).at("/frozen").isMissingNode()).isTrue();
        assertThat(service.ledger())
                .filteredOn(entry -> entry.subject().equals(project + "/S1"))
                .last()
                .satisfies(entry -> {
                    assertThat(entry.action()).isEqualTo("experiment.released");
                    assertThat(entry.actor()).isEqualTo("admin");
                });
        service.post(release, "").refused(409, "experiment");
    }

    @Test
    void frozenExperimentsAreListedAPageAtATimeAndCounted() throws Exception {
        int before = service.get("/api/v1/coverage?site=dr").at("/frozen").asInt();
        int[] ids = new int[4];
        for (int i = 0; i < ids.length; i++) {
            Path source = Files.createDirectories(folder.resolve(project + "-source" + i));
            ids[i] = register("S" + i, source).at("/id").asInt();
        }
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, now(), 100, 1000, 'much is gone' from experiment where experiment_id = any(:ids)
                        """).param("ids", new int[] {ids[0], ids[2], ids[3]}).update();
        service.post("/api/v1/experiments/" + project + "/S2/release", "").expect(200);

        String list = "/api/v1/experiments?frozen=true&limit=1&after=";
        Answer first = service.get(list + (ids[0] - 1));
        first.has("/items/0/code", "S0");
        first.has("/items/0/frozen/bytesLost", 1000);
        first.has("/next", ids[0]);
        Answer last = service.get(list + first.string("/next"));
        last.has("/items/0/code", "S3");
        assertThat(last.at("/next").isMissingNode()).isTrue();
        service.get("/api/v1/coverage?site=dr").has("/frozen", before + 2);
        assertThat(service.get("/api/v1/coverage?site=dr&asOf=2026-01-01")
                        .at("/frozen")
                        .isMissingNode())
                .isTrue();
        assertThat(service.get("/api/v1/experiments?frozen=perhaps").status()).isIn(400, 422);
        service.jdbc().sql("delete from frozen_experiment").update();
    }

    @Test
    void aFolderWhoseNameIsNoUtf8ComesBackByteForByte() throws Exception {
        byte[] name = (folder + "/" + project + "-脳機能").getBytes(Charset.forName("windows-31j"));
        Files.createDirectories(FilePath.pathOf(name));
        String base64 = Base64.getEncoder().encodeToString(name);

        service.post(
                        "/api/v1/experiments",
                        "{\"project\": \"%s\", \"code\": \"S1\", \"sourceBytes\": \"%s\"}".formatted(project, base64))
                .expect(201);
        Answer shown = service.get("/api/v1/experiments/" + project + "/S1");
        shown.has("/sourceBytes", base64);
        assertThat(shown.string("/source")).endsWith("脳機能");
    }

    @Test
    void anExperimentIsFedFromAList() throws Exception {
        Path source = Files.createDirectories(folder.resolve(project + "-source"));
        byte[] list = (folder + "/" + project + "-脳機能").getBytes(Charset.forName("windows-31j"));
        Files.createFile(FilePath.pathOf(list));
        String base64 = Base64.getEncoder().encodeToString(list);

        service.post("/api/v1/experiments", """
                {"project": "%s", "code": "S1", "source": "%s", "listBytes": "%s", "listForm": "policy"}
                """.formatted(project, source, base64))
                .expect(201);
        Answer shown = service.get("/api/v1/experiments/" + project + "/S1");
        shown.has("/listBytes", base64);
        assertThat(shown.string("/list")).endsWith("脳機能");
        shown.has("/listForm", "policy");
        assertThat(service.ledger())
                .anySatisfy(entry -> assertThat(entry.detail()).contains("\"list_form\": \"policy\""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "listForm": "find"                                             | list
                    "list": "%1$s"                                                 | listForm
                    "listBytes": "L2E="                                            | listForm
                    "list": "%1$s", "listForm": "ls"                               | listForm
                    "list": "%1$s", "listForm": "FIND"                             | listForm
                    "list": "%1$s", "listForm": ""                                 | listForm
                    "list": "%1$s", "listBytes": "L2E=", "listForm": "find"        | list
                    "list": "list", "listForm": "find"                             | list
                    "list": "", "listForm": "find"                                 | list
                    "list": "/a\\u0000b", "listForm": "find"                     | list
                    "list": "/not/there", "listForm": "find"                       | list
                    "list": "%2$s", "listForm": "find"                             | list
                    """)
    void aListThatCannotBeReadIsRefusedWithItsField(String fields, String field) throws Exception {
        Path source = Files.createDirectories(folder.resolve(project + "-source"));
        Path list = Files.createFile(folder.resolve(project + "-list"));

        service.post(
                        "/api/v1/experiments",
                        "{\"project\": \"%s\", \"code\": \"S1\", \"source\": \"%s\", %s}"
                                .formatted(project, source, fields.formatted(list, source)))
                .refused(422, field);
        service.get("/api/v1/experiments/" + project + "/S1").expect(404);
    }

    @Test
    void anExperimentsListIsChangedAndTakenAwayAndTheLedgerSaysFromWhatToWhat() throws Exception {
        Path source = Files.createDirectories(folder.resolve(project + "-source"));
        Path list = Files.createFile(folder.resolve(project + "-list"));
        register("S1", source);
        String address = "/api/v1/experiments/" + project + "/S1/list";
        String body = "{\"list\": \"%s\", \"listForm\": \"find\"}".formatted(list);

        Answer set = service.put(address, body);
        Answer again = service.put(address, body);
        Answer walked = service.delete(address);

        set.expect(200);
        set.has("/list", list.toString());
        assertThat(again.text()).isEqualTo(set.text());
        walked.expect(200);
        assertThat(walked.text()).doesNotContain("listForm");
        Digest kept = Digest.ofContent(list.toString().getBytes(StandardCharsets.UTF_8));
        assertThat(service.ledger())
                .filteredOn(entry -> entry.subject().equals(project + "/S1")
                        && entry.action().equals("experiment.changed"))
                .extracting(entry -> entry.detail())
                .containsExactly(
                        "{\"after\": \"list %s by find\", \"before\": \"walked\"}".formatted(kept),
                        "{\"after\": \"walked\", \"before\": \"list %s by find\"}".formatted(kept));
        service.put(address, "{\"list\": \"/not/there\", \"listForm\": \"find\"}")
                .refused(422, "list");
        service.put("/api/v1/experiments/nix/S1/list", body).expect(404);
    }

    @Test
    void aPlanIsForecastFromWhatIsNotSafeYet() {
        Answer plan = service.get("/api/v1/plan?site=dr&lanes=4&lanes=8&rate=75000000&link=952500000");

        plan.expect(200);
        plan.has("/site", "dr");
        plan.has("/measurements", 0);
        assertThat(plan.at("/forecast/cost/bytesPerSecond").asDouble()).isEqualTo(75e6);
        plan.has("/forecast/ways/3/sharing", "SPLIT");
        plan.has("/forecast/ways/3/lanes", 8);
        assertThat(plan.at("/forecast/ways/3/partitions").size()).isEqualTo(8);
    }

    @Test
    void aPlanCountsExperimentsThatAreNotSafeYetEvenIfNeverRead() throws Exception {
        String address = "/api/v1/plan?site=dr&lanes=4";
        JsonNode before = service.get(address).at("/forecast");
        register("S1", Files.createDirectories(folder.resolve(project + "-planned")));
        register("S2", Files.createDirectories(folder.resolve(project + "-planned-too")));

        Answer plan = service.get(address);

        plan.has("/forecast/lots", before.at("/lots").asInt() + 1);
        plan.has("/forecast/experiments", before.at("/experiments").asInt() + 2);
        assertThat(plan.at("/forecast/parts/experimentsSeconds").asDouble())
                .isCloseTo(0.017 * plan.at("/forecast/experiments").asInt(), within(1e-9));
        assertThat(plan.at("/forecast/parts/bytesLaneSeconds").isNumber()).isTrue();
        assertThat(plan.at("/forecast/parts/entriesLaneSeconds").isNumber()).isTrue();
    }

    @Test
    void aPlanThatCannotBeIsRefused() {
        service.get("/api/v1/plan?site=dr&lanes=0").refused(422, "lanes");
        service.get("/api/v1/plan?site=dr&lanes=4&lanes=65").refused(422, "lanes");
        service.get("/api/v1/plan?site=dr&partitions=65").refused(422, "partitions");
        service.get("/api/v1/plan?site=dr&rate=999").refused(422, "rate");
        service.get("/api/v1/plan?site=dr&link=0").refused(422, "link");
        service.get("/api/v1/plan?site=nix").expect(404);
    }

    @Test
    void aScrubIsForecastFromWhatIsStoredOrAskedAbout() {
        Answer stored = service.get("/api/v1/scrubs/plan?site=dr");
        stored.expect(200);
        stored.has("/window", "00:00-24:00");
        stored.has("/forecast/maxAgeSeconds", 7_776_000);

        String centre =
                "/api/v1/scrubs/plan?site=dr&storedBytes=1429892881690132&storedFiles=482977782&limit=300000000";
        Answer unknown = service.get(centre);
        unknown.has("/forecast/verdict", "UNKNOWN");
        unknown.has("/measurements", 0);
        assertThat(service.get(centre + "&rate=1000000000").string("/forecast/verdict"))
                .as("what a file costs is not known")
                .isEqualTo("UNKNOWN");
        service.get(centre + "&rate=1000000000&secondsPerFile=0.004").has("/forecast/verdict", "KEPT");
        Answer broken = service.get(centre + "&rate=1000000000&secondsPerFile=0.004&window=20:00-06:00");
        broken.has("/forecast/verdict", "BROKEN");
        broken.has("/forecast/budget/secondsADay", 36_000);
    }

    @ParameterizedTest
    @CsvSource({
        "maxAgeSeconds=0, maxAgeSeconds",
        "maxAgeSeconds=316224001, maxAgeSeconds",
        "maxAgeSeconds=90d, maxAgeSeconds",
        "limit=0, limit",
        "window=never, window",
        "storedBytes=1, storedFiles",
        "storedFiles=1, storedBytes",
        "storedBytes=-1&storedFiles=1, storedBytes",
        "rate=999&secondsPerFile=0, rate",
        "rate=1000&secondsPerFile=3601, rate",
        "rate=1000&secondsPerFile=NaN, rate",
        "rate=1000&secondsPerFile=slow, secondsPerFile"
    })
    void aScrubThatCannotBeForecastIsRefused(String query, String field) {
        service.get("/api/v1/scrubs/plan?site=dr&" + query).refused(422, field);
    }

    @Test
    void thePromiseIsToldForSitesThatAreThere() {
        Answer promise = service.get("/api/v1/scrubs/promise?site=dr");

        promise.expect(200);
        promise.has("/promise/maxAgeSeconds", 7_776_000);
        promise.has("/promise/damaged", 0);
        service.get("/api/v1/scrubs/promise/experiments?site=dr").expect(200);
        service.get("/api/v1/scrubs/promise?site=nix").expect(404);
        service.get("/api/v1/scrubs/plan?site=nix").expect(404);
        service.get("/api/v1/scrubs/promise/experiments?site=dr&limit=0").refused(422, "limit");
        service.post("/api/v1/scrubs", "{\"limit\": 1.5}").expect(400);
        service.post("/api/v1/scrubs", "{\"speed\": 1}").expect(400);
    }

    @Test
    void duplicatesAreConflicts() throws Exception {
        Path source = Files.createDirectories(folder.resolve(project + "-source"));
        register("S1", source).expect(201);

        service.post("/api/v1/projects", "{\"code\": \"%s\"}".formatted(project))
                .refused(409, "code");
        register("S1", folder).refused(409, "code");
        register("S2", source).refused(409, "source");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /projects    | {"code": "a b"}                                        | code
                    /projects    | {"code": "../up"}                                      | code
                    /projects    | {"code": ""}                                           | code
                    /projects    | {}                                                     | code
                    /projects    | {"code": "P8", "title": "safe\\u202egpj.exe"}          | title
                    /projects    | {"code": "P8", "title": "safe\\u001b[2J"}              | title
                    /experiments | {"project": "nix", "code": "S", "source": "/tmp"}      | project
                    /experiments | {"project": "P1", "code": "S/1", "source": "/tmp"}     | code
                    /experiments | {"project": "P1", "code": "S", "source": "not/here"}   | source
                    /experiments | {"project": "P1", "code": "S", "source": "/not/there"} | source
                    /experiments | {"project": "P1", "code": "S", "source": ""}           | source
                    /experiments | {"project": "P1", "code": "S"}                         | source
                    /experiments | {"project": "P1", "code": "S", "source": "/a\\u0000b"} | source
                    /experiments | {"project": "P1", "code": "S", "source": "/tmp", "title": "a\\u2066b"}     | title
                    /experiments | {"project": "P1", "code": "S", "source": "/tmp", "modality": "mr"}         | modality
                    /experiments | {"project": "P1", "code": "S", "source": "/tmp", "scanner": "a b"}         | scanner
                    /experiments | {"project": "P1", "code": "S", "source": "/tmp", "acquired": "1.10.2026"}  | acquired
                    /experiments | {"project": "P1", "code": "S", "source": "/tmp", "acquired": "2999-01-01"} | acquired
                    /runs        | {"site": "nowhere"}                                    | site
                    /scrubs      | {"site": "nowhere"}                                    | site
                    /scrubs      | {"home": true, "site": "dr"}                           | site
                    /scrubs      | {"maxAgeSeconds": 0}                                   | maxAgeSeconds
                    /scrubs      | {"maxAgeSeconds": -86400}                              | maxAgeSeconds
                    /scrubs      | {"maxAgeSeconds": 3599}                                | maxAgeSeconds
                    /scrubs      | {"maxAgeSeconds": 9223372036854775807}                 | maxAgeSeconds
                    /scrubs      | {"limit": 0}                                           | limit
                    /scrubs      | {"limit": -1}                                          | limit
                    /scrubs      | {"window": "20-06"}                                    | window
                    /scrubs      | {"window": "06:00-06:00"}                              | window
                    /scrubs      | {"until": "whenever"}                                  | until
                    /scrubs      | {"until": "25:00"}                                     | until
                    /scrubs      | {"until": "2020-01-01T00:00:00Z"}                      | until
                    /scrubs      | {"until": "2999-01-01T00:00:00Z"}                      | until
                    /scrubs      | {"until": "06:00", "window": "00:00-24:00"}            | until
                    """)
    void whatIsNotAcceptedIsRefusedWithItsField(String path, String body, String field) {
        service.post("/api/v1" + path, body).refused(422, field);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    host     | "a host"
                    port     | 70000
                    user     | "-oProxyCommand=x"
                    root     | "relative"
                    identity | "id_ed25519"
                    identity | "/not/there"
                    hostKey  | "AAAA only"
                    """)
    void anAddressIsRefusedByItsField(String field, String value) {
        String body = """
                {"host": "localhost", "port": 22, "user": "dozo", "root": "/backup", "identity": "%s",
                 "hostKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"}
                """.formatted(service.passwordFile());
        String wrong = body.replaceFirst("\"" + field + "\": (\"[^\"]*\"|\\d+)", "\"" + field + "\": " + value);

        service.put("/api/v1/sites/other", wrong).refused(422, field);
    }

    @Test
    void hostKeysAreTakenFromKnownHostsToo() {
        service.put("/api/v1/sites/known", """
                {"host": "localhost", "user": "dozo", "root": "/backup", "identity": "%s",
                 "hostKey": "# found by ssh-keyscan\\nlocalhost ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA\\n"}
                """.formatted(service.passwordFile()))
                .expect(200)
                .has("/hostKey", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA");
        // If there are two sites, a request must name one.
        service.post("/api/v1/runs", "{}").refused(422, "site");
        service.get("/api/v1/coverage").refused(422, "site");
    }

    @Test
    void coverageIsSummedOverEverythingAndOverEachProject() throws Exception {
        register("S1", Files.createDirectories(folder.resolve(project + "-source")));

        assertThat(service.get("/api/v1/coverage?site=dr").text())
                .startsWith("{\"site\":\"dr\"")
                .contains("\"totals\":{\"safe\":false,\"experiments\":")
                .contains("""
                        {"project":"%s","safe":false,"experiments":1,"experimentsSafe":0,"files":0,"filesSafe":0,"bytes":0,\
                        "bytesSafe":0,"oldestUnprotected":"2""".formatted(project));
    }

    @Test
    void coverageIsSummedByWhatIsAskedAndTheUnknownComesLast() throws Exception {
        Path source = Files.createDirectories(folder.resolve(project + "-known"));
        service.post("/api/v1/experiments", """
                        {"project": "%s", "code": "S1", "source": "%s", "modality": "XA", "scanner": "T7", "acquired": "2020-02-29"}
                        """.formatted(project, source)).expect(201);
        register("S2", Files.createDirectories(folder.resolve(project + "-unknown")));

        assertThat(service.get("/api/v1/experiments/" + project + "/S1").text())
                .contains("\"modality\":\"XA\",\"scanner\":\"T7\",\"acquired\":\"2020-02-29\"");
        assertThat(service.get("/api/v1/coverage/groups?site=dr&by=modality").text())
                .contains("{\"name\":\"XA\",\"totals\":{\"safe\":false,\"experiments\":1,")
                .contains("},{\"totals\":{");
        assertThat(service.get("/api/v1/coverage/groups?site=dr&by=month&asOf=2001-01-01")
                        .at("/items")
                        .isEmpty())
                .isTrue();
        assertThat(service.get("/api/v1/coverage/unprotected?site=dr&limit=1").string("/items/0/since"))
                .startsWith("2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /coverage/groups?site=dr&by=weather                            | by
                    /coverage?site=dr&asOf=yesterday                               | asOf
                    /coverage?site=dr&asOf=2999-01-01                              | asOf
                    /coverage?site=dr&asOf=2999-01-01T00:00:00Z                    | asOf
                    /coverage/changes?site=dr&from=x&until=2020-01-01              | from
                    /coverage/waits?site=dr&from=2020-01-01&until=x                | until
                    /coverage/waits?site=dr&from=2020-01-01&until=2020-01-02&by=x  | by
                    /coverage/unprotected?site=dr&limit=0                          | limit
                    """)
    void aQuestionThatCannotBeUnderstoodIsRefusedWithItsField(String path, String field) {
        service.get("/api/v1" + path).refused(422, field);
    }

    @Test
    void aProofIsOfAPathBelowTheSource() throws Exception {
        register("S1", Files.createDirectories(folder.resolve(project + "-source")));
        String proof = "/api/v1/experiments/" + project + "/S1/proof?site=dr";

        service.get(proof).refused(422, "path");
        service.get(proof + "&path=../etc").refused(422, "path");
        service.get(proof + "&path=").refused(422, "path");
        service.get(proof + "&pathBytes=%25").refused(422, "path");
        service.get(proof + "&path=never/seen").expect(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/projects/nix",
                "/experiments/nix/nix",
                "/sites/nix",
                "/runs/4711",
                "/runs/4711/findings",
                "/nix",
                "/coverage?site=nix"
            })
    void unknownThingsAreNotFound(String path) {
        assertThat(service.get("/api/v1" + path).expect(404).type()).startsWith("application/problem+json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{bad", "[]", "{\"code\": {}}", "{\"kode\": \"P\"}", ""})
    void malformedJsonIsABadRequest(String body) {
        Answer answer = service.post("/api/v1/projects", body);

        answer.isProblem(400);
        assertThat(answer.text()).doesNotContain("Exception").doesNotContain("tools.jackson");
    }

    @ParameterizedTest
    @ValueSource(strings = {"limit=0", "limit=501", "limit=x"})
    void limitsAreKept(String limit) {
        service.get("/api/v1/projects?" + limit).refused(422, "limit");
    }

    @Test
    void aMethodThatIsNotOfferedIsToldSo() {
        assertThat(service.delete("/api/v1/projects").expect(405).type()).startsWith("application/problem+json");
    }

    @Test
    void withoutTheRightPasswordThereIsNothing() {
        for (Answer answer : List.of(
                service.with(null).get("/api/v1/projects"),
                service.with(null).get("/api/v1/nix"),
                service.with(null).get("/api/v1/openapi"),
                service.with(null).post("/api/v1/runs", "{}"),
                service.with(RunningService.basic("admin", "wrong")).get("/api/v1/projects"))) {
            answer.isProblem(401);
        }
        service.with(null).get("/actuator/health").expect(200);
        assertThat(service.with(null).get("/actuator/health").text()).doesNotContain("PostgreSQL");
        assertThat(service.with(null).get("/actuator/env").status()).isNotEqualTo(200);
    }

    @Test
    void aSiteIsLookedAt() {
        Answer checked = service.post("/api/v1/sites/dr/check", "");

        checked.expect(200);
        checked.has("/usable", true);
        assertThat(checked.string("/digest")).isNotEmpty();
        assertThat(checked.at("/digestBytesPerSecond").asDouble()).isPositive();
        checked.has("/renameKeeps", true);
        assertThat(checked.at("/keyCould").toString()).contains("DELETE").contains("READ");
        assertThat(checked.at("/keyCouldNot")).isEmpty();
        Answer shown = service.get("/api/v1/sites/dr");
        for (String kept : List.of(
                "digest",
                "syncsAtOnce",
                "unpacksTar",
                "linksFiles",
                "cacheTool",
                "namesAreBytes",
                "extensions",
                "server",
                "keyCould",
                "keyCouldNot")) {
            assertThat(shown.at("/capabilities/" + kept)).as(kept).isEqualTo(checked.at("/" + kept));
        }
        assertThat(shown.string("/capabilities/firstSeenAt")).endsWith("Z");
        assertThat(shown.at("/capacity/totalBytes")).isEqualTo(checked.at("/totalBytes"));
        assertThat(shown.at("/capacity/percentFull").asInt()).isBetween(0, 100);
        shown.has("/capacity/outlook", "TOO_LITTLE_KNOWN");
        assertThat(shown.at("/capacity").has("fullAt")).isFalse();
    }

    @Test
    void aSiteThatDoesNotAnswerIsABadGateway() {
        String body = """
                {"host": "127.0.0.1", "port": 1, "user": "dozo", "root": "/backup", "identity": "%s",
                 "hostKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"}
                """.formatted(site.address().identity());
        service.put("/api/v1/sites/silent", body).expect(200);

        assertThat(service.post("/api/v1/sites/silent/check", "").expect(502).string("/detail"))
                .contains("127.0.0.1");
    }

    @Test
    void oneRunAtATime() {
        Run running = service.openRun();
        try {
            service.post("/api/v1/runs", "{\"site\": \"dr\"}").refused(409, "run");
        } finally {
            service.bean(Runs.class).close(running.id(), RunState.STOPPED, "");
        }
        service.post("/api/v1/runs/%d/stop".formatted(running.id()), "").refused(409, "run");
    }

    @Test
    void findingsComeWithTheBytesOfTheirNames() {
        Run run = service.openRun();
        byte[] name = {'a', '/', (byte) 0x94, (byte) 0x5c, 0x1b, '['};
        service.bean(Findings.class)
                .add(run.id(), List.of(new Finding(null, Problem.UNREADABLE, FilePath.of(name), "cannot be read")));
        service.bean(Runs.class).close(run.id(), RunState.COMPLETE, "");

        Answer findings = service.get("/api/v1/runs/%d/findings".formatted(run.id()));

        findings.has("/items/0/pathBytes", Base64.getEncoder().encodeToString(name));
        findings.has("/items/0/path", "a/能\\x1B[");
        service.get("/api/v1/runs/" + run.id()).has("/state", "FINDINGS");
        service.get("/api/v1/runs?limit=1&after=" + (run.id() + 1)).has("/items/0/id", run.id());
    }

    @Test
    void aRunIsPausedResumedAndStoppedAndWhatIsNotSoIsAConflict() {
        Run run = service.openRun();
        String address = "/api/v1/runs/" + run.id();

        Answer paused = service.post(address + "/pause", "");

        paused.expect(202);
        paused.has("/state", "PAUSED");
        paused.has("/pausedBy", "admin");
        assertThat(paused.string("/pausedAt")).isNotBlank();
        paused.has("/underWay", false);
        service.post(address + "/pause", "").refused(409, "run");
        Answer other = service.post("/api/v1/runs", "{\"site\": \"dr\"}");
        other.refused(409, "run");
        assertThat(other.string("/detail")).contains("was paused by admin").contains("resume it or stop it");
        service.post(address + "/retry", "").refused(409, "run");
        assertThat(service.bean(Operations.class).worksOn(run)).isFalse();

        service.post(address + "/stop", "").expect(202);
        Answer ended = service.get(address);
        ended.has("/state", "STOPPED");
        assertThat(ended.at("/pausedBy").isMissingNode()).isTrue();
        service.post(address + "/pause", "").refused(409, "run");
        service.post(address + "/resume", "").refused(409, "run");
        for (String change : List.of("pause", "resume", "retry", "stop")) {
            service.post("/api/v1/runs/999999/" + change, "").expect(404);
        }
    }

    @Test
    void aPausedRunGoesOnWhenItIsResumed() {
        Run run = service.openRun();
        service.post("/api/v1/runs/%d/pause".formatted(run.id()), "");

        Answer resumed = service.post("/api/v1/runs/%d/resume".formatted(run.id()), "");

        resumed.expect(202);
        service.awaitEnd(run.id());
        assertThat(service.ledger())
                .filteredOn(entry -> entry.subject().equals(String.valueOf(run.id()))
                        && entry.action().matches("run.paused|run.resumed"))
                .extracting(entry -> entry.actor() + " " + entry.action())
                .containsExactly("admin run.paused", "admin run.resumed");
    }

    @Test
    void aFindingIsAcknowledgedOnceWithAReasonThatStays() {
        long id = found(null);
        String address = "/api/v1/findings/" + id;
        long open = service.get("/api/v1/coverage?site=dr").number("/openFindings");
        service.get("/api/v1/findings?open=true&reason=SPECIAL").has("/items/0/id", id);

        Answer acknowledged =
                service.post(address + "/acknowledge", "{\"reason\": \"a socket of the scanner; nobody needs it\"}");

        acknowledged.expect(200);
        acknowledged.has("/open", false);
        acknowledged.has("/acknowledgement/by", "admin");
        assertThat(acknowledged.string("/acknowledgement/reason")).startsWith("a socket");
        service.post(address + "/acknowledge", "{\"reason\": \"no\"}").refused(409, "finding");
        assertThat(service.get("/api/v1/findings?open=false&limit=1")
                        .at("/items/0")
                        .toString())
                .isEqualTo(acknowledged.text());
        service.get("/api/v1/coverage?site=dr").has("/openFindings", open - 1);
        Answer row = service.get("/api/v1/ledger?action=finding.acknowledged&subject=" + id);
        row.has("/items/0/actor", "admin");
        row.has("/items/0/detail/before", "open");
        row.has("/items/0/detail/after", "acknowledged");
        assertThat(row.text()).as("a person's words are not in the ledger").doesNotContain("a socket");

        service.post(address + "/reopen", null).has("/open", true);
        service.post(address + "/reopen", null).refused(409, "finding");
        service.get("/api/v1/coverage?site=dr").has("/openFindings", open);
        service.get("/api/v1/ledger?action=finding.reopened&subject=" + id)
                .has("/items/0/detail/before", "acknowledged");
        service.post(address + "/acknowledge", "{\"reason\": \"known after all\"}")
                .has("/open", false);
        assertThatThrownBy(() -> service.jdbc()
                        .sql("delete from acknowledgement where finding_id = ?")
                        .param(id)
                        .update())
                .as("the ledger says it of an earlier transaction")
                .hasMessageContaining("are evidence");
    }

    @Test
    void findingsOfOneCauseAreListedAndAcknowledgedTogether() {
        long first = found(null, "a", "b", "c");
        Answer group = service.get("/api/v1/findings/groups?reason=SPECIAL&experiment=-");
        group.has("/items/0/latest/id", first + 2);
        group.has("/items/0/count", 3);
        String address = "/api/v1/findings/acknowledge?reason=SPECIAL&experiment=-&upTo=" + (first + 1);

        service.post(address, "{\"reason\": \"\"}").refused(422, "reason");
        service.post(address, "{\"reason\": \"sockets of the scanner\"}").has("/acknowledged", 2);
        assertThat(service.get("/api/v1/findings?reason=SPECIAL&experiment=-&open=true")
                        .number("/items/0/id"))
                .as("not seen")
                .isEqualTo(first + 2);
        assertThat(service.get("/api/v1/findings?reason=SPECIAL&limit=500").text())
                .contains("\"id\":" + first, "sockets of the scanner");
        service.post(address, "{\"reason\": \"again\"}").refused(409, "finding");
        assertThat(service.post("/api/v1/findings/acknowledge?upTo=9", "{\"reason\": \"all\"}")
                        .status())
                .as("no cause")
                .isEqualTo(422);
        Answer row = service.get("/api/v1/ledger?action=findings.acknowledged&subject=-");
        row.has("/items/0/detail/findings", 2);
        row.has("/items/0/detail/last", first + 1);
        assertThat(row.text()).as("a person's words are not in the ledger").doesNotContain("sockets");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{\"reason\": \"  \"}",
                "{\"reason\": \"a\\u0007b\"}",
                "{\"reason\": \"a\\nb\"}",
                "{}",
                "long"
            })
    void aReasonThatIsNoneIsRefused(String body) {
        long id = found(null);
        String reason = body.equals("long") ? "{\"reason\": \"%s\"}".formatted("x".repeat(501)) : body;

        Answer refused = service.post("/api/v1/findings/%d/acknowledge".formatted(id), reason);

        if (body.isEmpty()) {
            refused.expect(400);
        } else {
            refused.refused(422, "reason");
        }
        service.post("/api/v1/findings/%d/acknowledge".formatted(id), "{\"reason\": \"%s\"}".formatted("脳".repeat(500)))
                .expect(200);
        service.post("/api/v1/findings/999999/acknowledge", "{\"reason\": \"x\"}")
                .expect(404);
    }

    @Test
    void findingsAreListedByWhatIsAskedLatestFirstAndPageByPage() throws Exception {
        Files.createDirectory(folder.resolve(project));
        register("S1", folder.resolve(project));
        int experiment = (int) service.count("select max(experiment_id) from experiment");
        long first = found(experiment);
        long second = found(experiment);

        Answer page = service.get("/api/v1/findings?limit=1&project=" + project);
        page.has("/items/0/id", second);
        page.has("/items/0/experiment", project + "/S1");
        Answer next =
                service.get("/api/v1/findings?limit=1&project=%s&after=%s".formatted(project, page.string("/next")));
        next.has("/items/0/id", first);
        assertThat(next.at("/next").isMissingNode()).isTrue();
        assertThat(next.at("/items/0/open").asBoolean())
                .as("the second run looked again")
                .isFalse();
        next.has("/items/0/supersededBy", page.number("/items/0/run"));
        assertThat(service.get("/api/v1/findings?run=%d".formatted(page.number("/items/0/run")))
                        .items())
                .isEqualTo(1);
        service.get("/api/v1/findings?reason=NIX").refused(422, "reason");
        service.get("/api/v1/findings?open=maybe").refused(422, "open");
        service.get("/api/v1/findings?limit=0").refused(422, "limit");
    }

    @Test
    void whatWasFoundIsTriedAgain() throws Exception {
        Files.createDirectory(folder.resolve(project));
        Files.writeString(folder.resolve(project).resolve("a"), "1");
        register("S1", folder.resolve(project));
        int experiment = (int) service.count("select max(experiment_id) from experiment");
        found(experiment);
        long run = service.bean(Runs.class).latest().orElseThrow().id();

        Answer started = service.post("/api/v1/runs/%d/retry".formatted(run), "");

        started.expect(202);
        started.has("/kind", "RETRY");
        started.has("/retryOf", run);
        started.has("/retry/experiments", 1);
        long retry = started.number("/id");
        assertThat(started.location()).isEqualTo("/api/v1/runs/" + retry);
        service.awaitEnd(retry);
        service.get("/api/v1/runs/" + retry).has("/state", "COMPLETE");
        service.post("/api/v1/runs/%d/retry".formatted(run), "").refused(409, "run");
    }

    /** Records a run that has found a new socket; returns the finding's number. */
    private static long found(@Nullable Integer experiment) {
        return found(experiment, "a");
    }

    /** Returns the number of the first of these findings of one run. */
    private static long found(@Nullable Integer experiment, String... names) {
        Run run = service.openRun();
        service.bean(Findings.class)
                .add(
                        run.id(),
                        Arrays.stream(names)
                                .map(name -> new Finding(
                                        experiment, Problem.SPECIAL, FilePath.of(name + run.id()), "is a socket"))
                                .toList());
        service.bean(Runs.class).close(run.id(), RunState.COMPLETE, "");
        return service.get("/api/v1/runs/%d/findings".formatted(run.id())).number("/items/0/id");
    }

    @Test
    void theApiDescribesItself() {
        Answer description = service.get("/api/v1/openapi");

        description.expect(200);
        assertThat(description.at("/paths/~1api~1v1~1runs/post").isMissingNode())
                .isFalse();
        assertThat(description.at("/components/schemas/KeptFinding").isMissingNode())
                .isFalse();
    }

    private Answer register(String code, Object source) {
        return service.as("admin").register(project, code, source);
    }
}
