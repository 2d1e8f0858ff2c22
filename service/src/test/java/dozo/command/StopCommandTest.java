package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.Application;
import dozo.Ended;
import dozo.RunningService;
import dozo.db.ChildJava;
import dozo.loopback.LoopbackSite;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands stop runs, and a scrub makes way for a night. */
class StopCommandTest {

    private static final int FILES = 12;

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared(Map.of("dozo.transfer.bundle", "1MB", "dozo.transfer.large", "2MB"));
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
    }

    @Test
    void whereNothingRunsNothingIsStopped() {
        assertThat(dozo("stop")).isEqualTo(new Ended(Exit.REFUSED, "", "dozo: no run is in progress\n"));
        dozo("stop 7").ends(Exit.REFUSED);
        dozo("stop x").ends(Exit.USAGE);
    }

    @Test
    void aRunIsStoppedAndWaitedForAndANightGoesBeforeAScrub() throws Exception {
        service.register("dr", site.address());
        Path source = Files.createDirectories(folder.resolve("source"));
        for (int i = 0; i < FILES; i++) {
            Files.write(source.resolve("file" + i), new byte[1 << 20]);
        }
        service.createExperiment("P1", "S1", source);
        dozo("run --wait").ends(0);

        slowScrub(2);
        assertThat(dozo("stop --wait").ends(0).out()).startsWith("scrub 2 ").contains("findings: 0");
        service.get("/api/v1/runs/2").has("/state", "STOPPED");
        service.get("/api/v1/runs/2").has("/kind", "SCRUB");
        assertThat(dozo("stop 2").err()).contains("run 2 is not running");

        slowScrub(3);
        Ended night = dozo("run");
        assertThat(night).isEqualTo(new Ended(Exit.WELL, "run 4 has started\n", ""));
        service.get("/api/v1/runs/3").has("/state", "STOPPED");
        service.get("/api/v1/runs/4").has("/kind", "NIGHTLY_BACKUP");
        awaitEnd(4);

        slowScrub(5);
        pauseAndResume();
        ctrlCEndsOnlyTheCommand();
        assertThat(dozo("stop 5").out()).isEqualTo("run 5 is stopping\n");
        awaitEnd(5);
    }

    private void ctrlCEndsOnlyTheCommand() throws Exception {
        assertThat(dozo("pause --wait -q")).isEqualTo(new Ended(Exit.WELL, "", ""));
        Process waiting = ChildJava.of(Application.class)
                .options("-Ddozo.password.file=" + service.passwordFile())
                .arguments("resume", "--wait", "--url", service.url())
                .process()
                .start();
        BufferedReader said = waiting.errorReader();
        assertThat(said.readLine()).startsWith("scrub 5 ");
        new ProcessBuilder("kill", "-INT", String.valueOf(waiting.pid()))
                .start()
                .waitFor();

        assertThat(said.lines()).contains("dozo: run 5 goes on in the service; to stop it: dozo stop 5");
        assertThat(waiting.waitFor()).isEqualTo(130);
        service.get("/api/v1/runs/5").has("/state", "RUNNING");
    }

    /** Pauses and resumes the scrub in progress, number 5. */
    private void pauseAndResume() {
        assertThat(dozo("pause --wait")).isEqualTo(new Ended(Exit.WELL, "run 5 is paused\n", ""));
        assertThat(dozo("status").out())
                .contains("\nscrub 5 is paused: ")
                .contains("paused by admin since ")
                .contains("to continue: dozo resume 5");
        assertThat(dozo("pause -q").err()).contains("run 5 was paused by admin");
        assertThat(dozo("resume")).isEqualTo(new Ended(Exit.WELL, "run 5 continues\n", ""));
        assertThat(dozo("resume").err()).contains("run 5 is not paused");
        dozo("resume").ends(Exit.REFUSED);
    }

    @Test
    void findingsAreListedAcknowledgedAndTriedAgain() throws Exception {
        service.register("dr", site.address());
        Path source = Files.createDirectories(folder.resolve("source"));
        service.createExperiment("P1", "S1", source);
        assertThat(dozo("findings")).isEqualTo(new Ended(Exit.WELL, "open findings: 0\n", ""));
        dozo("run --wait").ends(Exit.NOT_SAFE);

        Ended open = dozo("findings --project P1 --run 1 --reason SOURCE_EMPTY");
        open.ends(Exit.NOT_SAFE);
        assertThat(open.out())
                .startsWith("1, found by run 1 at ")
                .contains("P1/S1")
                .endsWith("open findings: 1\n");
        assertThat(dozo("findings groups --experiment P1/S1").out())
                .startsWith("     1  SOURCE_EMPTY  P1/S1, since ")
                .contains("latest: ");
        assertThat(dozo("findings groups --experiment P1/none")).isEqualTo(new Ended(Exit.WELL, "", ""));
        Files.writeString(source.resolve("a"), "now it holds something");
        Ended retried = dozo("retry 1 --wait");
        assertThat(retried.code()).as(retried.out() + retried.err()).isZero();
        assertThat(retried.out()).contains("retry of run 1");
        dozo("findings").ends(0);
        assertThat(dozo("findings --all").out()).contains("superseded by run 2").endsWith("findings: 1\n");
        assertThat(dozo("retry 1").err()).contains("there is nothing to retry");

        assertThat(dozo("findings acknowledge 1", "it was empty"))
                .isEqualTo(new Ended(Exit.WELL, "finding 1 acknowledged\n", ""));
        assertThat(dozo("findings --all").out()).contains("acknowledged by admin: it was empty");
        assertThat(dozo("findings acknowledge 1 again").err()).contains("has already been acknowledged");
        assertThat(dozo("findings reopen 1")).isEqualTo(new Ended(Exit.WELL, "finding 1 is open again\n", ""));
        assertThat(dozo("findings reopen 1").err()).contains("finding 1 is not acknowledged");
        assertThat(dozo("findings acknowledge 1 again").out()).contains("finding 1 acknowledged");
        assertThat(dozo("findings acknowledge 1", "").err()).contains("1 to 500 characters");
        dozo("findings acknowledge 1").ends(Exit.USAGE);

        Files.delete(source.resolve("a"));
        dozo("run --wait").ends(Exit.NOT_SAFE);
        assertThat(dozo("findings acknowledge-all known").err()).contains("--reason is missing");
        String reason = dozo("findings groups").out().strip().split(" +")[1];
        assertThat(dozo("findings acknowledge-all --reason", reason, "it was emptied"))
                .isEqualTo(new Ended(Exit.WELL, "findings acknowledged: 1\n", ""));
        assertThat(dozo("findings acknowledge-all --reason", reason, "again"))
                .isEqualTo(new Ended(Exit.REFUSED, "", "dozo: none of these findings is open\n"));
        assertThat(dozo("findings --all --json").out()).contains("\"supersededBy\":2");
    }

    /** Starts a scrub that has read some copies, and waits for its budget to read others. */
    private void slowScrub(int run) {
        assertThat(dozo("scrub --all --warm --limit 4kB").out()).isEqualTo("scrub %d has started\n".formatted(run));
        await().atMost(Duration.ofMinutes(5))
                .until(() -> service.jdbc()
                                .sql("select count(*) from reading where run_id = :run")
                                .param("run", run)
                                .query((row, n) -> row.getLong(1))
                                .single()
                        > 0);
    }

    private void awaitEnd(int run) {
        await().atMost(Duration.ofMinutes(5))
                .until(() ->
                        !service.get("/api/v1/runs/" + run).string("/state").equals("RUNNING"));
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
