package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Role;
import dozo.registry.Holds;
import dozo.registry.Holds.Hold;
import dozo.registry.Projects;
import dozo.run.Runs;
import dozo.run.Runs.RunState;
import dozo.ui.Operation.Field;
import dozo.ui.Operation.Kind;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.ResolvableType;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Forms of operations: what they show, send, refuse, and where they lead afterwards. */
class OperationPageTest {

    private static final String YES = "confirmed=true&";

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static HttpClient admin;
    private static HttpClient lab;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        for (String project : List.of("P1", "P9")) {
            service.createExperiment(project, "E1", folder.resolve(project));
        }
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        admin = service.browser();
        lab = service.browser("lab");
    }

    @Test
    void aFormShowsTheFieldsOfItsOperationWithTheGivenValues() {
        String page = look(admin, "/do/post/holds?project=P1&back=/holds", 200);

        assertThat(page)
                .contains("<h1>Place a hold</h1>", "While a hold stands")
                .contains("action=\"/do/post/holds\"")
                .containsPattern("type=\"text\" value=\"P1\"[^>]* id=\"project\"|id=\"project\"[^>]*value=\"P1\"")
                .contains("id=\"experiment\"", "aria-describedby=\"experiment-hint \"", "type=\"date\"")
                .contains("<option value=\"P9\"></option>")
                .containsPattern("name=\"back\" value=\"/holds\"")
                .contains("href=\"/holds\"");
        assertThat(service.look(admin, "/do/post/holds", "ja").text()).contains("<h1>保全指定の追加</h1>");
    }

    @Test
    void aFormIsSentAsTheOperationAndLeadsBack() {
        Answer placed = send(
                admin, "/do/post/holds", YES + "project=P1&experiment=E1&reason=asked&until=2027-03-04&back=/holds");

        assertThat(placed.uri()).hasPath("/holds");
        Hold hold = service.bean(Holds.class).standing("P1", 1).getFirst();
        assertThat(hold.subject()).isEqualTo("P1/E1");
        assertThat(hold.until())
                .as("a day is meant to its end")
                .isEqualTo(LocalDate.of(2027, 3, 5)
                        .atStartOfDay(service.bean(ZoneId.class))
                        .toInstant());
        assertThat(hold.placedBy()).isEqualTo("admin");

        String end = "/do/post/holds/%d/end".formatted(hold.id());
        assertThat(send(admin, end, YES + "reason=answered&back=/holds").uri()).hasPath("/holds");
        assertThat(service.bean(Holds.class).standing("P1", 1)).isEmpty();
        send(admin, "/do/post/holds/4711/end", YES + "reason=x").expect(404);
    }

    @Test
    void whatIsRefusedIsSaidAtItsFieldAndKeepsWhatWasTyped() {
        Answer noSuch = send(admin, "/do/post/holds", YES + "project=P1&experiment=E9&reason=kept+words&back=/holds");
        noSuch.expect(422);
        assertThat(noSuch.text())
                .containsPattern("id=\"experiment-error\".*does not exist")
                .contains("aria-invalid=\"true\"", "kept words");

        String tripwire = "/do/put/projects/P1/tripwire";
        assertThat(send(admin, tripwire, YES + "percent=many&entries=few")
                        .expect(422)
                        .text())
                .contains("id=\"percent-error\"", "id=\"entries-error\"", "expected a whole number");
        assertThat(send(admin, tripwire, YES + "percent=200&entries=10").text()).contains("id=\"percent-error\"");
        assertThat(send(admin, "/do/post/holds", YES + "until=soon").text()).contains("id=\"until-error\"");
        assertThat(send(admin, "/do/post/projects", YES + "code=").text()).contains("id=\"code-error\"");
        assertThat(send(admin, "/do/post/projects", YES + "code=P1").expect(409).text())
                .contains("project P1 exists already");
        send(admin, "/do/put/projects/NIX/priority", YES + "priority=5").expect(404);
        send(admin, "/do/put/projects/P1/priority", YES + "priority=").expect(422);
    }

    @Test
    void everyKindOfOperationIsSent() {
        assertThat(send(
                                admin,
                                "/do/post/projects",
                                YES + "code=NEW&title=A+title&siteNames=codes&roots=" + folder
                                        + "&back=/administration/projects/*")
                        .uri())
                .hasPath("/administration/projects/NEW");
        service.get("/api/v1/projects/NEW").has("/siteNames", "codes");
        service.get("/api/v1/projects/NEW").has("/roots/0", folder.toString());

        send(admin, "/do/put/projects/NEW/drill-days", YES + "days=30");
        send(admin, "/do/put/projects/NEW/roots", YES + "roots=");
        service.get("/api/v1/projects/NEW").has("/drillDays", 30);
        assertThat(service.get("/api/v1/projects/NEW").at("/roots").size()).isZero();

        assertThat(look(admin, "/do/put/projects/NEW/members/*", 200))
                .contains("id=\"name\"", "<option value=\"lab\"></option>");
        assertThat(send(admin, "/do/put/projects/NEW/members/*", YES + "name=").text())
                .contains("id=\"name-error\"");
        assertThat(send(admin, "/do/put/projects/NEW/members/*", YES + "name=nobody")
                        .text())
                .contains("does not exist", "value=\"nobody\"");
        send(admin, "/do/put/projects/NEW/members/*", YES + "name=lab");
        assertThat(service.get("/api/v1/projects/NEW/members").text()).contains("lab");
        send(
                admin,
                "/do/put/alerts/recipients/*",
                YES
                        + "name=it&mail=it@example.org&projects=P1%0AP9&language=ja&quietFrom=22:00&quietUntil=07:00&active=true");
        String recipients = service.get("/api/v1/alerts/recipients").text();
        assertThat(recipients).contains("it@example.org", "P9", "22:00");
        assertThat(look(admin, "/alerts", 200))
                .contains("/do/put/alerts/recipients/it?mail=it@example.org", "quietFrom=22:00");
        assertThat(send(admin, "/do/put/alerts/recipients/it", YES + "language=ja")
                        .text())
                .contains("id=\"mail-error\"");
        assertThat(look(admin, "/do/delete/projects/NEW/members/lab", 200)).contains("Remove lab from project NEW?");
        send(admin, "/do/delete/projects/NEW/members/lab", YES);
        assertThat(service.get("/api/v1/projects/NEW/members").text()).doesNotContain("lab");
    }

    @Test
    void pagesLinkToTheFormsOfWhatTheyShow() throws Exception {
        JdbcClient jdbc = service.jdbc();
        long hold = service.bean(Holds.class)
                .place("P9", null, "asked", null, "test")
                .id();
        assertThat(look(admin, "/holds", 200)).contains("/do/post/holds/%d/end?back=/holds".formatted(hold));
        assertThat(look(lab, "/holds", 200)).doesNotContain("/do/");

        assertThat(send(lab, "/do/post/erasures", YES + "project=P1&experiment=E1&reason=wish&back=/erasures")
                        .text())
                .contains("/do/post/erasures/1/withdraw?back=/erasures")
                .doesNotContain("/approve");
        assertThat(look(admin, "/erasures", 200)).contains("/do/post/erasures/1/approve?back=/erasures");
        assertThat(send(admin, "/do/post/erasures/1/withdraw", YES + "back=/erasures")
                        .uri())
                .hasPath("/erasures");

        long token =
                service.post("/api/v1/me/tokens", "{\"name\": \"nightly\"}").number("/id");
        assertThat(look(admin, "/administration/tokens", 200))
                .contains("/do/delete/me/tokens/%d?back=/administration/tokens".formatted(token));
        String user = "/do/delete/users/admin/tokens/%d".formatted(token);
        assertThat(look(admin, "/administration/users/admin", 200))
                .contains(user + "?back=/administration/users/admin");
        send(admin, user, YES);
        assertThat(look(admin, "/administration/tokens", 200)).doesNotContain("nightly");

        assertThat(look(admin, "/administration/projects/P1", 200))
                .contains("action=\"/do/put/projects/P1/tripwire\"", "name=\"percent\" value=\"20\"")
                .contains("action=\"/do/put/projects/P1/roots\"", "/do/put/projects/P1/members/*?back=")
                .contains("action=\"/do/delete/projects/P1/members/lab\"");
        jdbc.sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, now(), 1, 1, 'much is gone' from experiment
                        """).update();
        assertThat(look(admin, "/experiments/P1/E1/frozen", 200)).contains("action=\"/experiments/P1/E1/frozen?seen=");
        String release = "/do/post/experiments/P1/E1/release";
        assertThat(send(admin, release, YES + "back=/experiments/P1/E1").text()).doesNotContain(release);
    }

    @Test
    void pagesOfSitesRunsAndArrivalsLinkToForms() throws Exception {
        service.saveUnreachable("dr");
        send(admin, "/do/put/sites/dr/timetable", YES + "rules=mon 08:00-09:00 1 Gbit/s%0A%0Asun 00:00-24:00 closed");
        assertThat(look(admin, "/sites", 200))
                .contains("/do/put/sites/dr/timetable?rules=mon%2008:00-09:00%201%20Gbit/s%0Asun")
                .contains("/do/put/sites/dr/schedules?", "/do/delete/sites/dr?back=/sites");
        long run = service.openRun().id();
        assertThat(look(admin, "/runs/" + run, 200)).contains("action=\"/do/post/runs/%d/pause\"".formatted(run));
        send(admin, "/do/post/runs", YES + "site=dr").expect(409);
        service.bean(Runs.class).close(run, RunState.COMPLETE, "");

        JdbcClient jdbc = service.jdbc();
        jdbc.sql("""
                        insert into origin (name, kind, address, spool, updated_at)
                        values ('fw', 'flywheel', 'https://localhost', '/spool', now())
                        """).update();
        jdbc.sql("""
                        insert into arrival (origin_id, item, state, project_id, code, title, waiting, first_seen_at, changed_at)
                        select origin.origin_id, 'item', 'OFFERED', project.project_id, 'A', 'title', true, now(), now()
                        from origin, project where project.code = 'P1'
                        """).update();
        assertThat(look(lab, "/arrivals/1", 200)).contains("/do/post/arrivals/1/dismiss?back=/arrivals/1");
        assertThat(send(lab, "/do/post/arrivals/1/dismiss", YES + "reason=a+phantom&back=/arrivals/1")
                        .text())
                .contains("a phantom", "action=\"/do/post/arrivals/1/takeback\"");
        assertThat(send(lab, "/do/post/arrivals/1/takeback", YES + "back=/arrivals/1")
                        .text())
                .doesNotContain("a phantom");
        send(lab, "/do/post/arrivals/1/takeback", YES).expect(409);
    }

    @Test
    void withoutTheConfirmationNothingIsDone() {
        assertThat(send(admin, "/do/post/projects", "code=UNSENT").expect(200).text())
                .contains("value=\"UNSENT\"")
                .doesNotContain("class=\"error\"");
        assertThat(service.bean(Projects.class).find("UNSENT")).isEmpty();
    }

    @Test
    void itIsRefusedToThoseToWhomTheOperationIs() throws Exception {
        assertThat(look(lab, "/do/post/holds", 403)).contains("this requires one of the roles");
        send(lab, "/do/post/projects", YES + "code=LABS").expect(403);
        assertThat(send(lab, "/do/put/experiments/P9/E1/list", YES).status())
                .as("a foreign project")
                .isEqualTo(404);
        assertThat(look(lab, "/do/post/erasures", 200)).contains("value=\"P1\"").doesNotContain("\"P9\"");
        assertThat(send(lab, "/do/post/erasures", YES + "project=P9&experiment=E1&reason=x")
                        .text())
                .contains("does not exist");
        HttpResponse<String> forged = admin.send(
                HttpRequest.newBuilder(URI.create(service.url() + "/do/post/projects"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(YES + "code=FORGED"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(forged.statusCode()).isEqualTo(403);
        assertThat(service.get("/do/post/holds").status())
                .as("no login by a header")
                .isEqualTo(302);
        assertThat(service.bean(Projects.class).find("FORGED")).isEmpty();
        assertThat(service.bean(Projects.class).find("LABS")).isEmpty();
    }

    @Test
    void nobodyIsLedToAnotherSite() {
        for (String back : List.of(
                "https://evil.example",
                "//evil.example",
                "/%5Cevil.example",
                "/%09/evil.example",
                "javascript:x",
                "")) {
            Answer done = send(admin, "/do/put/projects/P1/priority", YES + "priority=5&back=" + back);
            assertThat(done.uri())
                    .as(back)
                    .hasHost("localhost".equals(done.uri().getHost()) ? "localhost" : "127.0.0.1");
            assertThat(done.uri()).as(back).hasPath("/");
            assertThat(look(admin, "/do/post/holds?back=" + back, 200))
                    .as(back)
                    .doesNotContain("href=\"https://evil", "href=\"//evil", "href=\"javascript");
        }
    }

    @Test
    void aPasswordIsNeverShownAgain() {
        assertThat(Field.kind("password", ResolvableType.forClass(String.class)))
                .isEqualTo(Kind.PASSWORD);
        assertThat(look(admin, "/do/post/holds?password=hidden", 200).split("<main", 2)[1])
                .doesNotContain("value=\"hidden");
    }

    @Test
    void aFormOfAChangeMayAskForSomeFieldsOnly() {
        assertThat(send(
                                admin,
                                "/do/post/users",
                                YES + "name=parts&password=" + RunningService.PASSWORD.replace(' ', '+')
                                        + "&roles=OPERATOR&roles=AUDITOR&back=/administration/users/*")
                        .uri())
                .hasPath("/administration/users/parts");
        assertThat(look(admin, "/administration/users/parts", 200))
                .contains("/do/patch/users/parts?only=roles,disabled&amp;back=", "only=password");

        String change = "/do/patch/users/parts";
        assertThat(look(admin, change + "?only=roles,disabled", 200))
                .containsPattern("value=\"OPERATOR\"[^>]* checked|checked[^>]* value=\"OPERATOR\"")
                .contains("name=\"disabled\"", "name=\"only\" value=\"roles,disabled\"")
                .doesNotContain("type=\"password\"");
        send(admin, change, YES + "only=disabled&disabled=true&roles=ADMIN");
        Answer user = service.get("/api/v1/users/parts");
        assertThat(user.at("/disabled").asBoolean()).isTrue();
        assertThat(user.at("/roles")).as("not asked for").hasSize(2);
        send(admin, change, YES + "disabled=");
        assertThat(service.get("/api/v1/users/parts").at("/roles"))
                .as("no form showed them")
                .hasSize(2);
        Matcher seen =
                Pattern.compile("name=\"seen\" value=\"&quot;(\\w+)&quot;\"").matcher(look(admin, change, 200));
        assertThat(seen.find()).isTrue();
        send(admin, change, YES + "roles=OPERATOR&password=&seen=%22" + seen.group(1) + "%22");
        user = service.get("/api/v1/users/parts");
        assertThat(user.at("/disabled").asBoolean()).isFalse();
        assertThat(user.at("/roles")).hasSize(1);

        assertThat(send(admin, change, YES + "only=password&password=").text()).contains("id=\"password-error\"");
        assertThat(send(admin, change, YES + "only=password&password=short").text())
                .contains("id=\"password-error\"")
                .doesNotContain("value=\"short\"");
    }

    /** The form of a correction shows what is there: nobody sees more by it than by REST. */
    @Test
    void whoMayCorrectAThingMaySeeIt() {
        Permissions.endpoints().stream()
                .filter(each -> each.method().equals("PATCH") && each.form() != null)
                .forEach(each -> Permissions.of(new Endpoint("GET", each.path()))
                        .ifPresent(shown -> Permissions.of(each)
                                .orElseThrow()
                                .reaches()
                                .forEach((role, reach) -> assertThat(reach)
                                        .as("%s %s", role, each)
                                        .isLessThanOrEqualTo(shown.reaches().get(role)))));
    }

    @Test
    void whoChangesTheirPasswordTypesItTwiceAndKnowsTheOldOne() {
        service.createUser("own", Role.AUDITOR);
        HttpClient own = service.browser("own");
        String form = YES + "present=%s&password=another+password&again=%s&back=/administration";

        assertThat(send(own, "/do/put/me/password", form.formatted("a+password+for+tests", "a+third+password"))
                        .text())
                .contains("id=\"again-error\"", "the two new passwords differ");
        assertThat(send(own, "/do/put/me/password", form.formatted("a+wrong+one", "another+password"))
                        .text())
                .contains("id=\"present-error\"", "the current password is wrong")
                .doesNotContain("a wrong one", "another password");
        assertThat(look(own, "/administration", 200)).contains("own");
        assertThat(send(own, "/do/put/me/password", form.formatted("a+password+for+tests", "another+password"))
                        .uri())
                .as("the session has ended")
                .hasPath("/login");
        assertThat(look(service.browser("own", "another password"), "/administration", 200))
                .contains("own");
    }

    @Test
    void theSecretOfATokenIsShownOnce() {
        assertThat(look(lab, "/administration/tokens", 200)).contains("/do/post/me/tokens?roles=LAB_MANAGER");
        String form = look(lab, "/do/post/me/tokens?roles=LAB_MANAGER&scope=all&days=90", 200);
        assertThat(form).contains("value=\"LAB_MANAGER\"").doesNotContain("value=\"ADMIN\"");
        String token = YES + "name=report&roles=%s&scope=studies&days=9&back=/administration/tokens";
        assertThat(send(lab, "/do/post/me/tokens", token.formatted("ADMIN")).text())
                .contains("expected one or more of your own roles");

        Answer made = send(lab, "/do/post/me/tokens", token.formatted("LAB_MANAGER"));

        assertThat(made.text())
                .containsPattern("id=\"secret\"[^>]*>dozo_[\\w-]{20,}")
                .contains("href=\"/administration/tokens\"");
        assertThat(made.header("Cache-Control")).contains("no-store");
        assertThat(look(lab, "/administration/tokens", 200)).contains("report").doesNotContain("dozo_");
    }

    /** An operation that a page links to has its texts; one without a link has none, and no form. */
    @Test
    void whatIsLinkedHasItsWordsInBothLanguages() throws Exception {
        Set<String> linked = new TreeSet<>();
        try (Stream<Path> templates = Files.list(Path.of("../ui/src/main/resources/templates"))) {
            for (Path each : templates.toList()) {
                Pattern.compile("/do/(?:post|put|patch|delete)/[a-z{}A-Z/-]*+(?<=[a-zA-Z}])")
                        .matcher(Files.readString(each))
                        .results()
                        .forEach(found -> linked.add(found.group()));
            }
        }
        assertThat(linked).hasSizeGreaterThan(20);
        // The form of a correction shows what is there.
        service.createExperiment("7", "7", folder.resolve("7"));
        service.createUser("7", Role.AUDITOR);
        for (String page : linked) {
            String address = page.replaceAll("\\{[a-z]+}", "7");
            assertThat(Permissions.endpoints()).contains(new Endpoint("GET", page));
            for (String language : List.of("en", "ja")) {
                Answer form = service.look(admin, address, language);
                assertThat(form.status()).as(address).isEqualTo(200);
                assertThat(form.text()).as(address).doesNotContain("??");
            }
        }
        Set<String> keys = new TreeSet<>(WordsTest.words("en").stringPropertyNames());
        linked.addAll(SelectedPage.OFFERED.keySet());
        keys.removeIf(key ->
                !key.startsWith("do.") || linked.stream().map(Operation::key).anyMatch(key::startsWith));
        assertThat(keys).isEmpty();
        assertThat(WordsTest.words("en").entrySet())
                .as("an apostrophe quotes what follows")
                .noneMatch(each -> each.getKey().toString().startsWith("do.")
                        && each.getValue().toString().contains("'"));
        service.look(admin, "/do/post/scrubs", "en").expect(404);
    }

    /** Nothing is lost by it, so that nobody is asked before; the next page says it once, with its undo. */
    @Test
    void whatWasDoneIsSaidOnceAndUndone() {
        String labels = "/do/post/experiments/P1/E1/labels";
        String done = send(admin, labels, YES + "label=a+%26+b&back=/experiments/P1/E1")
                .text();
        assertThat(done).as("refused").contains("id=\"label-error\"");
        done = send(admin, labels, YES + "label=7T+%E8%84%B3&back=/experiments/P1/E1")
                .text();

        assertThat(done)
                .containsPattern("class=\"flash\" role=\"status\">\\s*<p>P1/E1 has the label.</p>")
                .contains("action=\"/do/delete/experiments/P1/E1/labels/7T%20%E8%84%B3\"");
        assertThat(look(admin, "/experiments/P1/E1", 200)).contains("7T 脳").doesNotContain("class=\"flash\"");
        assertThat(send(admin, labels, YES + "label=+spaced+&back=/experiments/P1/E1")
                        .text())
                .as("what was done, not what was typed")
                .contains("action=\"/do/delete/experiments/P1/E1/labels/spaced\"");
        String removed = send(
                        admin, "/do/delete/experiments/P1/E1/labels/7T%20%E8%84%B3", YES + "back=/experiments/P1/E1")
                .text();
        assertThat(removed)
                .contains("The label 7T 脳 is removed from P1/E1.")
                .contains("action=\"/do/post/experiments/P1/E1/labels?label=7T%20%E8%84%B3\"");
        send(admin, "/do/post/experiments/P1/E1/labels?label=7T%20%E8%84%B3", YES + "back=/experiments/P1/E1");
        assertThat(look(admin, "/experiments/P1/E1", 200)).contains("7T 脳");
        assertThat(service.look(admin, "/experiments/P1/E1", "ja").text()).contains("7T 脳");
    }

    @Test
    void aCorrectionIsUndoneUnlessSomebodyHasChangedItSince() {
        String form = "/do/patch/experiments/P9/E1";
        service.patch("/api/v1/experiments/P9/E1", "{\"title\": \"First\"}");
        String first = send(admin, form, YES + "title=Second&note=kept&back=/experiments/P9/E1")
                .text();
        assertThat(first)
                .contains("Done.", "name=\"title\" value=\"First\"", "name=\"only\" value=\"")
                .containsPattern("name=\"seen\" value=\"&quot;\\w{32}&quot;\"");
        String seen = Pattern.compile("name=\"seen\" value=\"&quot;(\\w+)&quot;\"")
                .matcher(first)
                .results()
                .map(found -> "seen=%22" + found.group(1) + "%22&")
                .findFirst()
                .orElseThrow();
        String undo = YES + seen + "only=title,note&title=First&note=&back=/experiments/P9/E1";
        send(admin, form, undo);
        service.get("/api/v1/experiments/P9/E1").has("/title", "First").has("/note", "");
        assertThat(send(admin, form, undo).expect(412).text()).contains("it has been changed since");
        assertThat(send(admin, form, YES + "title=First&back=/experiments/P9/E1")
                        .text())
                .as("nothing differs")
                .contains("class=\"flash\"")
                .doesNotContain("name=\"seen\"");
    }

    /** The declaration of the operation says it, and every link and button to its form looks so; no other does. */
    @Test
    void whatDestroysLooksSoAndNothingElseDoes() throws Exception {
        Map<String, Operation> all = service.bean(OperationCalls.class).all();
        Pattern link = Pattern.compile("<a [^>]*?@\\{(/do/[a-z]+/[^(}]*(?:\\{[a-z]+}[^(}]*)*)\\([^>]*>");
        int destroying = 0;
        try (Stream<Path> templates = Files.list(Path.of("../ui/src/main/resources/templates"))) {
            for (Path each : templates.toList()) {
                Matcher found = link.matcher(Files.readString(each));
                while (found.find()) {
                    Operation operation = all.get(found.group(1));
                    if (operation != null) {
                        destroying += operation.destroys() ? 1 : 0;
                        assertThat(found.group().contains("destroys"))
                                .as("%s: %s", each.getFileName(), found.group(1))
                                .isEqualTo(operation.destroys());
                    }
                }
            }
        }
        assertThat(destroying).isGreaterThan(10);
        assertThat(look(admin, "/do/post/experiments/P1/E1/retirement", 200))
                .contains("<button class=\"destroys\" name=\"confirmed\"", "class=\"confirm destroys\"");
        assertThat(look(admin, "/do/post/holds", 200)).contains("<button class=\"main\" name=\"confirmed\"");
    }

    /** What undoes an operation is one itself, and its path has no variables that the operation does not know. */
    @Test
    void whatUndoesAnOperationIsThere() {
        Map<String, Operation> all = service.bean(OperationCalls.class).all();
        assertThat(all.values().stream().map(Operation::undo).filter(undo -> !undo.isEmpty()))
                .hasSizeGreaterThan(8)
                .allSatisfy(undo -> assertThat(all).containsKey(undo.replaceFirst("\\?.*", "")));
    }

    private static String look(HttpClient browser, String path, int status) {
        Answer page = service.look(browser, path, "en");
        assertThat(page.status()).as(path).isEqualTo(status);
        return page.text();
    }

    private static Answer send(HttpClient browser, String path, String form) {
        return service.submit(browser, path, form.replaceFirst("&$", ""));
    }
}
