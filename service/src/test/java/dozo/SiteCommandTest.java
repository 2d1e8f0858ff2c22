package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.loopback.LoopbackSite;
import dozo.registry.Capacities;
import dozo.registry.Sites;
import dozo.remote.HostKey;
import dozo.remote.SiteAddress;
import dozo.remote.Space;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Sites on the command line: their addresses, and when they will be full. */
class SiteCommandTest {

    private static final long GB = 1_000_000_000L;

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    private int site;

    @BeforeEach
    void start() {
        service = RunningService.shared();
        site = service.saveSite(
                        "dr",
                        new SiteAddress(
                                "127.0.0.1", 1, "dozo", "/backup", service.passwordFile(), "ssh-ed25519 AAAADDDD"))
                .id();
    }

    @Test
    void whatIsFreeIsToldWithTheDayOfItsEnd() {
        assertThat(show()).contains("not checked yet").doesNotContain("capacity");

        service.bean(Capacities.class).keep(site, new Space(1_000 * GB, 250 * GB, Long.MAX_VALUE, false));
        assertThat(show())
                .contains("  capacity 75 % full, 250 GB of 1.0 TB free, seen 20")
                .contains("  full     unknown: checked on too few days of the last 4 weeks");

        // Ten days, each of which took 10 GB.
        service.jdbc().sql("""
                        insert into site_space (site_id, day, seen_at, total_bytes, free_bytes)
                        select site_id, day - n, seen_at - n * interval '24 hours', total_bytes, free_bytes + n * 10000000000
                        from site_space, generate_series(1, 9) n
                        """).update();
        assertThat(show()).containsPattern("  full     about 20\\d\\d-\\d\\d-\\d\\d, at 10 GB a day");
    }

    @Test
    void aTimetableIsSetByCommandAndByPageAndShown() {
        assertThat(dozo(Exit.WELL, "timetable", "dr")).isEqualTo("site dr is open, without a limit\n");

        String all = "daily 00:00-24:00 500mbit yielding";
        assertThat(dozo(Exit.WELL, "timetable", "dr", all))
                .isEqualTo(
                        "daily 00:00-24:00 500 Mbit/s yielding\nsite dr is open, at most 500 Mbit/s, yielding to other users\n");
        assertThat(dozo(Exit.REFUSED, "timetable", "dr", all, "mon 08:00-09:00 closed"))
                .contains(
                        "\"daily 00:00-24:00 500 Mbit/s yielding\" and \"mon 08:00-09:00 closed\" overlap on mon at 08:00");
        assertThat(dozo(Exit.USAGE, "timetable", "dr", all, "--no-limit"))
                .contains("expected at most one of these: RULE, or --no-limit");
        for (String body : List.of("{}", "{\"rules\": null}", "{\"rules\": [null]}", "{\"rules\": [\" \"]}")) {
            assertThat(service.put("/api/v1/sites/dr/timetable", body).status())
                    .as(body)
                    .isEqualTo(422);
        }
        assertThat(dozo(Exit.REFUSED, "timetable", "other")).contains("site \"other\" does not exist");
        assertThat(dozo(Exit.REFUSED, "timetable", "other", all)).contains("site \"other\" does not exist");
        assertThat(dozo(Exit.REFUSED, "timetable", "dr", "mon 08:00-08:00 closed"))
                .contains("holds for no time; write 00:00-24:00 for the whole day");
        assertThat(service.page(service.browser(), "/sites"))
                .contains(
                        "open, at most 500 Mbit/s",
                        ", yielding to other users",
                        "daily 00:00-24:00 500 Mbit/s yielding");

        service.submit(
                service.browser(),
                "/do/put/sites/dr/timetable",
                "confirmed=true&rules=sun 22:00-06:00 closed%0Amon 08:00-09:00 1 Gbit/s");
        assertThat(dozo(Exit.WELL, "timetable", "dr"))
                .startsWith("sun 22:00-06:00 closed\nmon 08:00-09:00 1 Gbit/s\nsite dr is ")
                .contains(", until 20");

        assertThat(dozo(Exit.WELL, "timetable", "dr", "--no-limit")).isEqualTo("site dr is open, without a limit\n");
        assertThat(dozo(Exit.WELL, "remove", "dr")).isEqualTo("site dr removed\n");
    }

    @Test
    void aScheduleIsSetByCommandAndByPageAndShown() {
        service.createProject("P1");
        assertThat(dozo(Exit.WELL, "schedule", "dr")).isEqualTo("site dr: no night is due, as by the setting\n");

        assertThat(dozo(Exit.WELL, "schedule", "dr", "project P1: 0 0 12 * * *", "0 0 20 * * mon-fri"))
                .startsWith("0 0 20 * * MON-FRI\nproject P1: 0 0 12 * * *\nsite dr: next night 20");
        assertThat(dozo(Exit.REFUSED, "schedule", "dr", "every night"))
                .contains("\"every night\": expected second, minute, hour, day, month and weekday");
        assertThat(dozo(Exit.REFUSED, "schedule", "dr", "project P2: 0 0 12 * * *"))
                .contains("project \"P2\" does not exist");
        assertThat(dozo(Exit.USAGE, "schedule", "dr", "0 0 20 * * *", "--default"))
                .contains("expected at most one of these: SCHEDULE, or --default");
        for (String body :
                List.of("{}", "{\"schedules\": null}", "{\"schedules\": [null]}", "{\"schedules\": [\" \"]}")) {
            assertThat(service.put("/api/v1/sites/dr/schedules", body).status())
                    .as(body)
                    .isEqualTo(422);
        }
        assertThat(dozo(Exit.REFUSED, "schedule", "other")).contains("site \"other\" does not exist");
        assertThat(dozo(Exit.REFUSED, "schedule", "other", "0 0 20 * * *")).contains("site \"other\" does not exist");
        assertThat(dozo(Exit.REFUSED, "schedule", "dr", "0 0 1 30 2 *")).contains("\"0 0 1 30 2 *\" never begins");
        assertThat(service.page(service.browser(), "/sites"))
                .contains("next night", "0 0 20 * * MON-FRI", "project P1: 0 0 12 * * *");

        service.submit(
                service.browser(),
                "/do/put/sites/dr/schedules",
                "confirmed=true&schedules=0 0 21 * * *%0A%0Aproject P1: 0 0 9 * * *");
        assertThat(dozo(Exit.WELL, "schedule", "dr"))
                .startsWith("0 0 21 * * *\nproject P1: 0 0 9 * * *\nsite dr: next night 20");
        assertThat(service.page(service.browser(), "/sites"))
                .contains("0 0 21 * * *", "project P1: 0 0 9 * * *", "0%200%2021%20*%20*%20*%0Aproject");

        assertThat(dozo(Exit.WELL, "schedule", "dr", "--default")).contains("as by the setting");
        assertThat(dozo(Exit.WELL, "remove", "dr")).isEqualTo("site dr removed\n");
    }

    @Test
    void aSiteIsRemoved() {
        service.bean(Capacities.class).keep(site, new Space(1_000 * GB, 250 * GB, Long.MAX_VALUE, false));

        assertThat(dozo(Exit.WELL, "remove", "dr")).isEqualTo("site dr removed\n");

        assertThat(dozo(Exit.REFUSED, "remove", "dr")).contains("site \"dr\" does not exist");
        assertThat(service.bean(Sites.class).all()).isEmpty();
        assertThat(service.count("select count(*) from site"))
                .as("nothing refers to it")
                .isZero();
    }

    @Test
    void ofASiteThatRunsHaveUsedTheNameStaysTaken() {
        JdbcClient jdbc = service.jdbc();
        jdbc.sql(
                        "insert into run (site_id, kind, state, requested_by, started_at) values (?, 'nightlyBackup', 'RUNNING', 'x', now())")
                .param(site)
                .update();
        assertThat(dozo(Exit.REFUSED, "remove", "dr", "--with-copies"))
                .contains("a run is using site dr; stop it first");
        assertThat(service.submit(service.browser(), "/do/delete/sites/dr", "confirmed=true&copies=true")
                        .text())
                .contains("a run is using site dr; stop it first");
        jdbc.sql("update run set state = 'FAILED', ended_at = now()").update();
        jdbc.sql(
                        "insert into finding (run_id, reason, message, found_at, last_run_id, last_found_at) select run_id, 'SITE_UNREACHABLE', 'no answer', now(), run_id, now() from run")
                .update();

        assertThat(dozo(Exit.WELL, "remove", "dr")).isEqualTo("site dr removed\n");

        assertThat(service.bean(Sites.class).all()).isEmpty();
        assertThat(service.bean(Sites.class).find(site).orElseThrow().name())
                .as("its runs still have a site")
                .isEqualTo("dr");
        assertThat(jdbc.sql("select reason from acknowledgement")
                        .query(String.class)
                        .list())
                .containsExactly("site dr was removed");
        assertThat(add(Exit.REFUSED, "dr", "u@inner:/r", "--host-key", "ssh-ed25519 AAAACCCC"))
                .contains("a site dr was removed, and evidence refers to it; choose another name");
        assertThat(dozo(Exit.REFUSED, "remove", "dr")).contains("site \"dr\" does not exist");
    }

    @Test
    void theServiceHasAKeyOfItsOwn() throws IOException {
        String key = dozo(Exit.WELL, "key").strip();

        assertThat(key).matches("ssh-ed25519 AAAA[A-Za-z0-9+/=]+");
        assertThat(dozo(Exit.WELL, "key").strip()).as("always the same").isEqualTo(key);
        assertThat(add(Exit.WELL, "second", "u@inner:/r", "--host-key", "ssh-ed25519 AAAACCCC"))
                .contains("site second is registered", "add this line to the authorized_keys of u there:", key);
        assertThat(service.bean(Sites.class)
                        .find("second")
                        .orElseThrow()
                        .address()
                        .identity())
                .isEqualTo(service.work().toRealPath().resolve("site-key"));
    }

    @Test
    void aHostIsAskedForItsKey() throws IOException {
        try (LoopbackSite host = LoopbackSite.openSsh(folder.resolve("sshd"), folder, 0)) {
            int port = host.address().port();

            String answer = add(Exit.USAGE, "second", "u@127.0.0.1:/r", "--port", String.valueOf(port));

            HostKey presented = HostKey.all(host.address().hostKey()).getFirst();
            assertThat(answer)
                    .contains("127.0.0.1 presents this host key:", presented.fingerprint())
                    .contains("--host-key '" + presented.line() + "'");
        }
        assertThat(service.bean(Sites.class).find("second")).isEmpty();
        assertThat(add(Exit.UNAVAILABLE, "second", "u@127.0.0.1:/r", "--port", "1"))
                .contains("127.0.0.1:1 does not answer as an SSH server");
        assertThat(add(Exit.REFUSED, "second", "u@127.0.0.1:/r", "--port", "0")).contains("port: expected 1 to 65535");
        assertThat(add(Exit.REFUSED, "second", "u@-:/r")).contains("host: expected a host name or an address");
    }

    @Test
    void whatIsNotGivenStaysAsItIs() throws IOException {
        Path keys = Files.writeString(folder.resolve("gate.keys"), "gate ssh-ed25519 AAAABBBB\n");
        SiteAddress before = service.dr().address();

        dozo(Exit.WELL, "change", "dr", "--jump", "u@gate", "--jump-host-key-file", keys.toString(), "--dscp", "le");
        dozo(Exit.WELL, "change", "dr", "--port", "2222");
        assertThat(show()).contains("dozo@127.0.0.1:2222:/backup", "through  u@gate:22", "DSCP     1");

        dozo(Exit.WELL, "change", "dr", "other@dr.example.org:/new", "--no-jump", "--dscp", "0");
        assertThat(service.dr().address())
                .isEqualTo(
                        new SiteAddress("dr.example.org", 2222, "other", "/new", before.identity(), before.hostKey()));
        assertThat(dozo(Exit.REFUSED, "change", "none", "--port", "1")).contains("\"none\" does not exist");
        assertThat(dozo(Exit.USAGE, "change", "dr", "nowhere")).contains("expected user@host:/root");
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
        SiteAddress address = service.dr().address();
        assertThat(address.way().jump().orElseThrow().identity()).isEqualTo(address.identity());
        assertThat(service.page(service.browser(), "/sites"))
                .contains("u@gate:2222")
                .contains(">8<");
        assertThat(service.ledger().getLast().detail())
                .contains("through u@gate:2222, host key ssh-ed25519 AAAABBBB, DSCP 8");

        site(Exit.WELL, add);
        assertThat(show()).as("as it was said last").doesNotContain("through").doesNotContain("DSCP");
    }

    private String site(int code, String[] words, String... more) {
        return dozo(code, Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new));
    }

    private String add(int code, String... words) {
        return site(code, new String[] {"add"}, words);
    }

    private String show() {
        return dozo(Exit.WELL, "show", "dr");
    }

    private String dozo(int code, String... words) {
        Ended ended = Ended.at(
                service, Stream.concat(Stream.of("site"), Stream.of(words)).toArray(String[]::new));
        ended.ends(code);
        return ended.out() + ended.err();
    }
}
