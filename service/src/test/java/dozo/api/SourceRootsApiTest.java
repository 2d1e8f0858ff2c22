package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.manifest.Ingest;
import dozo.manifest.Known;
import dozo.manifest.Manifests;
import dozo.manifest.SourceLook;
import dozo.manifest.SourceLook.Ingested;
import dozo.people.Role;
import dozo.people.Users;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Users who see only some projects register only sources below the projects' roots. A source that is bound to a root
 * never leads elsewhere.
 */
class SourceRootsApiTest {

    private static final AtomicInteger COUNT = new AtomicInteger();

    @TempDir
    static Path temporary;

    @AutoClose
    private static RunningService service;

    private String project = "";
    private Path folder = Path.of("");
    private Path root = Path.of("");
    private Path outside = Path.of("");

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        service.createUser("lab", Role.LAB_MANAGER);
        service.createUser("operator", Role.OPERATOR);
    }

    /**
     * Removes the roots: the lab manager sees the projects of all tests, and one of them has everything below its root.
     */
    @AfterEach
    void forgetRoots() {
        setRoots().expect(200);
    }

    @BeforeEach
    void makeProject() throws IOException {
        project = "P" + COUNT.incrementAndGet();
        service.createProject(project);
        service.bean(Users.class).join(project, "lab", "test");
        folder = Files.createDirectory(temporary.toRealPath().resolve(project));
        root = Files.createDirectories(folder.resolve("root"));
        outside = Files.createDirectories(folder.resolve("outside"));
        Files.createDirectories(root.resolve("visit"));
        Files.writeString(outside.resolve("secret"), "another's");
    }

    @Test
    void withoutRootsALabManagerRegistersNothingAndOthersWhatTheServiceReads() {
        Answer refused = register("lab", "E1", root.resolve("visit"));

        refused.refused(422, "source");
        assertThat(refused.text()).contains("has no source root yet");
        register("operator", "E1", root.resolve("visit")).expect(201);
        register("admin", "E2", outside).expect(201);
    }

    @Test
    void rootsAreSetInWholeAndTheLedgerSaysFromWhatToWhat() throws IOException {
        Path second = Files.createDirectory(folder.resolve("研究"));
        Answer set = setRoots(root);
        Answer both = service.put(
                "/api/v1/projects/" + project + "/roots",
                "{\"rootsBytes\": [\"%s\", \"%s\"]}".formatted(base64(root), base64(second)));

        set.has("/roots/0", root.toString());
        both.has("/roots/1", second.toString());
        service.as("lab").get("/api/v1/projects/" + project).has("/rootsBytes/1", base64(second));
        assertThat(setRoots(root, second, root).at("/roots").size()).isEqualTo(2);
        assertThat(service.ledger())
                .filteredOn(row -> row.subject().equals(project) && row.action().equals("project.changed"))
                .hasSize(2)
                .last()
                .satisfies(row -> {
                    assertThat(row.actor()).isEqualTo("admin");
                    assertThat(row.detail())
                            .contains("\"before\": \"source roots %s\"".formatted(root))
                            .contains("\"after\": \"source roots %s, %s\"".formatted(root, second));
                });
        service.as("operator")
                .put("/api/v1/projects/" + project + "/roots", "{\"roots\": []}")
                .expect(403);
    }

    @Test
    void rootsThatCannotBeAreRefused() {
        String address = "/api/v1/projects/" + project + "/roots";
        service.put(address, "{}").refused(422, "roots");
        service.put(address, "{\"roots\": [\"relative\"]}").refused(422, "roots");
        service.put(address, "{\"roots\": [null]}").refused(422, "roots");
        setRoots(root.resolve("nothing")).refused(422, "roots");
        setRoots(outside.resolve("secret")).refused(422, "roots");
        Path[] tooMany = new Path[101];
        java.util.Arrays.fill(tooMany, root);
        setRoots(tooMany).refused(422, "roots");
        service.put("/api/v1/projects/nix/roots", "{\"roots\": []}").expect(404);
    }

    @Test
    void whatIsBelowARootIsTheOneThatItIsInTheEnd() throws IOException {
        setRoots(root);
        Files.createDirectories(folder.resolve("rootX/visit"));
        Files.createDirectories(folder.resolve("Root/visit"));
        Files.createSymbolicLink(root.resolve("out"), outside);
        Files.createSymbolicLink(root.resolve("in"), root.resolve("visit"));
        Files.createSymbolicLink(folder.resolve("way"), root);

        for (Path refused : new Path[] {
            outside,
            outside.resolve("nothing"),
            folder,
            folder.resolve("rootX/visit"),
            folder.resolve("Root/visit"),
            root.resolve("../outside"),
            root.resolve("visit/../../outside"),
            root.resolve("out"),
            root.resolve("in/../../outside")
        }) {
            Answer answer = register("lab", "NO", refused);
            answer.refused(422, "source");
            assertThat(answer.text()).contains("expected a folder in %s".formatted(root));
        }
        assertThat(register("lab", "NO", root.resolve("nothing")).text()).contains("there is no folder");
        register("lab", "E1", folder.resolve("way/in/"))
                .expect(201)
                .has("/source", root.resolve("visit").toString());
        assertThat(register("operator", "E2", root.resolve("visit/.")).status())
                .as("it is the same folder")
                .isEqualTo(409);
    }

    @Test
    void aRootMayBeALinkOrAllThereIs() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), root);
        setRoots(link);
        register("lab", "E1", link.resolve("visit"))
                .has("/source", root.resolve("visit").toString());
        register("lab", "E2", root).expect(201);
        register("lab", "E3", outside).refused(422, "source");

        setRoots(Path.of("/"));
        register("lab", "E3", outside).expect(201);
    }

    @Test
    void aFileOfExperimentsIsHeldAgainstTheRootsToo() throws IOException {
        setRoots(root);
        Files.createSymbolicLink(root.resolve("out"), outside);
        Files.createSymbolicLink(folder.resolve("way"), root);
        String csv = "project,code,source\n%1$s,E1,%2$s/way/visit\n%1$s,E2,%2$s/root/out\n%1$s,E3,%2$s/outside\n"
                .formatted(project, folder);

        Answer first = bulk("lab", csv);
        Answer again = bulk("lab", csv);

        first.has("/lines/0/outcome", "REGISTERED");
        for (int line : new int[] {1, 2}) {
            assertThat(first.at("/lines/%d/outcome".formatted(line)).asString()).isEqualTo("REFUSED");
            assertThat(first.at("/lines/%d/field".formatted(line)).asString()).isEqualTo("source");
            assertThat(first.at("/lines/%d/message".formatted(line)).asString()).contains(root.toString());
        }
        again.has("/unchanged", 1);
        assertThat(experiment("E1").bound()).isTrue();
        assertThat(experiment("E1").source()).isEqualTo(root.resolve("visit"));
        bulk("operator", csv).has("/lines/2/outcome", "REGISTERED");
        assertThat(bulk("lab", csv).at("/unchanged").asInt())
                .as("what is registered already is so for everybody")
                .isEqualTo(3);
    }

    @Test
    void whatIsBelowARootIsLookedIntoAndSuggestedToThePageAndToRestAndNothingElseIs() throws Exception {
        setRoots(root);
        Files.writeString(
                root.resolve("visit/scan.json"),
                "{\"Modality\": \"MR\", \"StationName\": \"AWP7\", \"AcquisitionDateTime\": \"2026-10-01T09:30\","
                        + " \"StudyInstanceUID\": \"1.2.392.7.%s\", \"PatientID\": \"0123\"}".formatted(COUNT.get()));

        Answer told = suggestions("lab", root.resolve("visit"));
        Answer encoded = service.as("lab")
                .get("/api/v1/experiments/suggestions?sourceBytes="
                        + URLEncoder.encode(base64(root.resolve("visit")), StandardCharsets.UTF_8));

        told.has("/project", project);
        told.has("/acquired", "2026-10-01");
        told.has("/hints/0/kind", "UNKNOWN_STATION");
        assertThat(told.text()).doesNotContain("0123\"");
        assertThat(encoded.text()).isEqualTo(told.text());
        for (Path foreign : new Path[] {outside, root.resolve("../outside"), folder.resolve("never")}) {
            suggestions("lab", foreign).refused(422, "source");
        }
        suggestions("operator", outside).expect(200);
        service.as("lab").get("/api/v1/experiments/suggestions").refused(422, "source");
        service.as("lab").get("/api/v1/experiments/suggestions?sourceBytes=%25").refused(422, "sourceBytes");

        String page = page("title=typed&code=&source=" + root.resolve("visit"));
        assertThat(page).contains("id=\"slot-code\"", "value=\"MR\"").doesNotContain("slot-title");
        assertThat(page("modality=MR&suggested.modality=MR&title=x&source=" + root))
                .as("what another folder said goes with it")
                .contains("id=\"slot-modality\"");
        assertThat(page("source=" + outside))
                .contains("is not below a source root")
                .doesNotContain("slot-");
    }

    private Answer suggestions(String user, Path source) {
        return service.as(user).get("/api/v1/experiments/suggestions?source=" + source);
    }

    private static String page(String query) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create(service.url() + "/register/suggestions?lang=en&" + query))
                .build();
        return service.browser("lab")
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void aListIsHeldAgainstTheRootsToo() throws IOException {
        setRoots(root);
        Path inside = Files.createFile(root.resolve("list"));
        Path foreign = Files.createFile(outside.resolve("list"));
        Path link = Files.createSymbolicLink(root.resolve("link"), foreign);
        register("lab", "E1", root.resolve("visit")).expect(201);

        setList("lab", foreign).refused(422, "list");
        setList("lab", link).refused(422, "list");
        setList("lab", inside).expect(200);
        setList("operator", foreign).expect(200);
        service.as("lab")
                .post("/api/v1/experiments", """
                {"project": "%s", "code": "E2", "source": "%s", "list": "%s", "listForm": "find"}
                """.formatted(project, root, foreign))
                .refused(422, "list");
    }

    @Test
    void aBoundSourceThatIsALinkLaterIsNotReadAndAnotherIs() throws Exception {
        setRoots(root);
        Path visit = Files.createDirectories(root.resolve("deep/visit"));
        Files.writeString(visit.resolve("mine"), "mine");
        Path way = Files.createSymbolicLink(folder.resolve("elsewhere"), outside);
        register("lab", "BOUND", visit).expect(201);
        register("operator", "FREE", way).expect(201);
        assertThat(ingest("BOUND").sealed()).isTrue();

        Files.move(visit, folder.resolve("moved"));
        Files.createSymbolicLink(visit, outside);
        Ingested swapped = ingest("BOUND");
        Files.delete(visit);
        Files.delete(root.resolve("deep"));
        Files.createDirectory(outside.resolve("visit"));
        Files.createSymbolicLink(root.resolve("deep"), outside);
        Ingested above = ingest("BOUND");

        for (Ingested refused : new Ingested[] {swapped, above}) {
            assertThat(refused.sealed()).isFalse();
            assertThat(refused.findings()).isNotEmpty();
        }
        assertThat(service.bean(Manifests.class).all(experiment("BOUND").id())).hasSize(1);
        assertThat(ingest("FREE").sealed())
                .as("an operator's link is the operator's")
                .isTrue();
    }

    @Test
    void aBoundListThatIsALinkLaterIsNotRead() throws Exception {
        setRoots(root);
        Path list = Files.createFile(root.resolve("list"));
        register("lab", "E1", root.resolve("visit")).expect(201);
        setList("lab", list).expect(200);
        Files.delete(list);
        Files.createSymbolicLink(list, outside.resolve("secret"));

        Ingested refused = ingest("E1");

        assertThat(refused.sealed()).isFalse();
        assertThat(refused.findings())
                .isNotEmpty()
                .allSatisfy(finding -> assertThat(finding.message()).doesNotContain("another's"));
    }

    @Test
    void whatIsBoundStaysSoWithoutRoots() throws Exception {
        setRoots(root);
        register("operator", "E1", root.resolve("visit")).expect(201);
        setRoots();

        assertThat(experiment("E1").bound()).isTrue();
        Files.delete(root.resolve("visit"));
        Files.createSymbolicLink(root.resolve("visit"), outside);
        assertThat(ingest("E1").sealed()).isFalse();
    }

    private Ingested ingest(String code) {
        Ingest ingest = service.bean(Ingest.class);
        Experiment experiment = experiment(code);
        Known known = ingest.known(new int[] {experiment.id()}).get(experiment.id());
        try (SourceLook look = ingest.look(experiment, known, new LongAdder())) {
            return new TransactionTemplate(service.bean(PlatformTransactionManager.class)).execute(_ -> look.seal());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private Experiment experiment(String code) {
        return service.bean(Experiments.class).find(project, code).orElseThrow();
    }

    private Answer setRoots(Path... roots) {
        String list = java.util.Arrays.stream(roots)
                .map(each -> '"' + each.toString() + '"')
                .collect(java.util.stream.Collectors.joining(", "));
        return service.put("/api/v1/projects/" + project + "/roots", "{\"roots\": [%s]}".formatted(list));
    }

    private Answer register(String who, String code, Path source) {
        return service.as(who).register(project, code, source);
    }

    private Answer setList(String who, Path list) {
        return service.as(who)
                .put(
                        "/api/v1/experiments/" + project + "/E1/list",
                        "{\"list\": \"%s\", \"listForm\": \"find\"}".formatted(list));
    }

    private static Answer bulk(String who, String csv) {
        return service.as(who).postCsv("/api/v1/experiments/bulk?mode=each", csv);
    }

    private static String base64(Path path) {
        return Base64.getEncoder().encodeToString(path.toString().getBytes(StandardCharsets.UTF_8));
    }
}
