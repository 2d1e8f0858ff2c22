package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The CSV of a response has the complete content of its JSON, and no formulas that a spreadsheet would run. */
class SheetApiTest {

    /** At the end of a day long ago, there was nothing. */
    private static final List<String> EMPTY =
            List.of("coverage/groups?by=experiment&asOf=DAY", "coverage/changes?from=2020-01-01&until=DAY");

    private static final String TITLE = "=HYPERLINK(\"x\",\"視覚, 野\")";

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        service.createProject("P1");
        for (int i = 1; i <= 3; i++) {
            Path source = Files.createDirectory(folder.resolve("source-" + i));
            service.post("/api/v1/experiments", """
                            {"project": "P1", "code": "E%d", "title": "%s", "source": "%s", "modality": %s}
                            """.formatted(
                                    i, TITLE.replace("\"", "\\\""), source, i == 3 ? "null" : "\"MR\""))
                    .expect(201);
        }
        // As after a night: E1 is safe, E2 half. One name is not UTF-8.
        for (String sql : new String[] {
            "insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,"
                    + " entries_changed, entries_gone)"
                    + " select experiment_id, 1, now() - interval '2 hours', 2, 10, 0, 0, 2, 0, 0 from experiment where code <> 'E3'",
            "insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,"
                    + " entries_safe, unprotected_since, counted_at)"
                    + " select experiment_id, 1, 1, 2, 10, 2, case code when 'E1' then 2 else 1 end,"
                    + " case code when 'E1' then 10 else 4 end, case code when 'E1' then 2 else 1 end,"
                    + " case code when 'E1' then null else now() - interval '2 hours' end, now() from experiment where code <> 'E3'",
            "insert into directory (experiment_id, directory_no, path) select experiment_id, 1, '' from experiment where code = 'E1'",
            "insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)"
                    + " select experiment_id, 1, 1, 1, 5, 1, 420, 'f', '\\x2bff'::bytea from experiment where code = 'E1'"
        }) {
            service.jdbc().sql(sql).update();
        }
        service.post("/api/v1/holds", "{\"project\": \"P1\", \"experiment\": \"E1\", \"reason\": \"=1, 2\"}")
                .expect(201);
        Run run = service.openRun();
        Findings findings = service.bean(Findings.class);
        List<Finding> found = Stream.of("a", "=b")
                .map(name -> new Finding(1, Problem.SPECIAL, FilePath.of(name), "is a socket"))
                .toList();
        findings.add(run.id(), found);
        service.bean(Runs.class).close(run.id(), RunState.FINDINGS, "");
        service.post(
                        "/api/v1/findings/%d/acknowledge"
                                .formatted(service.get("/api/v1/findings").number("/items/0/id")),
                        "{\"reason\": \"known\"}")
                .expect(200);
        service.jdbc().sql("""
                        insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, ended_at)
                        select experiment_id, 1, 1, '/x', 'COMPLETE', 'dozo', now(), now() from experiment where code = 'E1';
                        insert into drill (restore_id) select restore_id from restore
                        """).update();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "coverage? | ",
                "coverage?asOf=DAY | ",
                "coverage/experiments?limit=500 | items",
                "coverage/groups?by=project | items",
                "coverage/groups?by=experiment&asOf=DAY | items",
                "coverage/groups?by=modality | items",
                "coverage/groups?by=scanner | items",
                "coverage/groups?by=month | items",
                "coverage/unprotected? | items",
                "coverage/changes?from=2020-01-01&until=DAY | items",
                "coverage/waits?from=2020-01-01&until=DAY&by=modality | items",
                "experiments/P1/E1/proof?pathBytes=K/8= | items",
                "experiments?q=e&state=planned | items",
                "ledger?limit=500&action=project.created | items",
                "findings? | items",
                "findings?open=true&project=P1 | items",
                "runs? | items",
                "drills?project=P1 | items",
                "holds? | items"
            })
    void theFiguresAreThoseOfTheJson(String question, String list) {
        String path = "/api/v1/" + question.replace("DAY", "2026-01-01");
        Answer json = service.get(path);
        json.expect(200);
        List<JsonNode> items = new ArrayList<>();
        (list == null ? json.at("") : json.at("/" + list)).forEach(items::add);
        if (list == null) {
            items = List.of(json.at(""));
        }

        Answer csv = ask(path, "text/csv");

        csv.expect(200);
        assertThat(csv.header("Content-Type")).isEqualTo("text/csv;charset=UTF-8");
        assertThat(csv.header("Content-Disposition")).matches("attachment; filename=\"[a-zA-Z0-9.-]+\\.csv\"");
        assertThat(csv.text()).endsWith("\r\n");
        List<List<String>> lines = parsed(csv.text());
        assertThat(lines).hasSize(items.size() + 1);
        assertThat(items.isEmpty()).as("empty").isEqualTo(EMPTY.contains(question));
        for (int i = 0; i < items.size(); i++) {
            for (int column = 0; column < lines.getFirst().size(); column++) {
                String heading = lines.getFirst().get(column);
                String said = lines.get(i + 1).get(column);
                if (!List.of("asOf", "recordedSince").contains(heading)) {
                    assertThat(said)
                            .as("%s of %s", heading, items.get(i))
                            .isEqualTo(cell(json.at(""), items.get(i), heading));
                }
            }
        }
        assertThat(ask(path + "&format=csv", "text/html,*/*;q=0.8").text()).isEqualTo(csv.text());
    }

    @Test
    void aSheetIsWholeHoweverManyPagesTheListHas() {
        List<Subject> many = IntStream.range(0, 12_000)
                .mapToObj(i -> new Subject("many-" + i, List.of("x")))
                .toList();
        service.bean(Ledger.class).appendAll("test", "test.many", List.of("key"), many);

        Answer all = ask("/api/v1/ledger?action=test.many&limit=1&format=csv", "*/*");
        List<List<String>> lines = parsed(all.text());

        assertThat(lines).hasSize(12_001);
        assertThat(lines.get(12_000).get(4)).isEqualTo("many-11999");
        String seq = lines.get(11_990).getFirst();
        assertThat(parsed(ask("/api/v1/ledger?action=test.many&format=csv&after=" + seq, "*/*")
                        .text()))
                .hasSize(11);
        assertThat(parsed(ask("/api/v1/coverage/experiments?limit=1&format=csv", "*/*")
                        .text()))
                .hasSize(4);
    }

    @Test
    void textsThatWouldBeRunAreTextsAndNamesAreBytesToo() {
        String titles = ask("/api/v1/coverage/experiments?format=csv", "*/*").text();
        String proof = ask("/api/v1/experiments/P1/E1/proof?pathBytes=K/8=&format=csv", "*/*")
                .text();

        assertThat(titles).contains(",\"'=HYPERLINK(\"\"x\"\",\"\"視覚, 野\"\")\",");
        assertThat(proof).contains(",'+\\xFF,K/8=,");
    }

    @Test
    void aMarkForSpreadsheetsIsThereWhenItIsAskedFor() {
        assertThat(ask("/api/v1/coverage?format=csv&bom=true", "*/*").text()).startsWith("\uFEFFsite,");
        assertThat(ask("/api/v1/coverage?format=csv", "*/*").text()).startsWith("site,");
        ask("/api/v1/coverage?format=csv&bom=perhaps", "*/*").expect(422);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*/*",
                "application/json",
                "application/json, text/csv",
                "text/csv;q=0.5, */*",
                "text/*;q=0.1, application/*"
            })
    void jsonIsAnsweredWhereItIsAsWelcome(String accept) {
        assertThat(ask("/api/v1/coverage", accept).header("Content-Type")).startsWith("application/json");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"text/csv", "text/csv, application/json;q=0.9", "text/*, */*;q=0.1", "text/csv; charset=utf-8"})
    void csvIsAnsweredWhereItIsMoreWelcome(String accept) {
        assertThat(ask("/api/v1/coverage", accept).header("Content-Type")).startsWith("text/csv");
    }

    @Test
    void nothingElseIsAnswered() {
        ask("/api/v1/coverage", "application/xml").expect(406);
        ask("/api/v1/ledger", "application/pdf").expect(406);
        assertThat(ask("/api/v1/projects", "text/csv").status())
                .as("it has no CSV")
                .isEqualTo(406);
        Answer format = ask("/api/v1/coverage?format=xml", "*/*");
        format.refused(422, "format");
        assertThat(ask("/api/v1/coverage/groups?by=colour", "text/csv")
                        .expect(422)
                        .header("Content-Type"))
                .startsWith("application/problem+json");
    }

    /** Returns the JSON value of a column: from the item, from its sums or its receipt, or from beside the items. */
    private static String cell(JsonNode answer, JsonNode item, String heading) {
        JsonNode found = heading.equals("receipt") ? item.at("/receipt/id") : item.path(heading);
        for (JsonNode place :
                List.of(item.path("totals"), item.path("receipt"), acknowledgement(item, heading), answer)) {
            found = found.isMissingNode() ? place.path(heading) : found;
        }
        if (found.isMissingNode() || found.isNull()) {
            return "";
        }
        String text = found.isArray()
                ? found.valueStream().map(JsonNode::asString).collect(Collectors.joining(" "))
                : found.isContainer() ? found.toString() : found.asString();
        return heading.equals("detail")
                ? text.replace("\":\"", "\": \"").replace("\",\"", "\", \"")
                : text.startsWith("=") || text.startsWith("+") ? "'" + text : text;
    }

    /** Returns the acknowledgement with the names of its columns. */
    private static JsonNode acknowledgement(JsonNode item, String heading) {
        String name = heading.replace("acknowledged", "").toLowerCase(Locale.ROOT);
        return JsonMapper.shared().createObjectNode().setAll(Map.of(heading, item.at("/acknowledgement/" + name)));
    }

    /** Parses the lines of a CSV file (RFC 4180). */
    private static List<List<String>> parsed(String csv) {
        List<List<String>> lines = new ArrayList<>();
        List<String> line = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < csv.length(); i++) {
            char c = csv.charAt(i);
            if (c == '"' && quoted && i + 1 < csv.length() && csv.charAt(i + 1) == '"') {
                cell.append(csv.charAt(++i));
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && (c == ',' || c == '\n')) {
                line.add(cell.toString());
                cell.setLength(0);
                if (c == '\n') {
                    lines.add(line);
                    line = new ArrayList<>();
                }
            } else if (quoted || c != '\r') {
                cell.append(c);
            }
        }
        return lines;
    }

    private static Answer ask(String path, String accept) {
        return service.askWith("GET", path, null, "Accept", accept);
    }
}
