package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.ledger.Ledger;
import dozo.registry.Capacities;
import dozo.registry.Sites;
import dozo.remote.SiteAddress;
import dozo.remote.Space;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import picocli.CommandLine;

/** Sites on the command line: their addresses, and when they will be full. */
class SiteCommandTest {

    private static final long GB = 1_000_000_000L;

    @TempDir
    Path folder;

    private RunningService service;
    private int site;

    @BeforeEach
    void start() {
        service = RunningService.start(folder.resolve("work"));
        System.setProperty("dozo.password.file", service.passwordFile().toString());
        site = service.bean(Sites.class)
                .save(
                        "dr",
                        new SiteAddress("127.0.0.1", 1, "dozo", "/backup", service.passwordFile(), "ssh-ed25519 AAAA"),
                        "test")
                .id();
    }

    @AfterEach
    void stop() {
        System.clearProperty("dozo.password.file");
        service.close();
    }

    @Test
    void whatIsFreeIsToldWithTheDayOfItsEnd() {
        assertThat(show()).contains("not checked yet").doesNotContain("capacity");

        service.bean(Capacities.class).keep(site, new Space(1_000 * GB, 250 * GB, Long.MAX_VALUE, false));
        assertThat(show())
                .contains("  capacity 75 % full, 250 GB of 1.0 TB free, seen 20")
                .contains("  full     unknown: checked on too few days of the last 4 weeks");

        // Ten days, each of which took 10 GB.
        service.bean(JdbcClient.class).sql("""
                        insert into site_space (site_id, day, seen_at, total_bytes, free_bytes)
                        select site_id, day - n, seen_at - n * interval '24 hours', total_bytes, free_bytes + n * 10000000000
                        from site_space, generate_series(1, 9) n
                        """).update();
        assertThat(show()).containsPattern("  full     about 20\\d\\d-\\d\\d-\\d\\d, at 10 GB a day");
    }

    @Test
    void aSiteIsRemovedUnlessARunHasUsedIt() {
        service.bean(Capacities.class).keep(site, new Space(1_000 * GB, 250 * GB, Long.MAX_VALUE, false));
        JdbcClient jdbc = service.bean(JdbcClient.class);
        jdbc.sql(
                        "insert into run (site_id, kind, state, requested_by, started_at, ended_at) values (?, 'nightlyBackup', 'FAILED', 'x', now(), now())")
                .param(site)
                .update();
        assertThat(dozo(Exit.REFUSED, "remove", "dr")).contains("site dr has been used by runs");
        assertThat(service.submit(service.browser(), "/sites/dr/remove", "").statusCode())
                .isEqualTo(422);
        assertThat(show()).contains("250 GB of 1.0 TB free");

        jdbc.sql("delete from run").update();
        assertThat(dozo(Exit.WELL, "remove", "dr")).isEqualTo("site dr removed\n");
        assertThat(dozo(Exit.REFUSED, "remove", "dr")).contains("site \"dr\" does not exist");
        assertThat(service.bean(Sites.class).all()).isEmpty();
    }

    @Test
    void aSiteBehindAJumpHost() throws IOException {
        Path keys = Files.writeString(folder.resolve("gate.keys"), "gate ssh-ed25519 AAAABBBB\n");
        String[] add = {
            "add",
            "dr",
            "u@inner:/r",
            "--identity",
            service.passwordFile().toString(),
            "--host-key",
            "ssh-ed25519 AAAACCCC"
        };

        assertThat(site(Exit.USAGE, add, "--jump", "gate", "--jump-host-key-file", keys.toString()))
                .contains("--jump \"gate\": expected user@host or user@host:port");
        assertThat(site(Exit.USAGE, add, "--jump", "u@gate")).contains("--jump-host-key-file");
        assertThat(site(Exit.USAGE, add, "--jump", "u@gate", "--jump-host-key-file", "/nowhere"))
                .contains("--jump-host-key-file names /nowhere, which cannot be read");
        assertThat(site(Exit.REFUSED, add, "--jump", "u@gate:70000", "--jump-host-key-file", keys.toString()))
                .contains("jump.port: expected 1 to 65535");
        assertThat(site(Exit.USAGE, add, "--dscp", "cs9")).contains("--dscp \"cs9\": expected cs0 to cs7");
        assertThat(show()).doesNotContain("through").doesNotContain("DSCP");

        site(Exit.WELL, add, "--jump", "u@gate:2222", "--jump-host-key-file", keys.toString(), "--dscp", "cs1");

        assertThat(show()).contains("site dr at u@inner:22:/r", "  through  u@gate:2222", "  DSCP     8");
        SiteAddress address = service.bean(Sites.class).find("dr").orElseThrow().address();
        assertThat(address.way().jump().orElseThrow().identity()).isEqualTo(address.identity());
        assertThat(service.look(service.browser(), "/sites", "en").body())
                .contains("u@gate:2222")
                .contains(">8<");
        assertThat(service.bean(Ledger.class).after(0, 100).getLast().detail())
                .contains("through u@gate:2222, host key ssh-ed25519 AAAABBBB, DSCP 8");

        site(Exit.WELL, add);
        assertThat(show()).as("as it was said last").doesNotContain("through").doesNotContain("DSCP");
    }

    private String site(int code, String[] words, String... more) {
        return dozo(code, Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new));
    }

    private String show() {
        return dozo(Exit.WELL, "show", "dr");
    }

    private String dozo(int code, String... words) {
        StringWriter out = new StringWriter();
        CommandLine commandLine = Application.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(out, true));
        List<String> line = new ArrayList<>(List.of("site"));
        line.addAll(List.of(words));
        line.addAll(List.of("--url", service.url()));
        assertThat(commandLine.execute(line.toArray(String[]::new)))
                .as(out.toString())
                .isEqualTo(code);
        return out.toString();
    }
}
