package dozo.ui;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import dozo.RunningService;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Sight;
import dozo.ledger.Supersession;
import dozo.people.Role;
import dozo.registry.Experiments;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.registry.SiteSchedules;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.report.Reports;
import dozo.report.Teller;
import dozo.run.Headlines.Kind;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.TextStyle;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What page, REST, {@code dozo status} and the morning report say first in each situation of {@code first-sentences.txt}, in both languages. A situation
 * is made by the stores that make it at other times, or by their rows.
 */
class FirstSentenceTest {

    private static final Pattern FIRST = Pattern.compile("<h1>([^<]*)</h1>");

    private static final Map<String, Problem> FAILURES = Map.of(
            "key", Problem.SITE_KEY_CHANGED,
            "full", Problem.SITE_FULL,
            "unreachable", Problem.SITE_UNREACHABLE,
            "unusable", Problem.SITE_UNUSABLE,
            "defect", Problem.RUN_FAILED);

    /** A lab manager who is a member of project Q1 only. */
    private static final String MANAGER = "anna";

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    /** A block of the file. */
    private record Situation(Map<String, String> lines) {

        String get(String key) {
            return requireNonNull(lines.get(key), () -> key + " is missing in " + lines);
        }

        @Override
        public String toString() {
            return get("situation");
        }
    }

    @BeforeEach
    void start() {
        service = RunningService.shared();
    }

    static Stream<Situation> situations() throws IOException {
        try (var in = requireNonNull(FirstSentenceTest.class.getResourceAsStream("/dozo/first-sentences.txt"))) {
            return Stream.of(new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n\n"))
                    .filter(block -> block.startsWith("situation: "))
                    .map(block -> new Situation(block.lines()
                            .map(line -> line.split(": ", 2))
                            .collect(Collectors.toMap(line -> line[0], line -> line[1]))));
        }
    }

    @ParameterizedTest
    @MethodSource("situations")
    void everyoneSaysTheSameFirst(Situation situation) {
        for (String step : situation.get("made").split("; ")) {
            make(step.split(" "));
        }
        boolean manager = situation.lines.containsKey("anna");
        HttpClient browser = manager ? service.browser(MANAGER) : service.browser();
        String page = service.look(browser, "/", "en").text();

        assertThat(first(page)).isEqualTo(situation.get("en"));
        assertThat(first(service.look(browser, "/", "ja").text())).isEqualTo(situation.get("ja"));
        service.as(manager ? MANAGER : "admin")
                .get("/api/v1/coverage/sentences")
                .has("/items/0/headline", situation.get("kind"));
        if (Kind.of(situation.get("kind")) != Kind.SAFE) {
            assertThat(page).doesNotContain("answer safe");
        }
        if (!manager) {
            Ended status = Ended.dozo(service, "status");
            assertThat(status.out())
                    .startsWith(situation.get("en") + (situation.lines.containsKey("night") ? " Next night: 2" : "\n"));
            if (situation.lines.containsKey("then")) {
                assertThat(status.out()).contains(situation.get("then"));
            }
            status.ends(Integer.parseInt(situation.get("exit")));
        }
        if (Kind.of(situation.get("kind")).bad() && !manager) {
            assertThat(report(Locale.ENGLISH)).contains(situation.get("en"));
            assertThat(report(Locale.JAPANESE)).contains(situation.get("ja"));
        }
        if (situation.lines.containsKey("page")) {
            assertThat(page).contains(situation.get("page"));
        }
        if (situation.lines.containsKey("never")) {
            assertThat(page).doesNotContain(situation.get("never"));
        }
    }

    @Test
    void theTableHasEveryKindAndAtLeastFortySituations() throws IOException {
        List<Situation> all = situations().toList();

        assertThat(all).hasSizeGreaterThanOrEqualTo(40);
        assertThat(all.stream().map(each -> Kind.of(each.get("kind"))).collect(Collectors.toSet()))
                .isEqualTo(EnumSet.allOf(Kind.class));
    }

    @Test
    void theDocumentedOrderIsTheOrderOfGravity() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "reference", "pages.md"));
        String table =
                page.substring(page.indexOf("| `headline` | is true if |"), page.indexOf("## The calendar of nights"));
        List<Kind> documented = table.lines()
                .filter(line -> line.startsWith("| `") && !line.contains("`headline`"))
                .flatMap(line -> Pattern.compile("`([a-z-]+)`")
                        .matcher(line.split("\\|")[1])
                        .results())
                .map(word -> Kind.of(word.group(1)))
                .toList();

        assertThat(documented).containsExactly(Kind.values());
        assertThat(page).contains(" for " + situations().count() + " situations");
    }

    /** Returns the text of the mail with today's report. */
    private String report(Locale language) {
        return service.bean(Teller.class)
                .tell(service.bean(Reports.class).of(Sight.EVERYTHING, (String) null), language)
                .text();
    }

    private static String first(String page) {
        assertThat(page).doesNotContain("??");
        Matcher first = FIRST.matcher(page);
        assertThat(first.find()).isTrue();
        return first.group(1);
    }

    private void make(String... step) {
        List<String> names = Arrays.asList(step).subList(1, step.length);
        switch (step[0]) {
            case "nothing" -> {}
            case "anna" -> service.createUser(MANAGER, Role.LAB_MANAGER, "Q1");
            case "site" -> names.forEach(service::saveUnreachable);
            case "project" -> names.forEach(service::createProject);
            case "registered" -> names.forEach(this::register);
            // Read, and not copied yet.
            case "read" -> names.forEach(this::read);
            case "safe" -> names.forEach(this::safe);
            case "partly" ->
                sql("update protection set entries_safe = 2, files_safe = 2, bytes_safe = 20 where " + of(step[1]));
            case "changed" ->
                sql(
                        "update protection set entries_safe = 0, files_safe = 0, bytes_safe = 0, unprotected_since = now() where "
                                + of(step[1]));
            case "late" ->
                sql("update protection set unprotected_since = now() - interval '10 days' where " + of(step[1]));
            case "retired" ->
                names.forEach(name ->
                        sql("update experiment set retired_at = now(), retired_by = 'x', retired_reason = 'x' where "
                                + of(name)));
            case "night", "scrub" -> close(open(step[0], step[1]), RunState.COMPLETE);
            case "running" -> open("night", step[1]);
            case "stopped" -> close(open("night", step[1]), RunState.STOPPED);
            // Not a thing is known of why it could not start.
            case "unstarted" -> close(open("night", step[1]), RunState.FAILED);
            case "fails", "scrub-fails" -> {
                Run run = open(step[0], step[1]);
                service.bean(Findings.class).add(run.id(), new Finding(null, FAILURES.get(step[2]), "x"));
                close(run, RunState.FAILED);
            }
            case "finds" -> {
                Run run = open("night", "dr");
                for (int i = 1; i < step.length; i += 2) {
                    service.bean(Findings.class)
                            .add(run.id(), new Finding(id(step[i]), Problem.valueOf(step[i + 1]), "x"));
                }
                close(run, RunState.COMPLETE);
            }
            // The last run had found its site usable, and failed later.
            case "passed" -> sql("""
                    insert into batch_job_instance values (1, 1, 'x', 'x');
                    insert into batch_job_execution (job_execution_id, job_instance_id, create_time) values (1, 1, now());
                    insert into batch_job_execution_params select 1, 'run', 'x', max(run_id)::text, 'Y' from run;
                    insert into batch_step_execution (step_execution_id, version, step_name, job_execution_id, create_time, status)
                    values (1, 1, 'checkSite', 1, now(), 'COMPLETED')
                    """);
            case "login" ->
                login(
                        step[1],
                        Supersession.lastRun(service.jdbc(), site(step[1]).id()));
            // A check that began before anything else.
            case "login-begun-before" -> login(step[1], 0);
            // The last run was a replication from another site.
            case "from" ->
                sql(
                        "update run set kind = 'replication', from_site_id = %d where run_id = (select max(run_id) from run)"
                                .formatted(site(step[1]).id()));
            // The clock was ahead when everything so far was found.
            case "ahead" ->
                sql("update finding set found_at = now() + interval '1 day', last_found_at = now() + interval '1 day'");
            case "mounted" -> service.bean(Findings.class).mounted(site(step[1]).id(), Long.MAX_VALUE);
            case "stores" -> {
                Run run = open("night", step[1]);
                service.bean(Findings.class).stored(run.id());
                close(run, RunState.STOPPED);
            }
            case "acknowledged" -> sql("""
                    insert into acknowledgement (finding_id, acknowledged_by, acknowledged_at, reason)
                    select finding_id, 'x', now(), 'x' from finding
                    """);
            case "damaged" -> damage(step[1]);
            case "repaired" -> receipt(step[1], open("night", "dr"));
            case "stop" -> close(service.bean(Runs.class).goingOn().orElseThrow(), RunState.STOPPED);
            case "gone" -> sql("""
                    insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                             name, until_manifest)
                    values (%d, 1, 1, 1, 2048, 0, 420, 'f', 'a', 2)
                    """.formatted(id(step[1])));
            case "frozen" -> sql("""
                    insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                    values (%d, 1, now(), %s, 2000, 'x')
                    """.formatted(id(step[1]), step[2]));
            case "released" ->
                sql("update frozen_experiment set released_at = now(), released_by = 'x' where " + of(step[1]));
            case "drill" -> sql("""
                    insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, ended_at)
                    values (%d, 1, 1, '/x', 'FAILED', 'dozo', now(), now());
                    insert into drill (restore_id) select restore_id from restore
                    """.formatted(id(step[1])));
            case "old" -> sql("update experiment set registered_at = now() - interval '91 days'");
            case "nights" -> service.bean(SiteSchedules.class).set(step[1], List.of("0 0 1 * * *"), "test");
            case "since" -> sql("update run set started_at = started_at + interval '" + step[1] + " days'");
            case "unread" -> {
                receipt(step[1], open("night", "dr"));
                make("stop");
                sql("update protection set files_stored = 1, bytes_stored = 1 where " + of(step[1]));
                sql("update stored set files = 1, bytes = 1, last_read_at = '2020-01-01T00:00:00Z'");
            }
            case "doomed" -> doom(step[1]);
            default -> throw new IllegalArgumentException(String.join(" ", step));
        }
    }

    private void register(String name) {
        try {
            service.createExperiment(name.split("/")[0], name.split("/")[1], folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Registers an experiment that has 121 files and is not copied to any site. */
    private void read(String name) {
        register(name);
        sql("""
            insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new, entries_changed,
                                  entries_gone)
            values (%1$d, 1, now(), 121, 1210, 0, 0, 1, 0, 0);
            insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                                    unprotected_since, counted_at)
            select %1$d, site_id, 1, 121, 1210, 121, 0, 0, 0, now(), now() from site
            """.formatted(id(name)));
    }

    /** Registers the same, copied to all sites. */
    private void safe(String name) {
        read(name);
        sql("""
            update protection set files_safe = 121, bytes_safe = 1210, entries_safe = 121, safe_manifest = 1, unprotected_since = null
            where experiment_id = %d
            """.formatted(id(name)));
    }

    private void receipt(String name, Run run) {
        sql("""
            with unit as (
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (%d, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', %d, 0) returning *
            )
            insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
            select experiment_id, site_id, unit_id, run_id, entry_nos, decode(repeat('00', 32), 'hex'), 'x', 'x', now() from unit
            """.formatted(id(name), run.id()));
    }

    /** A scrub finds a copy damaged. */
    private void damage(String name) {
        receipt(name, open("night", "dr"));
        make("stop");
        Run scrub = open("scrub", "dr");
        sql("""
            insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
            select experiment_id, site_id, 1, receipt_id, %d, now(), 'ALTERED' from receipt where %s
            """.formatted(scrub.id(), of(name)));
        service.bean(Findings.class).add(scrub.id(), new Finding(id(name), Problem.DAMAGED, "x"));
        close(scrub, RunState.COMPLETE);
    }

    /** Its scanner deletes it in three days, and nothing can be sent for longer than that. */
    private void doom(String name) {
        LocalDate today = LocalDate.now(ZoneId.systemDefault());
        service.bean(Scanners.class).put(new Scanner("MR7T", List.of(), 3), "test");
        sql("update experiment set scanner = 'MR7T', acquired_on = '%s' where %s".formatted(today, of(name)));
        String yesterday = today.minusDays(1).getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
        List<String> closed = Stream.of("mon", "tue", "wed", "thu", "fri", "sat", "sun")
                .filter(day -> !day.equals(yesterday.toLowerCase(Locale.ROOT)))
                .map(day -> day + " 00:00-24:00 closed")
                .toList();
        service.bean(SiteTimetables.class).set("dr", closed, "test");
    }

    private void login(String site, long lastRun) {
        Supersession.usable(service.jdbc(), site(site).id(), lastRun, Instant.now(), false);
    }

    private Run open(String kind, String site) {
        return service.bean(Runs.class)
                .open(kind.startsWith("scrub") ? RunKind.SCRUB : RunKind.NIGHTLY_BACKUP, site(site), "test");
    }

    private void close(Run run, RunState state) {
        service.bean(Runs.class).close(run.id(), state, "");
    }

    private Site site(String name) {
        return service.bean(Sites.class).find(name).orElseThrow();
    }

    private String of(String experiment) {
        return "experiment_id = " + id(experiment);
    }

    private int id(String experiment) {
        return service.bean(Experiments.class).find(experiment).orElseThrow().id();
    }

    private void sql(String statement) {
        service.jdbc().sql(statement).update();
    }
}
