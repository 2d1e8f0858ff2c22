package dozo.security;

import static dozo.RunningService.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Sight;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Permissions.Reach;
import dozo.people.Permissions.Token;
import dozo.people.Role;
import dozo.people.Scope;
import dozo.people.Tokens;
import dozo.people.Users;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.run.Runs;
import dozo.run.Runs.RunState;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import tools.jackson.databind.JsonNode;

/** Permissions: every endpoint × every user × own and foreign project, compared with the documented table. */
class AccessTest {

    private static final String OWN = "MINE1";

    /** Part of everything in the foreign project, to detect it in any response. */
    private static final String FOREIGN = "ALIEN9";

    /** The only endpoint for a console's token. */
    private static final Endpoint STUDY = new Endpoint("GET", "/api/v1/studies/{studyInstanceUid}");

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static long run;

    /** Tokens by user, role and kind. The last user has two roles, and tokens with only one of them. */
    private static final Map<String, String> SECRETS = new LinkedHashMap<>();

    /** Browsers in which users have logged in. */
    private static final Map<String, HttpClient> BROWSERS = new HashMap<>();

    /** A user who sends requests. */
    private record Asker(String name, String role, String authorization, String token) {}

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        run = service.openRun().id();
        for (String project : List.of(OWN, FOREIGN)) {
            service.bean(Projects.class).create(project, "title of " + project, "test");
            Path source = Files.createDirectories(folder.resolve("source-of-" + project));
            int experiment = service.bean(Experiments.class)
                    .register(project, project + "E", "title of " + project, source, "test")
                    .id();
            FilePath path = FilePath.of((project + "/file").getBytes(StandardCharsets.UTF_8));
            service.bean(Findings.class)
                    .add(run, List.of(new Finding(experiment, Problem.UNREADABLE, path, "of " + project)));
        }
        arrive();
        service.bean(Runs.class).close(run, RunState.COMPLETE, "");
        for (Role role : Role.values()) {
            service.bean(Users.class).create(nameOf(role), PASSWORD, Set.of(role), "test");
        }
        service.bean(Users.class).create("roleless", PASSWORD, Set.of(), "test");
        service.bean(Users.class).join(OWN, nameOf(Role.LAB_MANAGER), "test");
        service.bean(Projects.class).setRoots(OWN, List.of(folder), "test");
        makeTokens();
    }

    /** Adds a proposal and a missing item for each of the two projects, the own one first. */
    private static void arrive() {
        JdbcClient jdbc = service.jdbc();
        jdbc.sql("""
                        insert into origin (name, kind, address, spool, updated_at)
                        values ('fw', 'flywheel', 'https://localhost', '/spool', now())
                        """).update();
        jdbc.sql("""
                        insert into arrival (origin_id, item, state, project_id, code, title, waiting, first_seen_at, changed_at)
                        select o.origin_id, p.code || '-item', 'OFFERED', p.project_id, p.code || 'A', 'title of ' || p.code, true,
                               now(), now()
                        from origin o, project p order by p.project_id
                        """).update();
        jdbc.sql("""
                        insert into reconciliation (run_id, origin_id, state, began_at, ended_at)
                        select :run, origin_id, 'DIFFERS', now(), now() from origin
                        """).param("run", run).update();
        jdbc.sql("""
                        insert into reconciliation_item (run_id, origin_id, arrival_id, missing, name, id, reason, message, found_at)
                        select :run, origin_id, arrival_id, true, title, item, 'GONE', 'it is not there', now()
                        from arrival order by arrival_id
                        """).param("run", run).update();
    }

    private static void makeTokens() {
        Tokens tokens = service.bean(Tokens.class);
        for (Role role : Role.values()) {
            String user = nameOf(role);
            SECRETS.put(
                    user + "/" + role + "/write",
                    tokens.create(user, "w", null, false, 1).secret());
            SECRETS.put(
                    user + "/" + role + "/read",
                    tokens.create(user, "r", null, true, 1).secret());
            SECRETS.put(
                    user + "/" + role + "/studies",
                    tokens.create(user, "s", null, true, Scope.STUDIES, 1).secret());
        }
        service.bean(Users.class).create("both", PASSWORD, Set.of(Role.LAB_MANAGER, Role.ADMIN), "test");
        service.bean(Users.class).join(OWN, "both", "test");
        SECRETS.put(
                "both/LAB_MANAGER/write",
                tokens.create("both", "m", Set.of(Role.LAB_MANAGER), false, 1).secret());
    }

    @Test
    void everyEndpointHasALineAndEveryLineAnEndpoint() {
        Set<Endpoint> mapped = new HashSet<>();
        service.mappings().getHandlerMethods().forEach((mapping, handler) -> {
            if (handler.getBeanType().getName().startsWith("dozo.")) {
                mapped.addAll(endpoints(mapping));
            }
        });

        assertThat(Permissions.endpoints()).containsExactlyInAnyOrderElementsOf(mapped);
    }

    @Test
    void whatIsNotAllowedIsRefusedToEverybodyEverywhere() throws Exception {
        List<String> wrong = new ArrayList<>();
        int asked = 0;
        for (Endpoint endpoint : Permissions.endpoints()) {
            for (Asker asker : askers()) {
                for (String project : new TreeSet<>(List.of(OWN, project(endpoint)))) {
                    Answer answer = ask(asker, endpoint, project);
                    asked++;
                    String expected = expected(endpoint, asker, project);
                    String found = found(answer);
                    if (!expected.equals(found)) {
                        wrong.add("%s %s of %s as %s: %s, not %s (%d %s)"
                                .formatted(
                                        endpoint.method(),
                                        endpoint.path(),
                                        project,
                                        asker,
                                        found,
                                        expected,
                                        answer.status(),
                                        answer.text()));
                    }
                }
            }
        }

        System.out.printf(
                "role matrix: %d lines, %d requests, %d wrong%n",
                Permissions.endpoints().size(), asked, wrong.size());
        assertThat(wrong).isEmpty();
    }

    /**
     * The role is checked first: a user who may not use an endpoint does not learn which content it accepts or returns.
     */
    @Test
    void contentThatIsNotTakenIsRefusedByRoleFirst() throws Exception {
        List<String> wrong = new ArrayList<>();
        int asked = 0;
        for (Endpoint endpoint : Permissions.endpoints()) {
            if (!endpoint.path().startsWith("/api/")) {
                continue;
            }
            for (Asker asker : askers()) {
                Answer answer = askUnfit(asker, endpoint, project(endpoint));
                String found = found(answer);
                asked++;
                if (!found.equals(expected(endpoint, asker, project(endpoint))) || answer.status() < 400) {
                    wrong.add("%s as %s: %d %s".formatted(endpoint, asker, answer.status(), answer.text()));
                }
            }
            Answer nobody = askUnfit(new Asker("", "", "Bearer nonsense", ""), endpoint, OWN);
            if (nobody.status() != 401) {
                wrong.add("%s as nobody: %d %s".formatted(endpoint, nobody.status(), nobody.text()));
            }
        }

        System.out.printf("unfit content: %d requests, %d wrong%n", asked, wrong.size());
        assertThat(asked).isGreaterThan(1_000);
        assertThat(wrong).isEmpty();
    }

    private static Answer askUnfit(Asker asker, Endpoint endpoint, String project) {
        String body = endpoint.method().startsWith("P") ? "<" : null;
        return service.with(asker.authorization())
                .ask(
                        endpoint.method(),
                        path(endpoint, project) + query(endpoint),
                        body,
                        "Content-Type",
                        "application/nonsense",
                        "Accept",
                        "image/png");
    }

    @Test
    void aLabManagerReadsNothingOfAForeignProject() throws Exception {
        Asker manager = asker(Role.LAB_MANAGER);
        Asker auditor = asker(Role.AUDITOR);
        Set<String> shownToAuditor = new TreeSet<>();
        for (Endpoint endpoint : Permissions.endpoints()) {
            if (endpoint.method().equals("GET")) {
                String path = endpoint.path();
                assertThat(ask(manager, endpoint, OWN).text()).as(path).doesNotContain(FOREIGN);
                if (ask(auditor, endpoint, OWN).text().contains(FOREIGN)) {
                    shownToAuditor.add(path);
                }
            }
        }

        // Proves that the loop above could have found something: these responses do contain the foreign project.
        assertThat(shownToAuditor)
                .contains(
                        "/api/v1/projects",
                        "/api/v1/experiments",
                        "/api/v1/runs/{id}/findings",
                        "/api/v1/findings",
                        "/arrivals",
                        "/api/v1/arrivals",
                        "/api/v1/runs/{id}/reconciliation",
                        "/runs/{id}/reconciliation",
                        "/runs/{id}/reconciliation.csv",
                        "/api/v1/coverage",
                        "/api/v1/coverage/experiments",
                        "/api/v1/coverage/groups",
                        "/api/v1/coverage/unprotected",
                        "/api/v1/coverage/changes",
                        "/api/v1/coverage/waits",
                        "/api/v1/scrubs/promise/experiments");
    }

    @Test
    void sumsAndCountsAreOfWhatIsSeen() {
        String manager = asker(Role.LAB_MANAGER).authorization();
        String auditor = asker(Role.AUDITOR).authorization();

        get(manager, "/coverage").has("/totals/experiments", 1);
        get(auditor, "/coverage").has("/totals/experiments", 2);
        get(manager, "/runs/" + run).has("/findings", 1);
        get(auditor, "/runs/" + run).has("/findings", 2);
        assertThat(findingsListed(get(manager, "/runs"))).isEqualTo(1);
    }

    /**
     * Returns the number of findings in the list for the run that has some. Runs that other tests have started may come
     * before it.
     */
    private static int findingsListed(Answer runs) {
        for (JsonNode each : runs.at("/items")) {
            if (each.at("/id").asLong() == run) {
                return each.at("/findings").asInt();
            }
        }
        throw new AssertionError(runs.text());
    }

    @Test
    void aPageIsCutAfterTheFilter() {
        String manager = asker(Role.LAB_MANAGER).authorization();
        for (String list : List.of(
                "/projects",
                "/experiments",
                "/coverage/experiments",
                "/scrubs/promise/experiments",
                "/findings",
                "/arrivals",
                "/runs/%d/reconciliation".formatted(run),
                "/runs/%d/findings".formatted(run))) {
            Answer page = get(manager, list + "?limit=1");
            assertThat(page.items()).as(list).isEqualTo(1);
            assertThat(page.at("/next").isMissingNode()).as(list).isTrue();
        }
    }

    @Test
    void aForeignFindingIsAsOneThatIsNotThereAndTheOwnOneIsAcknowledged() {
        Asker manager = asker(Role.LAB_MANAGER);
        long[] ids = service.bean(Findings.class).of(Sight.EVERYTHING, run, 0, 10).stream()
                .mapToLong(finding -> finding.id())
                .toArray();

        Answer foreign = acknowledge(manager, ids[1]);
        Answer missing = acknowledge(manager, 999_999);
        Answer own = acknowledge(manager, ids[0]);

        foreign.expect(404);
        assertThat(foreign.text().replace("/" + ids[1] + "/", "/999999/").replace("\\\"" + ids[1], "\\\"999999"))
                .isEqualTo(missing.text());
        own.expect(200);
        own.has("/acknowledgement/by", manager.name());
        acknowledge(asker(Role.AUDITOR), ids[1]).expect(403);
        acknowledge(asker(Role.OPERATOR), ids[1]).expect(200);
        assertThat(get(manager.authorization(), "/findings").items()).isEqualTo(1);
        get(manager.authorization(), "/coverage").has("/openFindings", 0);
    }

    @Test
    void aForeignProposalIsAsOneThatIsNotThere() {
        Asker manager = asker(Role.LAB_MANAGER);
        long foreign = service.jdbc()
                .sql("select arrival_id from arrival where item like :item")
                .param("item", FOREIGN + "%")
                .query((row, n) -> row.getLong(1))
                .single();

        Answer one = accept(manager, foreign);
        Answer many = service.with(manager.authorization())
                .post("/api/v1/arrivals/accept", "{\"ids\": [%d, 999999]}".formatted(foreign));

        one.expect(404);
        assertThat(one.text().replace("/" + foreign + "/", "/999999/").replace("\\\"" + foreign, "\\\"999999"))
                .isEqualTo(accept(manager, 999_999).text());
        many.has("/refused", 2);
        many.has("/arrivals/0/refused", "there is no arrival " + foreign);
        accept(asker(Role.AUDITOR), foreign).expect(403);
    }

    private static Answer accept(Asker asker, long arrival) {
        return service.with(asker.authorization()).post("/api/v1/arrivals/%d/accept".formatted(arrival), "{}");
    }

    private static Answer acknowledge(Asker asker, long finding) {
        return service.with(asker.authorization())
                .post("/api/v1/findings/%d/acknowledge".formatted(finding), "{\"reason\": \"known\"}");
    }

    @Test
    void aForeignProjectIsAsOneThatIsNotThere() {
        String manager = asker(Role.LAB_MANAGER).authorization();
        for (String path : List.of(
                "/projects/%s",
                "/experiments/%s/E", "/experiments/%s/E/proof?path=a", "/experiments/%s/E/manifests/1")) {
            Answer foreign = get(manager, path.formatted(FOREIGN));
            Answer missing = get(manager, path.formatted("NEVER"));
            foreign.expect(404);
            assertThat(foreign.text().replace(FOREIGN, "NEVER")).isEqualTo(missing.text());
        }
    }

    @Test
    void registeringTellsNothingOfAForeignProject() {
        String manager = asker(Role.LAB_MANAGER).authorization();
        String taken = folder.resolve("source-of-" + FOREIGN).toString();

        Answer foreign = service.with(manager).register(FOREIGN, "X", "/nowhere");
        Answer missing = service.with(manager).register("NEVER", "X", "/nowhere");
        Answer source = service.with(manager).register(OWN, "X", taken);

        foreign.expect(422);
        assertThat(foreign.text().replace(FOREIGN, "NEVER")).isEqualTo(missing.text());
        source.refused(409, "source");
        assertThat(source.text().replace(taken, "")).doesNotContain(FOREIGN);
    }

    @Test
    void aFileOfExperimentsTellsNothingOfAForeignProject() {
        String manager = asker(Role.LAB_MANAGER).authorization();
        Path taken = folder.resolve("source-of-" + FOREIGN);
        String csv = "project,code,source%n%s,%sE,%s%n%s,Y,%s%n".formatted(FOREIGN, FOREIGN, taken, OWN, taken);

        Answer answer = service.with(manager).postCsv("/api/v1/experiments/bulk?mode=each", csv);

        answer.expect(200);
        answer.has("/refused", 2);
        assertThat(answer.text()).contains("does not exist; create it first").contains("of another project");
        assertThat(answer.text().replace(taken.toString(), "")).doesNotContain("is registered already");
    }

    @Test
    void whatIsFrozenIsCountedAndListedOfWhatIsSeen() {
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost,
                                                       message)
                        select experiment_id, 1, now(), 1, 1, 'much is gone' from experiment where code = :code
                        """).param("code", FOREIGN + "E").update();
        String manager = asker(Role.LAB_MANAGER).authorization();
        String auditor = asker(Role.AUDITOR).authorization();

        get(manager, "/coverage").has("/frozen", 0);
        get(auditor, "/coverage").has("/frozen", 1);
        assertThat(get(manager, "/experiments?frozen=true").items()).isZero();
        assertThat(get(auditor, "/experiments?frozen=true").items()).isEqualTo(1);
        assertThat(get(manager, "/experiments?q=" + FOREIGN).items()).isZero();
        assertThat(get(auditor, "/experiments?q=" + FOREIGN).items()).isEqualTo(1);
        assertThat(get(manager, "/experiments?project=" + FOREIGN).items()).isZero();
    }

    @Test
    void aPageShowsALabManagerTheOwnProjectsOnly() {
        HttpClient browser = service.browser(nameOf(Role.LAB_MANAGER), PASSWORD);
        Answer page = service.look(browser, "/", "en");

        page.expect(200);
        assertThat(page.text()).contains(OWN).doesNotContain(FOREIGN).doesNotContain("127.0.0.1");
        assertThat(service.page(service.browser(), "/")).contains(OWN).contains(FOREIGN);
    }

    @Test
    void aSessionEndsWhenItsUserIsDisabled() {
        service.createUser("leaver", Role.OPERATOR);
        HttpClient browser = service.browser("leaver");
        assertThat(service.page(browser, "/")).contains(OWN);

        service.bean(Users.class).change("leaver", null, true, null, "test");

        assertThat(service.page(browser, "/")).doesNotContain(OWN).contains("name=\"password\"");
    }

    @Test
    void whoHasNoRoleIsToldSo() {
        Answer answer = service.as("roleless").get("/api/v1/projects");
        Answer page = service.look(service.browser("roleless"), "/", "en");

        answer.expect(403);
        assertThat(answer.string("/detail")).contains("you have no role yet");
        page.expect(403);
        assertThat(page.text()).contains("you have no role yet");
    }

    @Test
    void aProjectWithoutMembersIsSeenByThoseWhoSeeAll() {
        assertThat(get(asker(Role.AUDITOR).authorization(), "/projects/%s/members".formatted(FOREIGN))
                        .expect(200)
                        .items())
                .isZero();
    }

    @Test
    void otherSpellingsOfAPathOpenNothing() {
        String manager = asker(Role.LAB_MANAGER).authorization();
        for (String path : List.of(
                "/api/v1/experiments/" + OWN + "/..%2F" + FOREIGN + "/" + FOREIGN + "E",
                "/api/v1/experiments/" + OWN + "/%2e%2e/" + FOREIGN + "/" + FOREIGN + "E",
                "/api/v1//projects/" + FOREIGN,
                "/api/v1/projects/" + FOREIGN + "/",
                "/api/v1/projects/" + FOREIGN + ";a=b",
                "/API/v1/projects/" + FOREIGN,
                "/api/v1/projects/" + FOREIGN + ".json")) {
            Answer answer = service.with(manager).get(path);
            assertThat(answer.status()).as(path).isBetween(302, 499);
            assertThat(answer.text()).as(path).doesNotContain("title of");
        }
    }

    private static String expected(Endpoint endpoint, Asker asker, String project) {
        Permissions.Line line = Permissions.of(endpoint).orElseThrow();
        Reach own = line.reaches().containsValue(Reach.SELF) ? Reach.SELF : Reach.NONE;
        Reach reach = asker.role().isEmpty() ? own : line.reaches().get(Role.valueOf(asker.role()));
        if (!asker.token().isEmpty()
                && (line.token() == Token.NONE || asker.token().equals("read") && line.token() == Token.WRITE)) {
            return "refused";
        }
        if (asker.token().equals("studies") && !endpoint.equals(STUDY)) {
            return "refused";
        }
        return switch (reach) {
            case NONE -> "refused";
            case OWN -> project.equals(FOREIGN) ? "not found" : "allowed";
            case SELF, ALL -> "allowed";
        };
    }

    private static String found(Answer answer) {
        return switch (answer.status()) {
            case 401 -> "nobody";
            case 403 -> "refused";
            case 404 -> answer.text().contains("is not one of yours") ? "not found" : "allowed";
            case 302 -> "refused";
            default -> answer.status() < 500 || answer.status() == 502 ? "allowed" : "failed";
        };
    }

    /** Sends a request. Its body is malformed for every endpoint, so admitted requests with a body fail there. */
    private static Answer ask(Asker asker, Endpoint endpoint, String project) {
        String path = path(endpoint, project);
        String query = query(endpoint);
        if (endpoint.isPage() && asker.token().isEmpty()) {
            HttpClient browser = BROWSERS.computeIfAbsent(asker.name(), name -> service.browser(name));
            return endpoint.method().equals("GET")
                    ? service.look(browser, path + query, "en")
                    : service.submit(browser, path, "");
        }
        if (path.endsWith("/bulk")) {
            return service.with(asker.authorization()).ask(endpoint.method(), path, "[", "Content-Type", "text/csv");
        }
        String body = endpoint.method().startsWith("P") ? "[" : null;
        return service.with(asker.authorization()).ask(endpoint.method(), path + query, body);
    }

    private static String path(Endpoint endpoint, String project) {
        return endpoint.path()
                .replace("{project}", project)
                .replace("{code}", project + "E")
                .replace("{name}", "dr")
                .replace("{number}", "1")
                .replace("{scanner}", "T7")
                .replace("{studyInstanceUid}", "2.25.1")
                .replace("{id}", endpoint.path().contains("/tokens/") ? "999999" : String.valueOf(run))
                .replaceAll("\\{[a-z]+}", "any");
    }

    /**
     * Returns the required parameters; without them the response would only say that they are missing. A request that
     * would succeed without a body gets a malformed one.
     */
    private static String query(Endpoint endpoint) {
        if (endpoint.method().equals("DELETE") && endpoint.path().equals("/api/v1/sites/{name}")) {
            return "?copies=malformed";
        }
        String name = endpoint.path().substring(endpoint.path().lastIndexOf('/') + 1);
        return switch (name) {
            case "changes", "waits" -> "?by=project&from=2020-01-01&until=" + LocalDate.now(ZoneId.systemDefault());
            case "groups" -> "?by=project";
            case "proof" -> "?path=a";
            default -> "";
        };
    }

    private static List<Asker> askers() {
        List<Asker> askers = new ArrayList<>();
        for (Role role : Role.values()) {
            askers.add(asker(role));
        }
        askers.add(new Asker("roleless", "", RunningService.basic("roleless", PASSWORD), ""));
        for (Map.Entry<String, String> secret : SECRETS.entrySet()) {
            String[] words = secret.getKey().split("/", -1);
            askers.add(new Asker(words[0], words[1], "Bearer " + secret.getValue(), words[2]));
        }
        return askers;
    }

    private static Asker asker(Role role) {
        return new Asker(nameOf(role), role.name(), RunningService.basic(nameOf(role), PASSWORD), "");
    }

    private static String nameOf(Role role) {
        return "one." + role.name().toLowerCase(java.util.Locale.ROOT);
    }

    private static String project(Endpoint endpoint) {
        return endpoint.path().contains("{project}") ? FOREIGN : OWN;
    }

    private static Answer get(String authorization, String path) {
        return service.with(authorization).get("/api/v1" + path);
    }

    private static List<Endpoint> endpoints(RequestMappingInfo mapping) {
        return mapping.getMethodsCondition().getMethods().stream()
                .flatMap(method -> mapping.getPatternValues().stream().map(path -> new Endpoint(method.name(), path)))
                .toList();
    }
}
