package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.command.Exit;
import dozo.drill.DrillPromises;
import dozo.drill.DrillPromises.DrillPromise;
import dozo.ledger.PastCoverage;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.registry.ExperimentSearch;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Retirements;
import dozo.registry.Retirements.Retired;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;

/** What is over needs nobody any more, keeps its copies and its evidence, and comes back by one command. */
class RetireIT {

    @TempDir
    Path temporary;

    @AutoClose
    private RunningService service;

    @AutoClose
    private LoopbackSite site;

    private Path folder;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        folder = temporary.toRealPath();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address()).expect(200);
        for (String name : List.of("P1/E1", "P1/E2", "P9/E1")) {
            register(name);
        }
        service.backUp();
    }

    @Test
    void aRemovedSourceNeedsNobodyOnceItsExperimentIsRetiredAndAgainWhenItIsBack() throws Exception {
        FileSystemUtils.deleteRecursively(source("P1/E1"));
        service.backUp();
        coverage().has("/headline", "source-missing");
        assertThat(service.get("/api/v1/findings?open=true").items()).isEqualTo(1);
        assertThat(status().code()).isNotZero();

        retire("P1/E1 --reason", "deleted after publication").ends(Exit.WELL);

        coverage().has("/headline", "safe");
        coverage().has("/totals/experiments", 2);
        coverage().has("/openFindings", 0);
        coverage().has("/retired/experiments", 1);
        coverage().has("/retired/experimentsSafe", 1);
        assertThat(service.get("/api/v1/findings?open=true").items()).isZero();
        assertThat(service.get("/api/v1/findings").at("/items/0/over").asBoolean())
                .isTrue();
        Run quiet = service.backUp();
        assertThat(service.get("/api/v1/runs/%d/findings".formatted(quiet.id())).items())
                .isZero();
        assertThat(status().ends(Exit.WELL).out()).contains("1 retired (6 B, all verified at dr)");
        assertThat(service.page(service.browser(), "/")).contains("1 retired (6 B, all verified)");
        assertThat(Ended.dozo(service, "coverage").ends(Exit.WELL).out()).contains("All 2 experiments are safe");

        assertThat(Ended.dozo(service, "unretire P1/E1"))
                .isEqualTo(new Ended(0, "P1/E1 is not retired any more\n", ""));
        coverage().has("/headline", "source-missing");
        Run loud = service.backUp();
        assertThat(service.get("/api/v1/runs/%d/findings".formatted(loud.id())).items())
                .isEqualTo(1);
        assertThat(service.get("/api/v1/findings?open=true").items())
                .as("it is the same one")
                .isEqualTo(1);
    }

    @Test
    void listsShowItOnlyByItsStateOrItsName() {
        retire("P1/E1 --reason closed").ends(Exit.WELL);

        assertThat(service.get("/api/v1/experiments").items()).isEqualTo(2);
        assertThat(service.get("/api/v1/coverage/experiments").items()).isEqualTo(2);
        service.get("/api/v1/experiments?state=retired").has("/items/0/retired/reason", "closed");
        service.get("/api/v1/experiments?q=P1/E1").has("/items/0/state", "retired");
        assertThat(Ended.dozo(service, "experiments --state retired").out()).contains("P1/E1", "retired");
        service.get("/api/v1/experiments/P1/E1").has("/retired/by", "admin");
        assertThat(Ended.dozo(service, "retired").ends(Exit.WELL).out()).contains("experiment", "P1/E1", "closed");
    }

    @Test
    void pastCoverageCountsItUntilItWasRetired() {
        String before = Instant.now().toString();
        retire("P1/E1 --reason closed").ends(Exit.WELL);
        String after = Instant.now().toString();

        service.get("/api/v1/coverage?asOf=" + before).has("/totals/experimentsSafe", 3);
        service.get("/api/v1/coverage?asOf=" + after).has("/totals/experimentsSafe", 2);
        service.get("/api/v1/coverage/groups?by=experiment").has("/items/0/name", "P1/E2");
        assertThat(service.bean(PastCoverage.class)
                        .history(
                                Sight.of(Set.of("P1")),
                                service.dr().id(),
                                List.of(Instant.parse(before), Instant.parse(after)))
                        .getFirst()
                        .totals())
                .extracting(each ->
                        List.of(each.experiments(), each.experimentsSafe(), each.filesSafe(), each.experimentsUnseen()))
                .containsExactly(List.of(2L, 2L, 2L, 0L), List.of(1L, 1L, 1L, 0L));
    }

    @Test
    void damageOfItsCopyIsFoundAndItsEvidenceStays() throws Exception {
        retire("P1/E1 --reason closed").ends(Exit.WELL);
        assertThat(service.post("/api/v1/experiments/P1/E1/certificate", "{}").status())
                .isLessThan(300);
        Files.writeString(folder.resolve("dr/P1/E1/data/file"), "evil!\n");

        Run scrub = service.awaitEnd(service.post("/api/v1/scrubs", "{\"site\": \"dr\", \"all\": true}")
                .number("/id"));

        assertThat(service.get("/api/v1/runs/%d/findings".formatted(scrub.id())).text())
                .contains("DAMAGED", "P1/E1");
        coverage().has("/headline", "damaged");
        coverage().has("/retired/experimentsSafe", 0);
        assertThat(service.get("/api/v1/experiments?state=damaged").items()).isEqualTo(1);
        assertThat(service.get("/api/v1/experiments?state=retired").items()).isEqualTo(1);
    }

    @Test
    void whatIsNotVerifiedIsRetiredOnlyExplicitlyAndItsMarkSaysSo() throws Exception {
        register("P1/NEW");
        Files.writeString(source("P1/E2").resolve("later"), "not sent");

        Ended refused = retire("P1/NEW --reason closed");
        assertThat(refused.code()).isNotZero();
        assertThat(refused.err()).contains("P1/NEW: nothing of it has a verified copy at dr", "would never be sent");
        assertThat(service.get("/api/v1/experiments?state=retired").items()).isZero();
        assertThat(retire("P1/NEW --even-unsafe --reason closed")
                        .ends(Exit.WELL)
                        .out())
                .isEqualTo("P1/NEW is retired; not verified: P1/NEW: nothing of it has a verified copy at dr\n");

        assertThat(service.get("/api/v1/retirements").string("/items/0/unsafe")).contains("P1/NEW");
        assertThat(service.page(service.browser(), "/experiments/P1/NEW"))
                .contains("Not verified when it was retired:", "nothing of it has a verified copy at dr");
        coverage().has("/headline", "safe");
        assertThat(service.ledger().getLast().detail())
                .contains("reason_sha256", "unsafe")
                .doesNotContain("closed");
    }

    @Test
    void itIsRetiredOnceWithAReasonOfOneLine() {
        retirement("POST", "experiments/P1/E1", "{}").refused(422, "reason");
        retirement("POST", "experiments/P1/E1", "{\"reason\": \"%s\"}".formatted("x".repeat(201)))
                .refused(422, "reason");
        retirement("POST", "experiments/P1/E1", "{\"reason\": \"two\\nlines\"}").refused(422, "reason");
        retirement("POST", "experiments/P1/E1", "{\"reason\": \"%s\"}".formatted("x".repeat(200)))
                .expect(200);
        retirement("POST", "experiments/P1/E1", "{\"reason\": \"again\"}").refused(409, "experiment");
        retirement("POST", "experiments/P1/NIX", "{\"reason\": \"x\"}").expect(404);
        retirement("DELETE", "experiments/P1/NIX", null).expect(404);
        retirement("DELETE", "experiments/P1/E1", null).expect(204);
        retirement("DELETE", "experiments/P1/E1", null).refused(409, "experiment");
    }

    @Test
    void aProjectIsRetiredWithItsExperimentsAndOnlyTheseComeBack() throws Exception {
        retire("P1/E2 --reason earlier").ends(Exit.WELL);
        assertThat(Ended.dozo(service, "project retire P1 --reason closed").out())
                .isEqualTo("P1 is retired\n");

        coverage().has("/totals/experiments", 1);
        assertThat(service.get("/api/v1/projects").items()).isEqualTo(1);
        service.get("/api/v1/projects/P1").has("/retired/reason", "closed");
        Path more = Files.createDirectories(source("P1/E3"));
        service.as("admin").register("P1", "E3", more).refused(409, "project");
        assertThat(service.as("admin")
                        .postCsv("/api/v1/experiments/bulk", "project,code,source\nP1,E3,%s\n".formatted(more))
                        .text())
                .contains("project P1 is retired");
        retirement("DELETE", "experiments/P1/E1", null).refused(409, "project");
        assertThat(service.page(service.browser(), "/administration/projects")).contains("Retired", "closed");

        assertThat(Ended.dozo(service, "project unretire P1").out()).isEqualTo("P1 is not retired any more\n");

        coverage().has("/totals/experiments", 2);
        service.get("/api/v1/experiments?state=retired").has("/items/0/code", "E2");
        retirement("DELETE", "projects/P1", null).refused(409, "project");
        retirement("DELETE", "projects/NIX", null).expect(404);
        retirement("POST", "projects/NIX", "{\"reason\": \"x\"}").expect(404);
    }

    @Test
    void aProjectWithSomethingUnverifiedIsRetiredOnlyExplicitly() throws Exception {
        register("P1/NEW");
        Answer refused = retirement("POST", "projects/P1", "{\"reason\": \"x\"}");
        refused.refused(409, "evenUnsafe");
        assertThat(refused.text()).contains("P1/NEW: nothing of it");

        retirement("POST", "projects/P1", "{\"reason\": \"x\", \"evenUnsafe\": true}")
                .expect(200);

        assertThat(service.get("/api/v1/experiments/P1/NEW").string("/retired/unsafe"))
                .contains("P1/NEW");
        assertThat(service.get("/api/v1/coverage/waits?from=2026-01-01&until=2026-01-02")
                        .expect(200)
                        .text())
                .as("it does not wait any more")
                .doesNotContain("\"waiting\":1");
        assertThat(service.get("/api/v1/experiments/P1/E1")
                        .at("/retired/unsafe")
                        .isMissingNode())
                .isTrue();
    }

    @Test
    void ofARetiredScannerNoGapNeedsAPerson() {
        service.put("/api/v1/scanners/T7", "{\"aeTitles\": [\"MR7T01\"]}").expect(200);
        service.as("admin")
                .postCsv("/api/v1/bookings/bulk", "受付番号,検査日,患者ID,装置,課題\nA1,2026-01-05,S1,MR7T01,P1\n")
                .expect(200);
        assertThat(service.get("/api/v1/gaps").items()).isEqualTo(1);

        assertThat(Ended.dozo(service, "scanner retire T7 --reason replaced").out())
                .isEqualTo("T7 is retired\n");

        assertThat(service.get("/api/v1/gaps").items()).isZero();
        assertThat(service.get("/api/v1/gaps?all=true").items()).isEqualTo(1);
        assertThat(service.get("/api/v1/scanners").items()).isZero();
        retirement("POST", "scanners/T7", "{\"reason\": \"again\"}").refused(409, "scanner");
        service.patch("/api/v1/experiments/P1/E1", "{\"scanner\": \"T7\"}").expect(200);
        assertThat(service.bean(ExperimentSearch.class).scanners(Sight.EVERYTHING))
                .containsExactly("T7");
        assertThat(service.bean(ExperimentSearch.class).scannersInUse(Sight.EVERYTHING))
                .isEmpty();
        assertThat(Ended.dozo(service, "scanner unretire T7").out()).isEqualTo("T7 is not retired any more\n");
        assertThat(service.get("/api/v1/gaps").items()).isEqualTo(1);
        retirement("DELETE", "scanners/T7", null).refused(409, "scanner");
        retirement("POST", "scanners/NIX", "{\"reason\": \"x\"}").expect(404);

        retirement("POST", "projects/P1", "{\"reason\": \"closed\"}").expect(200);
        assertThat(service.get("/api/v1/gaps").items())
                .as("of a retired project")
                .isZero();
    }

    @Test
    void aSiteIsRetiredIfAnotherHasTheCopiesAndComesBack() throws Exception {
        assertThat(Ended.dozo(service, "site retire dr --reason old").err())
                .contains("no other site has a complete copy of 3 experiments that site dr has copies of");
        Path second = Files.createDirectory(folder.resolve("dr2"));
        try (LoopbackSite other = LoopbackSite.openSsh(folder.resolve("sshd2"), second, 0)) {
            service.register("dr2", other.address()).expect(200);
            service.awaitEnd(service.post("/api/v1/runs", "{\"site\": \"dr2\"}").number("/id"));

            assertThat(Ended.dozo(service, "site retire dr --reason old").out()).isEqualTo("dr is retired\n");

            assertThat(service.get("/api/v1/sites").items()).isEqualTo(1);
            service.get("/api/v1/coverage").has("/site", "dr2");
            assertThat(service.page(service.browser(), "/sites")).contains("Retired", "old");
            service.get("/api/v1/retirements").has("/items/0/kind", "site");
            service.post("/api/v1/runs", "{\"site\": \"dr\"}").refused(422, "site");
            retirement("POST", "sites/dr", "{\"reason\": \"x\"}").expect(404);
            assertThat(Ended.dozo(service, "site retire dr2 --even-unsafe --reason x")
                            .out())
                    .isEqualTo("dr2 is retired; no other site had a complete copy of 3 experiments\n");
            retirement("DELETE", "sites/dr2", null).expect(204);

            register("P1/LATER");
            assertThat(Ended.dozo(service, "site unretire dr").out()).isEqualTo("dr is not retired any more\n");
            service.backUp();
            service.get("/api/v1/coverage?site=dr").has("/totals/experimentsSafe", 4);
        }
        retirement("DELETE", "sites/dr", null).refused(409, "name");
        retirement("DELETE", "sites/nix", null).expect(404);
        retirement("POST", "sites/nix", "{\"reason\": \"x\"}").expect(404);
    }

    @Test
    void anotherSiteWithItsRootIsNotBesideIt() {
        service.put("/api/v1/sites/unused", RunningService.json(site.address())).expect(200);
        retirement("POST", "sites/unused", "{\"reason\": \"x\"}").expect(200);
        retirement("DELETE", "sites/unused", null).refused(409, "name");
    }

    /** Units of an experiment that was retired meanwhile are not sent, and the run ends well. */
    @Test
    void whatIsRetiredBeforeARunSendsItIsNotSent() throws Exception {
        register("P1/NEW");
        Run run = service.openRun();
        service.jdbc().sql("""
                        insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no, attempts)
                        select experiment_id, 1, 'BUNDLE', '{1}', 1, 'PLANNED', :run, 0, 0 from experiment where code = 'NEW'
                        """).param("run", run.id()).update();

        retire("P1/NEW --even-unsafe --reason closed").ends(Exit.WELL);

        assertThat(service.count("select count(*) from transfer_unit where state = 'CANCELLED'"))
                .isEqualTo(1);
        service.jdbc()
                .sql("update run set state = 'COMPLETE', ended_at = now() where ended_at is null")
                .update();
        service.backUp();
        assertThat(Files.exists(folder.resolve("dr/P1/NEW"))).isFalse();
    }

    @Test
    void onlyOperatorsRetireAndNobodySeesThoseOfOtherProjects() {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.createUser("operator", Role.OPERATOR);
        for (String each : List.of("experiments/P1/E1", "projects/P1", "scanners/T7", "sites/dr")) {
            service.as("lab")
                    .post("/api/v1/" + each + "/retirement", "{\"reason\": \"x\"}")
                    .expect(403);
        }
        service.as("operator")
                .post("/api/v1/sites/dr/retirement", "{\"reason\": \"x\"}")
                .expect(403);
        service.as("operator")
                .post("/api/v1/experiments/P1/E1/retirement", "{\"reason\": \"own\"}")
                .expect(200);
        service.as("operator")
                .post("/api/v1/experiments/P9/E1/retirement", "{\"reason\": \"other\"}")
                .expect(200);

        Answer own = service.as("lab").get("/api/v1/retirements");
        assertThat(own.items()).isEqualTo(1);
        own.has("/items/0/name", "P1/E1");
        assertThat(service.as("lab").get("/api/v1/coverage").number("/retired/experiments"))
                .isEqualTo(1);
        assertThat(service.bean(Retirements.class).page(Sight.of(Set.of("P9")), "", 10))
                .extracting(Retired::name)
                .containsExactly("P9/E1");
    }

    @Test
    void undoIsOneClick() throws Exception {
        HttpClient admin = service.browser();
        assertThat(service.page(admin, "/experiments/P1/E1")).contains("Retire…");
        service.submit(admin, "/do/post/experiments/P1/E1/retirement", "reason=closed&confirmed=true");
        assertThat(service.page(admin, "/experiments/P1/E1"))
                .contains("closed", "/do/delete/experiments/P1/E1/retirement", "Undo")
                .doesNotContain("Retire…");

        service.submit(admin, "/do/delete/experiments/P1/E1/retirement", "confirmed=true");

        assertThat(service.get("/api/v1/experiments/P1/E1").at("/retired").isMissingNode())
                .isTrue();
        assertThat(service.page(admin, "/administration/projects/P1")).contains("/do/post/projects/P1/retirement");
    }

    @Test
    void whereAllIsRetiredNothingIsMissing() throws Exception {
        assertThat(service.bean(DrillPromises.class).all(Sight.EVERYTHING))
                .extracting(DrillPromise::project)
                .containsExactly("P1", "P9");
        for (String project : List.of("P1", "P9")) {
            retirement("POST", "projects/" + project, "{\"reason\": \"closed\"}")
                    .expect(200);
        }

        coverage().has("/headline", "none");
        coverage().has("/sentence", "All 3 experiments are retired.");
        assertThat(Ended.dozo(service, "coverage").ends(Exit.WELL).out())
                .startsWith("All experiments are retired: 3.\n3 retired (18 B, all verified at dr)\n");
        assertThat(service.page(service.browser(), "/"))
                .contains("<h1>All 3 experiments are retired.</h1>")
                .doesNotContain("First steps");
        assertThat(service.page(service.browser(), "/experiments")).contains("or all of them are retired");
        assertThat(service.bean(DrillPromises.class).all(Sight.EVERYTHING))
                .as("nobody has promised to rehearse them")
                .isEmpty();
    }

    @Test
    void aRetiredProjectIsNobodysTarget() {
        retirement("POST", "projects/P1", "{\"reason\": \"closed\"}").expect(200);
        assertThat(service.bean(Projects.class).find("P1").orElseThrow().retired())
                .isNotNull();
        assertThatThrownBy(() ->
                        service.bean(Projects.class).find("P1").orElseThrow().living("projects"))
                .isInstanceOf(Refusal.class)
                .hasMessage("project P1 is retired; bring it back first");
    }

    private Answer coverage() {
        return service.get("/api/v1/coverage?site=dr");
    }

    private Ended status() {
        return Ended.dozo(service, "status");
    }

    private Ended retire(String words, Object... more) {
        return Ended.dozo(service, "retire " + words, more);
    }

    private Answer retirement(String method, String of, String body) {
        return service.askWith(method, "/api/v1/" + of + "/retirement", body);
    }

    private Path source(String name) {
        return folder.resolve("sources").resolve(name);
    }

    private void register(String name) throws IOException {
        Path source = Files.createDirectories(source(name));
        Files.writeString(source.resolve("file"), "bytes\n");
        service.createExperiment(name.substring(0, 2), name.substring(3), source);
    }
}
