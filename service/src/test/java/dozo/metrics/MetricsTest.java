package dozo.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.people.Role;
import dozo.people.Tokens;
import dozo.registry.Capacities;
import dozo.registry.Sites.Site;
import dozo.remote.Space;
import dozo.run.Runs;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Prometheus gets, who gets it, and that documentation, dashboard and alerts name only what there is. */
class MetricsTest {

    private static final String PATH = "/actuator/prometheus";
    private static final Path RULES = Path.of("..", "docs", "prometheus", "dozo.rules.yml");
    private static final Path DASHBOARD = Path.of("..", "docs", "grafana", "dozo.json");

    /** Names of metrics in expressions: Dozo's own, and those of Spring Boot. */
    private static final Pattern NAME = Pattern.compile("\\b(dozo|jvm|process|http_server|system)_[a-z0-9_]+\\b");

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static String token;
    private static String text;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.start(folder.resolve("work"));
        service.saveUnreachable("dr");
        Site site = service.dr();
        service.bean(Capacities.class).keep(site.id(), new Space(1_000, 400, 0, false));
        int experiment =
                service.createExperiment("P1", "S1", folder.resolve("source")).id();
        Runs runs = service.bean(Runs.class);
        long first = runs.open(RunKind.NIGHTLY_BACKUP, site, "test").id();
        service.bean(Findings.class)
                .add(first, List.of(new Finding(experiment, Problem.UNREADABLE, null, "of the test")));
        runs.close(first, RunState.COMPLETE, "");
        var _ = runs.open(RunKind.NIGHTLY_BACKUP, site, "test");
        service.createUser("prometheus", Role.AUDITOR);
        token = service.bean(Tokens.class)
                .create("prometheus", "scrape", null, true, 1)
                .secret();
        for (String path : List.of("/nix/made-up", "/api/v1/projects/MADE-UP", "/api/v1/projects/P1", "/login")) {
            var _ = service.get(path);
        }
        text = scraped().text();
    }

    private static Answer scraped() {
        return service.with("Bearer " + token).get(PATH);
    }

    @Test
    void theDocumentedMetricsAreThoseThatAreShown() throws Exception {
        Set<String> documented = EnumSet.allOf(Metric.class).stream()
                // Nothing is stored here.
                .filter(each -> each != Metric.SCRUB_OLDEST)
                .map(each -> "# TYPE %s %s"
                        .formatted(each.title(), each.type().name().toLowerCase(java.util.Locale.ROOT)))
                .collect(Collectors.toSet());
        assertThat(text.lines().filter(line -> line.startsWith("# TYPE dozo_")))
                .containsExactlyInAnyOrderElementsOf(documented);
    }

    @Test
    void theMetricsOfSpringBootAreDocumented() throws Exception {
        Set<String> families = Pattern.compile("(?m)^\\| `([a-z_]+)…?` \\| [^|]+ \\|$")
                .matcher(Files.readString(Path.of("..", "docs", "reference", "metrics.md")))
                .results()
                .map(row -> row.group(1))
                .collect(Collectors.toSet());
        Set<String> shown = text.lines()
                .filter(line -> line.startsWith("# TYPE ") && !line.startsWith("# TYPE dozo_"))
                .map(line -> line.split(" ")[2])
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(shown).allMatch(name -> families.stream().anyMatch(name::startsWith));
        assertThat(families).allMatch(family -> shown.stream().anyMatch(name -> name.startsWith(family)));
    }

    @Test
    void theValuesAreThoseOfTheCatalogue() {
        assertThat(text.lines())
                .contains(
                        "dozo_coverage_experiments{site=\"dr\"} 1.0",
                        "dozo_coverage_experiments_safe{site=\"dr\"} 0.0",
                        "dozo_project_experiments{project=\"P1\",site=\"dr\"} 1.0",
                        "dozo_experiments_at_risk{site=\"dr\",state=\"lost\"} 0.0",
                        "dozo_headline_bad{site=\"dr\"} 1.0",
                        "dozo_run_active{kind=\"nightlyBackup\"} 1.0",
                        "dozo_run_active{kind=\"scrub\"} 0.0",
                        "dozo_run_paused 0.0",
                        "dozo_site_free_bytes{site=\"dr\"} 400.0",
                        "dozo_site_total_bytes{site=\"dr\"} 1000.0",
                        "dozo_findings_open{reason=\"UNREADABLE\",site=\"dr\"} 1.0",
                        "dozo_service_active 1.0",
                        "dozo_workers 0.0")
                .anyMatch(line -> line.startsWith(
                        "dozo_run_last_end_timestamp_seconds{kind=\"nightlyBackup\",state=\"FINDINGS\"} "))
                .anyMatch(line -> line.startsWith("dozo_connections{pool=\"requests\",state=\"active\"} "));
        assertThat(text.lines().filter(line -> line.startsWith("dozo_headline{")))
                .hasSize(1);
    }

    @Test
    void onlyThoseWhoSeeEverythingMayReadThem() {
        Answer nobody = service.with(null).get(PATH);
        nobody.expect(401);
        assertThat(nobody.headers().allValues("WWW-Authenticate")).isNotEmpty();
        assertThat(nobody.text()).doesNotContain("dozo_");
        service.get(PATH).expect(200);
        scraped().expect(200);
        assertThat(scraped().headers().firstValue("Content-Type").orElse(""))
                .startsWith("text/plain")
                .contains("version=0.0.4");
        assertThat(service.with("Bearer " + token).get("/actuator/metrics").status())
                .isNotEqualTo(200);
    }

    @Test
    void noMetricNamesAnAddressThatSomebodyMadeUp() {
        assertThat(text).doesNotContainIgnoringCase("made-up");
        assertThat(text.lines().filter(line -> line.startsWith("http_server_requests_seconds_count")))
                .anyMatch(line -> line.contains("uri=\"/api/v1/projects/{project}\""));
    }

    @Test
    void dashboardAndAlertsNameOnlyMetricsThatThereAre() throws Exception {
        Set<String> shown = Stream.concat(
                        text.lines().filter(line -> !line.startsWith("#")).map(line -> line.replaceFirst("[{ ].*", "")),
                        Arrays.stream(Metric.values()).map(Metric::title))
                .collect(Collectors.toSet());

        for (Path file : List.of(RULES, DASHBOARD)) {
            Set<String> named = NAME.matcher(expressions(file))
                    .results()
                    .map(MatchResult::group)
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(named).as(file.toString()).isNotEmpty().isSubsetOf(shown);
        }
    }

    /** Returns the lines with expressions, of rules or of a dashboard. */
    private static String expressions(Path file) throws IOException {
        return Files.readAllLines(file).stream()
                .filter(line -> line.matches("\\s*\"?expr\"?:.*"))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void prometheusAcceptsTheRulesAndTheMetrics() throws Exception {
        assumeThat(isThere("promtool")).as("promtool is installed").isTrue();

        assertThat(promtool("", "check", "rules", RULES.toString())).isEmpty();
        // Spring Boot's own metrics do not follow all advice.
        String own = text.lines()
                        .filter(line -> line.matches("(# (HELP|TYPE) )?dozo_.*"))
                        .collect(Collectors.joining("\n"))
                + "\n";
        assertThat(promtool(own, "check", "metrics")).isEmpty();
    }

    private static boolean isThere(String program) {
        return Arrays.stream(System.getenv("PATH").split(":", -1))
                .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
    }

    /** Returns the output if it fails; empty if it does not. */
    private static String promtool(String input, String... words) throws Exception {
        Process process = new ProcessBuilder(Stream.concat(Stream.of("promtool"), Arrays.stream(words))
                        .toList())
                .redirectErrorStream(true)
                .start();
        try (var stdin = process.getOutputStream()) {
            stdin.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() == 0 ? "" : output;
    }
}
