package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.flywheel.Emulator;
import dozo.source.flywheel.Hierarchy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The command line against a running service: output and exit codes. */
class CommandLineTest {

    private static final String PASSWORD_FILE = "dozo.password.file";

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        // An origin that is down is tried several times, with growing waits.
        service = RunningService.shared(Map.of("dozo.collect.first-wait", "1ms"));
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
    }

    @AfterEach
    void stop() {
        System.clearProperty(PASSWORD_FILE);
        service.close();
        site.close();
    }

    @Test
    void fromNothingToAllSafe() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source/sub"));
        Files.writeString(source.resolve("a.txt"), "hello");
        SiteAddress at = site.address();

        assertThat(dozo("coverage")).isEqualTo(new Ended(1, "No experiment is registered yet.\n", ""));
        assertThat(dozo("status")).isEqualTo(new Ended(Exit.NOT_SAFE, """
                No experiment is registered yet.
                First add a site: dozo site add NAME USER@HOST:/FOLDER
                No run yet.
                """, ""));
        dozo("project add P1 --title Vision").ends(0);
        assertThat(dozo("project list").out()).contains("CODE").contains("P1").contains("Vision");
        assertThat(dozo("register --project P1 --code S1 --modality MR --acquired 2020-02-29", source.getParent())
                        .out())
                .startsWith("registered P1/S1");
        dozo("coverage").ends(Exit.NOT_SAFE);
        Ended added = dozo(
                "site add dr",
                at.user() + "@" + at.host() + ":" + at.root(),
                "--port",
                at.port(),
                "--identity",
                at.identity(),
                "--host-key",
                at.hostKey().strip());
        assertThat(added).extracting(Ended::code, Ended::err).containsExactly(0, "");
        assertThat(dozo("site show dr").out()).contains("not checked yet");
        assertThat(dozo("site check dr").out())
                .contains("site dr can be used")
                .contains("digests")
                .containsPattern("\n  way in   (archives into tar, and )?SFTP\n");
        assertThat(dozo("site show dr").ends(0).out())
                .contains("digests")
                .containsPattern("\n  way in   (archives into tar, and )?SFTP\n")
                .containsPattern("reads +(cold, by \\w+|warm)\n")
                .contains("last seen");

        Ended planned = dozo("plan --lanes 2 --rate 600Mbit");
        assertThat(planned)
                .extracting(Ended::code, Ended::err)
                .as("nothing was looked at yet, so nothing is known to be unsafe")
                .containsExactly(0, "");
        assertThat(planned.out()).startsWith("not safe yet at dr; the cost of sending is not measured there yet");

        Ended ran = dozo("run --wait");

        assertThat(ran.out()).contains("is complete: 100%").contains("findings: 0");
        ran.ends(0);
        assertThat(dozo("coverage").out()).contains("P1/S1").contains("The experiment is safe: 1 files, 5 B.");
        dozo("coverage").ends(0);
        assertThat(dozo("coverage --json").out()).contains("\"bytesSafe\" : 5");
        assertThat(dozo("status").ends(0).out())
                .startsWith("The experiment is safe at dr.\nrun 1 is complete: 100%")
                .doesNotContain("bottlenecks");
        assertThat(dozo("status --json").out()).contains("\"headline\" : \"safe\"", "\"state\" : \"COMPLETE\"");
        assertThat(dozo("status --nagios"))
                .isEqualTo(new Ended(
                        0,
                        "DOZO OK - The experiment is safe at dr. | 'dr experiments'=1 'dr experiments safe'=1"
                                + " 'dr files not safe'=0 'dr open findings'=0\n",
                        ""));
        assertThat(dozo("prove P1/S1 sub/a.txt").out())
                .startsWith("P1/S1: sub/a.txt\n  file, 5 B, modified 20")
                .contains("sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
                .contains("computed at the site 20")
                .contains("    sent by SFTP");
        dozo("prove P1/S1 sub/a.txt").ends(0);
        dozo("prove P1/S1 sub/never").ends(Exit.REFUSED);
        dozo("prove S1 sub/a.txt").ends(Exit.USAGE);
        assertThat(folder.resolve("dr/P1/S1/data/sub/a.txt")).hasContent("hello");
    }

    @Test
    void coverageIsShownByAnythingAndAsOfAnyDay() throws Exception {
        registered("a.txt", "--scanner", "T7");
        assertThat(dozo("coverage --oldest 5").out()).contains("P1/S1").contains("not read yet");
        assertThat(dozo("plan --lanes 1").out())
                .contains("not safe yet at dr", "\n1 project, 0 B;")
                .containsPattern("Dozo +1 +1 .* experiments\n");
        dozo("run --wait").ends(0);
        assertThat(dozo("plan --lanes 1").out()).contains("\n0 projects, 0 B;");

        assertThat(dozo("coverage --by scanner")).isEqualTo(new Ended(0, """
                        SCANNER   SAFE  EXPERIMENTS  OF  UNSEEN  FILES  OF  SIZE   OF  OLDEST UNPROTECTED
                        T7       100 %            1   1       0      1   1   5 B  5 B  -
                        ---------------------------------------------------------------------------------
                        sum      100 %            1   1       0      1   1   5 B  5 B  -
                        """, ""));
        assertThat(dozo("coverage --by modality").out()).contains("unknown   100 %");
        assertThat(dozo("coverage --by modality --csv").out()).isEqualTo("""
                        modality,experiments,experiments_safe,experiments_unseen,files,files_safe,bytes,bytes_safe,oldest_unprotected
                        ,1,1,0,1,1,5,5,
                        """);
        assertThat(dozo("coverage --as-of 2020-01-01").out()).contains("what was safe earlier is unknown");
        dozo("coverage --as-of 2020-01-01").ends(Exit.NOT_SAFE);
        dozo("coverage --as-of 2999-01-01").ends(Exit.REFUSED);
        String always = "2020-01-01.." + java.time.LocalDate.now(java.time.ZoneId.systemDefault());
        assertThat(dozo("coverage --changes", always, "--csv").out()).isEqualTo("""
                        project,manifests,new,changed,gone,files_proven,bytes_proven,became_safe,findings
                        P1,1,1,0,0,1,5,1,0
                        """);
        assertThat(dozo("coverage --waits", always).out()).contains("MEDIAN").contains("P1 ");
        dozo("coverage --changes 2020-01-01").ends(Exit.USAGE);
        dozo("coverage --oldest 5").ends(0);
        assertThat(dozo("coverage --by weather").err()).contains("expected one of");
    }

    @Test
    void anyManifestIsRestoredIntoAFolderOfThisMachine() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.createDirectories(source.resolve("sub"));
        Files.writeString(source.resolve("sub/a.txt"), "first");
        byte[] shiftJis = {(byte) 0x94, (byte) 0x5D};
        Path raw = dozo.file.FilePath.ROOT.resolve(shiftJis).under(source);
        boolean rawNames = site.kind().contains("OpenSSH");
        Files.writeString(rawNames ? raw : source.resolve("plain"), "raw name");
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub/../nowhere"));
        service.register("dr", site.address());
        dozo("project add P1");
        dozo("register --project P1 --code S1", source);
        assertThat(dozo("restore P1/S1", folder.resolve("r0")).err()).contains("has no manifest yet");
        dozo("run --wait").ends(0);
        Files.writeString(source.resolve("sub/a.txt"), "second");
        dozo("run --wait").ends(0);

        Ended first = dozo("restore P1/S1 --manifest 1", folder.resolve("r1"));
        assertThat(first.out()).as(first.err()).contains("4 entries, 13 B: all verified here, from 127.0.0.1");
        first.ends(0);
        assertThat(folder.resolve("r1/sub/a.txt")).hasContent("first");
        assertThat(folder.resolve("r1/link")).isSymbolicLink();
        if (rawNames) {
            assertThat(dozo.file.FilePath.ROOT.resolve(shiftJis).under(folder.resolve("r1")))
                    .hasContent("raw name");
        }
        assertThat(dozo("restore --json P1/S1", folder.resolve("r2")).out()).contains("\"complete\" : true");
        assertThat(folder.resolve("r2/sub/a.txt")).hasContent("second");
        assertThat(dozo("restore P1/S1 --as-of 2020-01-01", folder.resolve("r3"))
                        .err())
                .contains("had no manifest yet at 2020-01-02 00:00:00");
        dozo("restore P1/S1 --manifest 9", folder.resolve("r3")).ends(Exit.REFUSED);
        assertThat(dozo("restore P1/S1", folder.resolve("no/where")).err())
                .endsWith("dozo: cannot create folder %s: its parent folder does not exist\n"
                        .formatted(folder.resolve("no/where")));
        assertThat(dozo("restore P1/S1", folder.resolve("r1")).err()).contains("is not empty");
        for (String name : List.of("S1", "P1/", "/S1", "P1/S1/x")) {
            Ended unnamed = dozo("restore", name, folder.resolve("r3"));
            assertThat(unnamed.code()).as(name).isEqualTo(Exit.USAGE);
            assertThat(unnamed.err()).contains("\"%s\": expected PROJECT/EXPERIMENT".formatted(name));
        }
        dozo("restore P1/S1 --site never", folder.resolve("r3")).ends(Exit.REFUSED);
        assertThat(folder.resolve("r3")).doesNotExist();

        Files.writeString(folder.resolve("dr/P1/S1/data/sub/a.txt"), "secret");
        assertThat(dozo("restore P1/S1", folder.resolve("r4"))
                        .ends(Exit.NOT_SAFE)
                        .err())
                .contains("MISMATCHED  sub/a.txt");
        assertThat(folder.resolve("r4/sub")).isEmptyDirectory();
    }

    @Test
    void whatWasFoundIsListedAndEndsWithOne() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("a.txt"), "hello");
        assertThat(new ProcessBuilder("mkfifo", source.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();
        service.register("dr", site.address());
        dozo("project add P1").ends(0);
        dozo("register --project P1 --code S1", source).ends(0);

        assertThat(dozo("run --wait").ends(Exit.NOT_SAFE).out())
                .contains("SPECIAL")
                .contains("P1/S1: pipe");
        dozo("status 1").ends(Exit.NOT_SAFE);
    }

    @Test
    void theLedgerIsListedAndVerifiedAndATamperedOneIsBroken() throws Exception {
        assertThat(dozo("ledger verify").ends(Exit.NOT_SAFE).out())
                .startsWith("Nothing is broken, but")
                .contains("none registered");
        service.register("dr", site.address());
        assertThat(dozo("ledger verify").out()).contains("dr: 0 anchors, none confirms a row yet");
        dozo("project add P1 --title Vision");
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("a.txt"), "hello");
        dozo("register --project P1 --code S1", source);
        dozo("run --wait").ends(0);

        Ended intact = dozo("ledger verify");

        intact.ends(0);
        assertThat(intact.out())
                .startsWith("The ledger is intact: every row is as it was written.\n  rows     ")
                .contains("  head     row ")
                .contains("dr: 1 anchor, the last one confirms rows up to ");
        assertThat(dozo("ledger list --action project.created").out())
                .startsWith("3  20")
                .contains("  admin  project.created  P1\n");
        assertThat(dozo("ledger list --subject nix")).isEqualTo(new Ended(0, "", ""));
        assertThat(dozo("ledger list --since 1d").out())
                .isEqualTo(dozo("ledger list").out());
        assertThat(dozo("ledger list --since tomorrow").ends(Exit.WELL).out()).isEmpty();
        assertThat(dozo("ledger list --until yesterday").ends(Exit.WELL).out()).isEmpty();
        assertThat(dozo("ledger list --until now").out())
                .isEqualTo(dozo("ledger list").out());
        assertThat(dozo("ledger list --from soon").ends(Exit.USAGE).err())
                .contains("'--since'", "\"soon\": expected now, today, yesterday, tomorrow, 7d or 12h (ago)");
        assertThat(dozo("ledger list --json").out().lines())
                .allSatisfy(line -> assertThat(line).startsWith("{\"seq\":"));

        site.close();
        assertThat(dozo("ledger verify").ends(Exit.UNAVAILABLE).out()).contains("dr: not compared with the site: ");

        JdbcClient jdbc = service.jdbc();
        jdbc.sql("alter table ledger disable trigger ledger_is_append_only").update();
        jdbc.sql("update ledger set actor = 'nobody' where seq = 2").update();
        assertThat(dozo("ledger verify").ends(Exit.NOT_SAFE).out())
                .startsWith("The ledger is BROKEN: row 2 was changed after it was appended")
                .contains("  - EDITED: row 2 ")
                .contains("  - UNGUARDED: the trigger ledger_is_append_only is disabled");
        assertThat(dozo("ledger verify --json").out()).contains("\"verdict\" : \"BROKEN\"");
        jdbc.sql("alter table ledger enable trigger ledger_is_append_only").update();
    }

    @Test
    void sourceFilesAreReadAgainAndALatePromiseIsTold() throws Exception {
        registered("sub/a.txt");
        dozo("run --wait").ends(0);

        Ended scrubbed = dozo("scrub --home --all --wait");

        assertThat(scrubbed.code()).isZero();
        assertThat(scrubbed.out()).startsWith("scrub 2 is complete: 1 files at home read, 5 B, none damaged");
        assertThat(scrubbed.out()).doesNotContain("Sources: ");
        service.jdbc()
                .sql("update home_reading set last_read_at = '2020-01-01'")
                .update();
        assertThat(dozo("status").out()).contains("Sources: not all were read again within 365 days, the oldest 20");
        assertThat(dozo("scrub --home --site dr").ends(Exit.USAGE).err()).contains("--home excludes --site");
        assertThat(dozo("scrub --home --plan").ends(Exit.USAGE).err()).contains("--plan excludes --home");
    }

    @Test
    void storedCopiesAreReadAgainAndThePromiseIsTold() throws Exception {
        registered("sub/a.txt");
        assertThat(dozo("run --wait").out()).contains("Stored copies: 100 % were read within 90 days, the oldest 20");

        Ended unknown = dozo("scrub --plan");
        assertThat(unknown.code()).as("nothing was measured").isEqualTo(Exit.NOT_SAFE);
        assertThat(unknown.out()).startsWith("5 B in 1 files; ").contains("Unknown whether the promise can be kept");
        Ended kept = dozo("scrub --plan --rate 100MB --per-file 1ms --max-age 2d");
        assertThat(kept).extracting(Ended::code, Ended::err).containsExactly(0, "");
        assertThat(kept.out()).contains("The promise can be kept");
        assertThat(dozo("scrub --plan --site dr --stored 1.27PiB --files 482,977,782 --limit 100MB")
                        .ends(Exit.NOT_SAFE)
                        .out())
                .contains("1.4 PB in 482,977,782 files")
                .contains("The promise cannot be kept");
        assertThat(dozo("scrub --plan --json").out()).contains("\"verdict\" : \"UNKNOWN\"");

        Ended scrubbed = dozo("scrub --all --wait --warm --limit 10MB");

        assertThat(scrubbed).extracting(Ended::code).isEqualTo(0);
        assertThat(scrubbed.out())
                .startsWith("scrub 2 is complete: ")
                .contains("none damaged")
                .contains("Stored copies: 100 % were read within 90 days, the oldest 20")
                .endsWith("; none is damaged.\n");
        assertThat(dozo("status").out()).startsWith("The experiment is safe at dr.\nscrub 2 is complete: ");
        assertThat(dozo("coverage").out()).contains("Stored copies: 100 % were read within 90 days");

        Files.writeString(folder.resolve("dr/P1/S1/data/sub/a.txt"), "hellO");
        Ended damaged = dozo("scrub --all --wait --warm");
        damaged.ends(Exit.NOT_SAFE);
        assertThat(damaged.out())
                .startsWith("scrub 3 ended with findings: ")
                .contains("P1/S1: sub/a.txt")
                .endsWith("; 1 damaged.\n");
        dozo("coverage").ends(Exit.NOT_SAFE);
        assertThat(dozo("coverage").out()).containsPattern("P1/S1 +damaged").endsWith("; 1 damaged.\n");
        assertThat(states("/experiments/P1/S1/manifests/1")).containsExactly("damaged");
        assertThat(states("/experiments/P1/S1/manifests/1?folder=c3Vi")).containsExactly("damaged");

        assertThat(dozo("run --wait").out()).contains("; none is damaged.");
        dozo("coverage").ends(Exit.WELL);
        assertThat(states("/experiments/P1/S1/manifests/1")).containsExactly("verified");
        assertThat(folder.resolve("dr/P1/S1/data/sub/a.txt")).hasContent("hello");
        assertThat(dozo("scrub").out()).isEqualTo("scrub 5 has started\n");
    }

    @Test
    void aScrubThatCannotBeIsRefusedWithItsOption() {
        assertThat(dozo("scrub").err()).contains("no site is registered");
        service.register("dr", site.address());
        dozo("scrub --site nix").ends(Exit.REFUSED);
        dozo("scrub --plan --site nix").ends(Exit.REFUSED);
        assertThat(dozo("scrub --max-age 0d").err()).contains("--max-age 0d: expected 1h to 3660d");
        dozo("scrub --limit 0").ends(Exit.USAGE);
        assertThat(dozo("scrub --window 20:00-20:00").err()).contains("--window 20:00-20:00: expected two different");
        assertThat(dozo("scrub --until 2020-01-01T00:00:00Z").err()).contains("until: \"2020-01-01T00:00:00Z\"");
        dozo("scrub --plan --rate 1kB --per-file 9999s").ends(Exit.REFUSED);
    }

    @Test
    void whatIsFrozenIsShownWithEverythingElseUntilItIsReleased() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source"));
        for (int i = 0; i < 20; i++) {
            Files.writeString(source.resolve("file" + i), "hello");
        }
        service.register("dr", site.address());
        dozo("project add P1");
        dozo("register --project P1 --code S1", source);
        assertThat(dozo("run --wait").out()).doesNotContain("frozen");
        for (int i = 1; i < 20; i++) {
            Files.delete(source.resolve("file" + i));
        }
        dozo("run --wait").ends(Exit.NOT_SAFE);

        Ended coverage = dozo("coverage");
        coverage.ends(Exit.NOT_SAFE);
        assertThat(coverage.out())
                .contains("The experiment is safe")
                .contains("19 of 20 files of P1/S1 vanished or changed at once: deleted, or encrypted by malware? "
                        + "The copies at dr are untouched.\n  frozen: P1/S1 since 20")
                .containsPattern("P1/S1 since 20[^,]+ [+-]\\d\\d:\\d\\d, 19 files and links, 95 B lost")
                .contains("dozo release P1/S1");
        assertThat(dozo("status").out())
                .contains("19 of 20 files of P1/S1 vanished")
                .contains("dozo release P1/S1");
        assertThat(dozo("coverage --json").out()).contains("\"frozen\" : 1");
        assertThat(dozo("coverage --by project").out()).contains("dozo release P1/S1");
        assertThat(dozo("coverage --csv").ends(Exit.NOT_SAFE).out()).doesNotContain("release");
        String page = service.page(service.browser(), "/");
        assertThat(page)
                .contains("19 of 20 files of P1/S1 vanished or changed at once: deleted, or encrypted by malware? ")
                .contains("19 files and links, 95 B lost")
                .contains("dozo release P1/S1")
                .doesNotContain("answer safe");

        dozo("release P1/S1").ends(0);

        assertThat(dozo("coverage"))
                .satisfies(after -> assertThat(after.code()).isZero())
                .satisfies(after -> assertThat(after.out()).doesNotContain("frozen"));
        assertThat(dozo("status").out()).doesNotContain("is frozen,");
        assertThat(service.page(service.browser(), "/")).contains("answer safe");
    }

    @Test
    void aCheckThatLogsInEndsThatARunCouldNot() throws Exception {
        registered("file");
        dozo("run --wait").ends(0);
        Run failed = service.openRun();
        service.bean(Findings.class).add(failed.id(), new Finding(null, Problem.SITE_KEY_CHANGED, "another key"));
        service.bean(Runs.class).close(failed.id(), RunState.FAILED, "another key");
        assertThat(dozo("status").out()).startsWith("The host key of site dr has changed. Nothing is sent.\n");
        assertThat(dozo("status --nagios").ends(2).out())
                .startsWith("DOZO CRITICAL - The host key of site dr has changed. Nothing is sent. | ");

        dozo("site check dr").ends(0);

        assertThat(dozo("status").out()).startsWith("The experiment is safe at dr.\n");
        assertThat(dozo("findings --all").out()).contains("another key").contains("no longer true");
        assertThat(service.page(service.browser(), "/findings?all=true"))
                .contains("no longer true: the site works again");
    }

    /** What was sealed of the experiment is safe. But its source may be lost, and new data would not be backed up. */
    @Test
    void anExperimentWhoseSourceWasEmptiedIsAtRiskWhoeverIsAsked() throws Exception {
        Path source = registered("file");
        assertThat(dozo("run --wait").out()).doesNotContain("at risk");
        Files.delete(source.resolve("file"));
        dozo("run --wait").ends(Exit.NOT_SAFE);

        Ended coverage = dozo("coverage");

        coverage.ends(Exit.NOT_SAFE);
        assertThat(coverage.out())
                .containsPattern("P1/S1 +source missing ")
                .contains("The experiment is safe as last sealed: 1 files, 5 B.")
                .contains("The source of 1 experiment is missing (P1/S1).\n  source missing: P1/S1\n")
                .contains("For the reasons: dozo findings\n");
        assertThat(dozo("status").out()).contains("The source of 1 experiment is missing (P1/S1).");
        assertThat(dozo("coverage --json").out()).contains("\"atRisk\" : 1");
        dozo("coverage --by project").ends(Exit.NOT_SAFE);
        assertThat(dozo("experiments --state at-risk").out()).contains("P1/S1");
        assertThat(service.page(service.browser(), "/"))
                .contains("The source of 1 experiment is missing (P1/S1).")
                .doesNotContain("answer safe");

        Files.writeString(source.resolve("file"), "again");
        dozo("run --wait").ends(0);
        assertThat(dozo("coverage"))
                .satisfies(after -> assertThat(after.code()).isZero())
                .satisfies(after -> assertThat(after.out()).doesNotContain("missing"));
    }

    @Test
    void ofManyExperimentsAtRiskSomeAreShown() throws Exception {
        service.register("dr", site.address());
        dozo("project add P1");
        for (int i = 0; i < 12; i++) {
            dozo("register --project P1 --code", "S" + i, Files.createDirectories(folder.resolve("source" + i)));
        }
        service.jdbc().sql("""
                        with run as (insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                                     values ('nightlyBackup', 1, 'FINDINGS', 'test', now(), now()) returning run_id)
                        insert into finding (run_id, experiment_id, reason, message, found_at)
                        select run_id, experiment_id, 'UNREADABLE', 'cannot be read', now() from run cross join experiment
                        """).update();

        assertThat(dozo("coverage").out())
                .contains(
                        "12 experiments cannot be copied completely without help (P1/S0 and others).\n  blocked: P1/S0\n")
                .contains("and 2 more: dozo experiments --state blocked");
    }

    @Test
    void ofManyFrozenExperimentsSomeAreShown() throws Exception {
        dozo("project add P1");
        for (int i = 0; i < 12; i++) {
            String source =
                    Files.createDirectories(folder.resolve("source" + i)).toString();
            dozo("register --project P1 --code", "S" + i, source);
        }
        service.jdbc().sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, now(), 100, 1000, 'much is gone' from experiment
                        """).update();

        assertThat(dozo("coverage").out())
                .contains(
                        "Too much of 12 experiments vanished or changed at once (P1/S0 and others): deleted, or encrypted by"
                                + " malware?")
                .contains("dozo release P1/S9")
                .doesNotContain("dozo release P1/S10")
                .contains("and 2 more: dozo experiments --state frozen");
    }

    @Test
    void thePriorityIsSetAndListed() {
        dozo("project add P1").ends(0);
        assertThat(dozo("project priority P1 20")).isEqualTo(new Ended(0, "P1 has priority 20\n", ""));
        assertThat(dozo("project list").out()).contains("PRIORITY").containsPattern("entries +20 +kept\\n");

        assertThat(dozo("project priority P1 101").ends(Exit.REFUSED).err())
                .startsWith("dozo: priority: 101: expected 1 to 100");
        dozo("project priority nix 20").ends(Exit.REFUSED);
        dozo("project priority P1").ends(Exit.USAGE);
    }

    @Test
    void namesAtSitesAndTheTimeToWaitAreSetByCommandAndByPage() throws Exception {
        dozo("project add CODED --site-names codes").ends(0);
        assertThat(dozo("project list").out()).containsPattern("CODED .*entries +10 +codes\\n");
        assertThat(dozo("project site-names CODED kept"))
                .isEqualTo(new Ended(0, "new experiments of CODED keep their names at the sites\n", ""));
        assertThat(dozo("project site-names CODED codes").out())
                .isEqualTo("new experiments of CODED have codes instead of names at the sites\n");
        assertThat(dozo("project site-names CODED secret").ends(Exit.REFUSED).err())
                .startsWith("dozo: siteNames: \"secret\": expected codes or kept");
        assertThat(dozo("project late-after CODED 48").out())
                .isEqualTo("data of CODED may wait 48 hours for its second copy\n");
        assertThat(dozo("project late-after CODED 0").err()).startsWith("dozo: hours: 0: expected 1 to 87840");

        String project = "/do/put/projects/CODED";
        service.submit(service.browser(), project + "/site-names", "confirmed=true&siteNames=codes");
        service.submit(service.browser(), project + "/late-after", "confirmed=true&hours=");
        service.get("/api/v1/projects/CODED").has("/siteNames", "codes");
        assertThat(service.get("/api/v1/projects/CODED").at("/lateHours").isMissingNode())
                .isTrue();
    }

    @Test
    void theTripwireIsSetAndListed() {
        dozo("project add P1").ends(0);
        assertThat(dozo("project list").out()).contains("TRIPWIRE").contains("20 %, 100 entries");

        assertThat(dozo("project tripwire P1 --percent 50 --entries 1000"))
                .isEqualTo(new Ended(0, "the tripwire of P1 is at 50 %, 1000 entries\n", ""));

        assertThat(dozo("project list").out()).contains("50 %, 1000 entries");
        assertThat(dozo("project tripwire P1 --percent 101 --entries 1000")
                        .ends(Exit.REFUSED)
                        .err())
                .startsWith("dozo: percent: 101: expected 1 to 100");
        dozo("project tripwire nix --percent 50 --entries 1000").ends(Exit.REFUSED);
        dozo("project tripwire P1 --percent 50").ends(Exit.USAGE);
    }

    @Test
    void whatAListNamesIsSentAndNothingElse() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source"));
        Path list = folder.resolve("list");
        Files.writeString(source.resolve("listed"), "hello");
        Process find = new ProcessBuilder(
                        "sh",
                        "-c",
                        "find \"$1\" -mindepth 1 -printf '%y %s %T@ %C@ %m %n %i %P//%l\\0' > \"$2\""
                                + " && printf 'end\\0' >> \"$2\"",
                        "sh",
                        source.toString(),
                        list.toString())
                .inheritIO()
                .start();
        assertThat(find.waitFor()).isZero();
        Files.writeString(source.resolve("unlisted"), "came later");
        dozo("project add P1");
        service.register("dr", site.address());
        assertThat(dozo("register --project P1 --code S1 --list", list, source)
                        .ends(Exit.REFUSED)
                        .err())
                .startsWith("dozo: listForm: ");

        assertThat(dozo("register --project P1 --code S1 --list", list, "--list-form", "find", source))
                .extracting(Ended::code, Ended::err)
                .containsExactly(0, "");
        assertThat(dozo("run --wait").out()).contains("is complete: 100%").contains("findings: 0");
        assertThat(folder.resolve("dr/P1/S1/data/listed")).hasContent("hello");
        assertThat(folder.resolve("dr/P1/S1/data/unlisted")).doesNotExist();
        Files.delete(list);
        assertThat(dozo("run --wait").ends(Exit.NOT_SAFE).out())
                .contains("SOURCE_MISSING")
                .contains(list.toString());
    }

    @Test
    void refusalsNameTheField() {
        dozo("project add P1").ends(0);
        assertThat(dozo("project add P1").ends(Exit.REFUSED).err()).startsWith("dozo: code: project P1 exists already");

        assertThat(dozo("register --project P1 --code S1 /not/there")
                        .ends(Exit.REFUSED)
                        .err())
                .startsWith("dozo: source: ")
                .contains("/not/there");

        dozo("run").ends(Exit.REFUSED);
        dozo("status 99").ends(Exit.REFUSED);
        dozo("site check nix").ends(Exit.REFUSED);
    }

    @Test
    void wrongUsageEndsWithTwo() {
        Ended.of("frobnicate").ends(Exit.USAGE);
        dozo("register /somewhere").ends(Exit.USAGE);
        dozo("site add dr nowhere --identity /k --host-key k").ends(Exit.USAGE);
        dozo("status last").ends(Exit.USAGE);
    }

    @Test
    void aWrongPasswordEndsWith77() throws Exception {
        Path wrong = Files.writeString(folder.resolve("wrong"), "wrong\n");
        System.setProperty(PASSWORD_FILE, wrong.toString());

        assertThat(coverage().ends(Exit.NOT_ALLOWED).err())
                .contains("DOZO_PASSWORD_FILE")
                .doesNotContain("wrong\n");
    }

    /** Asks with the settings of this test. */
    private Ended coverage() {
        return Ended.of("coverage", "--url", service.url());
    }

    @Test
    void aMissingPasswordFileIsNamed() {
        System.setProperty("dozo.work", folder.resolve("elsewhere").toString());
        try {
            assertThat(coverage().ends(Exit.NOT_ALLOWED).err()).contains("elsewhere/admin-password does not exist");
        } finally {
            System.clearProperty("dozo.work");
        }
    }

    @Test
    void settingsThatAreWrongEndWith78() {
        Ended.of("coverage", "--url", "nonsense").ends(Exit.CONFIGURATION);
        System.setProperty(PASSWORD_FILE, "/not/there");
        coverage().ends(Exit.CONFIGURATION);
    }

    @Test
    void noServiceEndsWith69() {
        assertThat(Ended.of("coverage", "--url", "http://127.0.0.1:1")
                        .ends(Exit.UNAVAILABLE)
                        .err())
                .contains("http://127.0.0.1:1")
                .contains("dozo serve");
    }

    @Test
    void whatTheServiceDoesNotSayIsUnknownToNagios() {
        Ended ended =
                Ended.of("status", "--nagios", "--url", "http://127.0.0.1:1").ends(3);

        assertThat(ended.out()).startsWith("DOZO UNKNOWN - ").contains("http://127.0.0.1:1");
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void nothingRegisteredIsAWarningToNagios() {
        assertThat(dozo("status --nagios").ends(1).out()).startsWith("DOZO WARNING - ");
        assertThat(dozo("status --nagios 1").ends(Exit.USAGE).err()).contains("expected no RUN");
    }

    @Test
    void helpNamesTheExitCodes() {
        assertThat(Ended.of("--help").ends(0).out())
                .contains("77")
                .contains("serve")
                .contains("coverage")
                .contains("DOZO_URL");
    }

    @Test
    void aFileIsTriedThenRegisteredAndItsExperimentsAreListed() throws Exception {
        Files.createDirectories(folder.resolve("a"));
        dozo("project add P1");
        Path csv = Files.writeString(
                folder.resolve("visits.csv"),
                "project,code,source,title\r\nP1,E1,%s/a,視覚野\r\nP1,E2,%s/none,\r\n".formatted(folder, folder));

        assertThat(dozo("register --csv", csv, "--dry-run").ends(Exit.REFUSED).out())
                .containsPattern("LINE +EXPERIMENT +FIELD +MESSAGE")
                .containsPattern("3  P1/E2 +refused +source +there is no folder")
                .doesNotContain("P1/E1")
                .endsWith("2 lines, read as UTF-8: 0 registered, 1 valid but not registered, 0 unchanged, 1 refused\n");
        assertThat(dozo("register --csv", csv).out()).contains("0 registered");
        assertThat(dozo("experiments")).isEqualTo(new Ended(0, "No such experiment.\n", ""));

        assertThat(dozo("register --csv", csv, "--each").out()).contains("1 registered");

        assertThat(dozo("register --csv", csv, "--each").out()).contains("1 unchanged, 1 refused");
        dozo("register --csv", csv, "--encoding", "utf-16le").ends(Exit.REFUSED);
        assertThat(dozo("experiments 視覚").out()).contains("P1/E1").contains("planned");
        assertThat(dozo("experiments --project P1 --state planned --json").out())
                .contains("\"code\" : \"E1\"");
        dozo("experiments --state gone").ends(Exit.REFUSED);
    }

    @Test
    void whatAFolderSaysIsToldOrFilledInWhereSomebodyAsks() throws Exception {
        Path visit = Files.createDirectories(folder.resolve("visit"));
        Files.writeString(
                visit.resolve("scan.json"),
                "{\"Modality\": \"MR\", \"AcquisitionDateTime\": \"2026-10-01T09:30\", \"StudyInstanceUID\": \"1.2.3\"}");
        dozo("project add P1");

        assertThat(dozo("register --suggest --project P1", visit).out())
                .containsPattern("project +P1\n")
                .containsPattern("code +20261001-MR-[0-9a-f]{4}\n")
                .contains("2026-10-01");
        assertThat(dozo("experiments").out()).contains("No such experiment");
        assertThat(dozo("register --fill", visit).err()).contains("--project is required");

        assertThat(dozo("register --fill --project P1 --code E1", visit).out()).contains("registered P1/E1");

        assertThat(dozo("register --suggest", visit).out()).contains("NB: the folder is registered already: P1/E1");
        Path csv = Files.writeString(
                folder.resolve("visits.csv"),
                "project,code,source\nP1,,%s\n".formatted(Files.createDirectories(folder.resolve("other"))));
        assertThat(dozo("register --csv", csv, "--suggest").out())
                .contains(
                        "suggested: code folder-",
                        "its content does not identify it",
                        "0 registered, 1 valid but not registered");
        assertThat(dozo("register --csv", csv, "--fill").out()).contains("1 registered");
        dozo("register --suggest --fill", visit).ends(Exit.USAGE);
    }

    @Test
    void eitherOneExperimentOrAFileIsRegistered() {
        dozo("register").ends(Exit.USAGE);
        dozo("register --csv x.csv --project P1 --code E1 /a").ends(Exit.USAGE);
        dozo("register --project P1 /a").ends(Exit.USAGE);
        assertThat(dozo("register --csv", folder.resolve("none.csv"))
                        .ends(Exit.USAGE)
                        .err())
                .contains("cannot be read");
    }

    @Test
    void whatAnOriginTellsOfIsAcceptedOrDismissedAndReported() throws Exception {
        Hierarchy hierarchy = Hierarchy.small();
        hierarchy.tell(hierarchy.file(8, 0), "size", 1L << 50);
        try (Emulator emulator = new Emulator(hierarchy)) {
            service.register("dr", site.address());
            dozo("project add P1");
            String address = "http://localhost:" + emulator.port();
            String key =
                    Files.writeString(folder.resolve("key"), emulator.key()).toString();
            String spool = Files.createDirectory(folder.resolve("spool")).toString();
            assertThat(dozo("origin list").out()).startsWith("No origin yet");
            assertThat(dozo("origin arrivals")).isEqualTo(new Ended(0, "No proposals.\n", ""));
            Ended saved = dozo(
                    "origin save fw --kind flywheel --address",
                    address,
                    "--secret-file",
                    key,
                    "--spool",
                    spool,
                    "--project",
                    "P1");
            assertThat(saved).isEqualTo(new Ended(0, "the next night will collect from fw\n", ""));
            assertThat(dozo("origin list").out()).contains(address).doesNotContain(Emulator.KEY);
            dozo("run --wait");
            assertThat(dozo("origin arrivals").out()).contains("ses-00000").containsPattern("1 +fw +offered +P1");

            assertThat(dozo("origin dismiss 2 3 --reason", "a phantom").out())
                    .isEqualTo("2: dismissed\n3: dismissed\n");
            assertThat(dozo("origin takeback 3").out()).isEqualTo("3: a proposal again\n");
            assertThat(dozo("origin accept 1 2 99").ends(Exit.REFUSED).out())
                    .containsPattern("1: P1/fw-[0-9a-f]+\n2: refused: .* is dismissed")
                    .contains("99: refused: there is no arrival 99");
            dozo("run --wait").ends(0);

            assertThat(dozo("origin arrivals --dismissed").out()).contains("admin: a phantom");
            assertThat(dozo("origin arrivals").out())
                    .doesNotContain("a phantom")
                    .containsPattern("3 +fw +offered");
            assertThat(dozo("origin arrivals --all --json").out())
                    .contains("\"state\" : \"complete\"", "\"state\" : \"dismissed\"");
            assertThat(dozo("origin report 2").ends(0).out())
                    .contains(
                            "fw: nothing is missing\n",
                            "items: 10 listed",
                            "1 complete",
                            "1 dismissed",
                            "files: 6 listed, 6 here");
        }
    }

    @Test
    void whatIsWrongAboutAnOriginIsNamed() throws Exception {
        String save = "origin save fw --kind flywheel --address http://localhost:1 --spool";
        String spool = Files.createDirectory(folder.resolve("spool")).toString();
        service.register("dr", site.address());
        assertThat(refusal(dozo("origin save fw --kind flywheel"))).startsWith("dozo: address: ");
        dozo("origin accept").ends(Exit.USAGE);
        dozo("origin accept one").ends(Exit.USAGE);
        assertThat(dozo("origin dismiss 1").code()).as("a reason is needed").isEqualTo(Exit.USAGE);
        dozo("origin arrivals --all --dismissed").ends(Exit.USAGE);

        assertThat(refusal(dozo(save, "/not/there"))).startsWith("dozo: spool: there is no folder /not/there");
        assertThat(refusal(dozo(save, spool))).startsWith("dozo: secretFile: ");
        assertThat(refusal(dozo(save, spool, "--secret-file", "/no/key"))).startsWith("dozo: secretFile: ");
        assertThat(refusal(dozo("origin save n --kind nas --address http://localhost --spool", spool)))
                .startsWith("dozo: kind: ")
                .contains("flywheel");
        assertThat(refusal(dozo("origin save n --kind flywheel --address gopher: --spool", spool)))
                .startsWith("dozo: address: ");
        assertThat(refusal(dozo("origin dismiss 7 --reason", "a phantom"))).contains("arrival \"7\" does not exist");
        assertThat(refusal(dozo("origin takeback 7"))).contains("arrival \"7\" does not exist");
        assertThat(refusal(dozo("origin report 7"))).contains("run \"7\" does not exist");

        String key = Files.writeString(folder.resolve("key"), "localhost:1:__force_insecure:some-key")
                .toString();
        dozo(save, spool, "--secret-file", key).ends(0);
        dozo("run --wait");
        assertThat(dozo("origin report 1").ends(Exit.NOT_SAFE).out())
                .contains("fw: unusable")
                .doesNotContain("some-key");
    }

    /** Registers a site and an experiment with one file. Returns its source. */
    private Path registered(String file, Object... options) throws IOException {
        Path source = folder.resolve("source");
        Files.createDirectories(source.resolve(file).getParent());
        Files.writeString(source.resolve(file), "hello");
        service.register("dr", site.address());
        dozo("project add P1");
        dozo("register --project P1 --code S1 " + source, options);
        return source;
    }

    private static String refusal(Ended ended) {
        ended.ends(Exit.REFUSED);
        return ended.err();
    }

    /** Returns the states of the files and folders that a page shows. */
    private List<String> states(String page) {
        return Pattern.compile("<span class=\"badge [a-z]+\">([^<]*)</span>")
                .matcher(service.page(service.browser(), page))
                .results()
                .map(badge -> badge.group(1))
                .toList();
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
