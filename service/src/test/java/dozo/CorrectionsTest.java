package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.people.Role;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was typed of an experiment is corrected by command, by REST and on the pages. */
class CorrectionsTest {

    private static final String E1 = "/api/v1/experiments/P1/E1";
    private static final String BULK = "/api/v1/experiments/bulk";

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        for (String project : List.of("P1", "P9")) {
            service.bean(Projects.class).create(project, "", "test");
            service.bean(Experiments.class)
                    .register(project, "E1", "Visaul grating", Files.createDirectory(folder.resolve(project)), "test");
        }
    }

    @Test
    void whatIsGivenIsCorrectedAndTheRestStays() {
        assertThat(Ended.dozo(service, "edit P1/E1 --modality MR --acquired 2026-10-01 --title", "Visual grating"))
                .isEqualTo(new Ended(0, "P1/E1 is corrected\n", ""));
        assertThat(Ended.dozo(service, "edit P1/E1 --subject S0042 --scanner S7T --note", "moved in run 3")
                        .code())
                .isZero();
        assertThat(Ended.dozo(service, "edit P1/E1 --scanner", "").code()).isZero();

        Answer now = service.get(E1);
        assertThat(now.at("/title").asString()).isEqualTo("Visual grating");
        assertThat(now.at("/modality").asString()).isEqualTo("MR");
        assertThat(now.at("/scanner").isMissingNode()).as("unknown again").isTrue();
        assertThat(now.at("/acquired").asString()).isEqualTo("2026-10-01");
        assertThat(now.at("/subject").asString()).isEqualTo("S0042");
        assertThat(now.at("/note").asString()).isEqualTo("moved in run 3");
        assertThat(service.get("/api/v1/experiments?q=s004")
                        .at("/items/0/project")
                        .asString())
                .as("found by the person's code")
                .isEqualTo("P1");
    }

    @Test
    void theLedgerHasEachChangedFieldAndNoText() {
        service.patch(E1, "{\"title\": \"Jane Doe\", \"note\": \"Jane\", \"modality\": \"MEG\"}");
        long rows = rows().size();
        service.patch(E1, "{\"modality\": \"MEG\"}");
        assertThat(rows()).as("what is so already").hasSize((int) rows);

        LedgerEntry row = rows().getLast();
        assertThat(row.subject()).isEqualTo("P1/E1");
        assertThat(row.detail())
                .contains("\"modality\"", "unknown → MEG", "title_sha256", "note_sha256")
                .doesNotContain("Jane", "scanner", "acquired");
    }

    @Test
    void allWrongFieldsAreRefusedAtOnceAndNothingChanges() {
        Answer refused = service.patch(
                E1,
                "{\"title\": \"x\\ny\", \"modality\": \"mr\", \"acquired\": \"1.10.2026\", \"subject\": \"Jane Doe\", \"note\": \"a\\tb\"}");
        assertThat(refused.status()).isEqualTo(422);
        for (String field : List.of("title", "acquired", "subject", "note")) {
            assertThat(refused.text()).contains("\"" + field + "\"");
        }
        assertThat(service.patch(E1, "{\"acquired\": \"2999-01-01\"}").text()).contains("is in the future");
        assertThat(service.get(E1).at("/title").asString()).isEqualTo("Visaul grating");
        assertThat(Ended.dozo(service, "edit P1/E7 --title x").err()).contains("experiment \"P1/E7\" does not exist");
        assertThat(Ended.dozo(service, "edit P1 --title x").code()).isEqualTo(Exit.USAGE);
        assertThat(service.askWith(
                                "PATCH",
                                E1,
                                "{\"title\": \"late\"}",
                                "If-Match",
                                "\"00000000000000000000000000000000\"")
                        .status())
                .as("somebody else has changed it")
                .isEqualTo(412);
    }

    /** The form shows what is there; what is emptied is unknown afterwards. */
    @Test
    void aLabManagerCorrectsExperimentsOfOwnProjectsByAForm() throws Exception {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.patch(E1, "{\"scanner\": \"S7T\", \"note\": \"old\"}");
        HttpClient lab = service.browser("lab");
        String page = service.page(lab, "/experiments/P1/E1");
        assertThat(page).contains("/do/patch/experiments/P1/E1?back=");
        String form = service.page(lab, "/do/patch/experiments/P1/E1?note=proposed&back=/x");
        assertThat(form)
                .contains("<h1>Correct P1/E1</h1>", "value=\"Visaul grating\"", "value=\"S7T\"", "value=\"proposed\"");
        assertThat(service.look(service.browser(), "/do/patch/experiments/P1/E7", "en")
                        .status())
                .isEqualTo(404);
        assertThat(service.page(lab, "/do/patch/experiments/P9/E1")).contains("does not exist or is not one of yours");

        service.submit(lab, "/do/patch/experiments/P1/E1", "title=Visual+grating&scanner=&note=&confirmed=true");

        Answer now = service.get(E1);
        assertThat(now.at("/title").asString()).isEqualTo("Visual grating");
        assertThat(now.at("/scanner").isMissingNode()).isTrue();
        assertThat(now.at("/note").asString()).isEmpty();
    }

    @Test
    void aFormThatShowsAnOldStateChangesNothing() throws Exception {
        HttpClient browser = service.browser();
        Matcher seen = Pattern.compile("name=\"seen\" value=\"&quot;(\\w+)&quot;\"")
                .matcher(service.page(browser, "/do/patch/experiments/P1/E1"));
        assertThat(seen.find()).isTrue();
        service.patch(E1, "{\"note\": \"by somebody else\"}");
        String late = "title=late&note=&confirmed=true&seen=%22" + seen.group(1) + "%22";

        Answer refused = service.submit(browser, "/do/patch/experiments/P1/E1", late);

        assertThat(refused.status()).isEqualTo(412);
        assertThat(refused.text()).contains("it has been changed since you opened this form", "value=\"late\"");
        assertThat(service.get(E1).at("/title").asString()).isEqualTo("Visaul grating");
        service.submit(browser, "/do/patch/experiments/P1/E1", "title=now&confirmed=true");
        service.get(E1).has("/title", "now").has("/note", "by somebody else");
    }

    @Test
    void aFileCorrectsManyExperimentsOrShowsWhatItWould() throws Exception {
        service.patch(E1, "{\"note\": \"old\", \"modality\": \"MR\"}");
        long rows = rows().size();
        String file = file("""
                project,code,title,modality,scanner,date,subject,note
                P1,E1,Visual grating,,S7T,2026/10/1,S0042,-
                ,P9/E1,,,,,,moved
                """);
        Ended would = Ended.dozo(service, "edit --dry-run --csv", file);
        assertThat(would.code()).isZero();
        assertThat(would.out())
                .contains("Visaul grating → Visual grating", "unknown → S7T", "old → unknown")
                .endsWith("2 experiments would be corrected, 0 are as in the file\n");
        assertThat(rows()).hasSize((int) rows);

        assertThat(Ended.dozo(service, "edit --csv", file).out())
                .endsWith("2 experiments are corrected, 0 were as in the file\n");

        service.get(E1).has("/title", "Visual grating").has("/modality", "MR").has("/acquired", "2026-10-01");
        service.get(E1).has("/scanner", "S7T").has("/subject", "S0042").has("/note", "");
        service.get("/api/v1/experiments/P9/E1").has("/note", "moved").has("/title", "Visaul grating");
        assertThat(rows()).hasSize((int) rows + 2);
        assertThat(rows().getLast().detail()).contains("note_sha256").doesNotContain("moved", "title");
        assertThat(Ended.dozo(service, "edit --csv", file).out())
                .isEqualTo("0 experiments are corrected, 2 were as in the file\n");
        assertThat(rows()).hasSize((int) rows + 2);
    }

    @Test
    void allWrongFieldsOfAllLinesAreToldAndNothingChanges() throws Exception {
        String file = file("""
                code,title,modality,scanner,acquired,subject,note
                P1/E1,Visual grating,mr,S 7T,1.10.2026,Jane Doe,
                P1/E1,again,,,,,
                P1/E7,none,,,2999-01-01,,
                nowhere,,,,,,
                P9/E1,right,,,,,
                """);
        Ended refused = Ended.dozo(service, "edit --csv", file);
        assertThat(refused.code()).isEqualTo(Exit.REFUSED);
        assertThat(refused.out())
                .contains(
                        "mr\": expected a modality",
                        "S 7T\": expected a code",
                        "1.10.2026",
                        "Jane Doe\": expected a code",
                        "experiment P1/E1 is in line 2, too",
                        "experiment \"P1/E7\" does not exist",
                        "is in the future",
                        "project")
                .endsWith("4 lines are wrong: nothing is changed\n");
        service.get("/api/v1/experiments/P9/E1").has("/title", "Visaul grating");
        Answer lines = service.as("admin").patchCsv(BULK, Files.readString(Path.of(file)));
        assertThat(lines.at("/changed").asInt()).as("valid lines").isEqualTo(1);
        assertThat(lines.at("/lines/0/line").asInt()).isEqualTo(2);
        assertThat(Ended.dozo(service, "edit --title x").code()).isEqualTo(Exit.USAGE);
        assertThat(Ended.dozo(service, "edit P1/E1 --csv", file).code()).isEqualTo(Exit.USAGE);
        service.as("admin").patchCsv(BULK, "code,age\nP1/E1,7\n").refused(422, "columns");
    }

    @Test
    void aSheetThatWasExportedChangesNothingUntilSomebodyEditsIt() {
        service.patch(E1, "{\"title\": \"=1+1\", \"note\": \"-, or not\"}");
        String sheet = service.get("/api/v1/experiments?format=csv").text();
        assertThat(sheet).contains("'=1+1");
        service.as("admin").patchCsv(BULK, sheet).has("/changed", "0").has("/unchanged", "2");
        service.as("admin").patchCsv(BULK, sheet.replace("'=1+1", "two")).has("/changed", "1");
        service.get(E1).has("/title", "two");
    }

    @Test
    void aLabManagerCorrectsOwnExperimentsOnly() {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.as("lab").patchCsv(BULK, "code,note\nP1/E1,mine\n").has("/changed", "1");
        Answer foreign = service.as("lab").patchCsv(BULK, "code,note\nP9/E1,mine\nP1/E1,changed\n");
        assertThat(foreign.text()).contains("does not exist").doesNotContain("Visaul");
        service.get("/api/v1/experiments/P9/E1").has("/note", "");
        service.get(E1).has("/note", "mine");
    }

    /** Each locks the experiments in the same order, whatever the order of its lines. */
    @Test
    void filesThatAreSentAtTheSameTimeDoNotBlockEachOther() {
        List<String> files = List.of("code,note\nP1/E1,%d\nP9/E1,%d\n", "code,note\nP9/E1,%d\nP1/E1,%d\n");
        List<Integer> statuses = IntStream.range(0, 20)
                .parallel()
                .mapToObj(n -> service.as("admin")
                        .patchCsv(BULK, files.get(n % 2).formatted(n, n))
                        .status())
                .toList();
        assertThat(statuses).containsOnly(200);
        assertThat(service.get(E1).at("/note"))
                .isEqualTo(service.get("/api/v1/experiments/P9/E1").at("/note"));
    }

    private String file(String lines) throws IOException {
        return Files.writeString(folder.resolve("corrections.csv"), lines).toString();
    }

    @Test
    void aProjectGetsAnotherTitle() {
        assertThat(Ended.dozo(service, "project title P1", "Visual cortex").out())
                .isEqualTo("P1 has the title Visual cortex\n");
        service.get("/api/v1/projects/P1").has("/title", "Visual cortex");
        assertThat(service.ledger().getLast().detail()).doesNotContain("Visual");
        service.put("/api/v1/projects/P1/title", "{\"title\": \"two\\nlines\"}").refused(422, "title");
    }

    @Test
    void aSiteGetsATitleBesideItsName() {
        service.saveUnreachable("dr");
        assertThat(Ended.dozo(service, "site title dr", "Osaka, building 3").out())
                .isEqualTo("dr has the title Osaka, building 3\n");
        service.get("/api/v1/sites/dr").has("/name", "dr").has("/title", "Osaka, building 3");
        assertThat(service.ledger().getLast().detail()).contains("Osaka, building 3");
        assertThat(service.page(service.browser(), "/sites"))
                .contains("dr (Osaka, building 3)</h2>", "/do/put/sites/dr/title");
        assertThat(Ended.dozo(service, "site show dr").out()).startsWith("site dr (Osaka, building 3) at ");
        service.saveUnreachable("dr");
        service.get("/api/v1/sites/dr").has("/title", "Osaka, building 3");
        service.put("/api/v1/sites/dr/title", "{\"title\": \"two\\nlines\"}").refused(422, "title");
        service.put("/api/v1/sites/none/title", "{\"title\": \"x\"}").isProblem(404);

        assertThat(Ended.dozo(service, "site title dr", "").out()).isEqualTo("dr has no title\n");
        assertThat(service.page(service.browser(), "/sites")).contains(">dr</h2>");
    }

    private List<LedgerEntry> rows() {
        return service.ledger().stream()
                .filter(row -> row.action().equals("experiment.corrected"))
                .toList();
    }
}
