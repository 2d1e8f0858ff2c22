package dozo.witness;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.ShiftedClock;
import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.certificate.Checkpoints;
import dozo.certificate.Checkpoints.Made;
import dozo.certificate.LogKeys;
import dozo.certificate.NoteKey;
import dozo.certificate.SignedNote;
import dozo.certificate.SigningKey;
import dozo.certificate.TrustedLogs;
import dozo.file.Digest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service that is the witness of a ledger with a database of its own, whose owner may change everything there. */
class WitnessIT {

    private static final int ATTEMPTS = 100;
    private static final int CHECKPOINTS = 1_000;

    @TempDir
    static Path keys;

    private static RunningService witness;
    private static TrustedLogs logs;
    private static String vkey;

    @BeforeAll
    static void start() {
        witness = RunningService.shared();
        logs = witness.bean(TrustedLogs.class);
        vkey = witness.get("/api/v1/witness-key").string("/vkey");
    }

    @AfterAll
    static void stop() {
        witness.close();
    }

    /** What a root at home does; it knows the schema, and leaves no trace at home that it can avoid. */
    private interface Attack {
        void on(Home home, Random random) throws Exception;
    }

    private static final Map<String, Attack> ATTACKS = Map.ofEntries(
            Map.entry("rewinds by some rows", (home, random) -> {
                home.rows.tamper("delete from ledger where seq > %d".formatted(last(home) - 1 - random.nextInt(20)));
                forget(home);
                home.night(1 + random.nextInt(40));
            }),
            Map.entry("rewinds and stays shorter", (home, random) -> {
                home.rows.tamper("delete from ledger where seq > %d".formatted(last(home) - 10 - random.nextInt(20)));
                forget(home);
                home.night(1 + random.nextInt(3));
            }),
            Map.entry("rewrites a row with a valid chain", (home, random) -> {
                int row = 2 + random.nextInt((int) last(home) - 2);
                home.rows.tamper("update ledger set subject = 'other' where seq = " + row);
                home.rows.rewriteFrom(row);
                forget(home);
                home.night(1 + random.nextInt(20));
            }),
            Map.entry("swaps two rows with a valid chain", (home, random) -> {
                int row = 2 + random.nextInt((int) last(home) - 3);
                home.rows.tamper("""
                        update ledger l set subject = o.subject, detail = o.detail from ledger o
                        where l.seq in (%1$d, %1$d + 1) and o.seq = 2 * %1$d + 1 - l.seq
                        """.formatted(row));
                home.rows.rewriteFrom(row);
                forget(home);
                home.night(1 + random.nextInt(20));
            }),
            Map.entry("forks at the same size", (home, random) -> {
                long last = last(home);
                home.rows.tamper("update ledger set subject = 'other' where seq = " + last);
                home.rows.rewriteFrom(last);
                forget(home);
                home.checkpoint();
            }),
            Map.entry("rewrites a row and keeps the tree as it was", (home, random) -> {
                int row = 2 + random.nextInt(250);
                home.rows.tamper("update ledger set subject = 'other' where seq = " + row);
                home.rows.rewriteFrom(row);
                home.night(1);
            }),
            Map.entry("forges a subtree", (home, random) -> {
                home.sql("update ledger_subtree set root = sha256(root || '\\x%02x')".formatted(random.nextInt(256)));
                home.night(1 + random.nextInt(20));
            }),
            Map.entry("forges a kept checkpoint", (home, random) -> {
                home.sql("""
                        update checkpoint set root = sha256(root)
                        where size = (select size from checkpoint order by size offset %d limit 1)
                        """.formatted(random.nextInt(3)));
                home.night(1);
            }),
            Map.entry("begins a ledger anew", (home, random) -> {
                String origin = home.checkpoints.origin();
                home.rows.tamper("delete from ledger");
                forget(home);
                home.sql("insert into ledger (at, actor, action, subject) values (now(), 'dozo', 'log.declared', '%s')"
                        .formatted(origin));
                home.night(1 + random.nextInt(600));
            }),
            Map.entry("removes rows in the middle", (home, random) -> {
                home.rows.tamper("delete from ledger where seq = " + (2 + random.nextInt(250)));
                home.night(1);
            }));

    private static long last(Home home) {
        return home.ledger.last();
    }

    /** Has the database at home know nothing of former checkpoints, subtrees and cosignatures. */
    private static void forget(Home home) {
        home.sql(
                "delete from cosignature",
                "delete from checkpoint",
                "delete from ledger_subtree",
                "update witness set size = null, cosigned_at = null, origin = null");
    }

    @Test
    void allAttemptsOfARootAtHomeAreFound() throws Exception {
        List<String> names = ATTACKS.keySet().stream().sorted().toList();
        List<String> missed = new ArrayList<>();
        for (int i = 0; i < ATTEMPTS; i++) {
            String name = names.get(i % names.size());
            String origin = "attacked.example.org/" + i;
            try (Home home = home(origin)) {
                home.night(300);
                assertThat(home.ask()).isEmpty();
                home.night(1 + i % 5);
                assertThat(home.ask()).isEmpty();
                home.night(2);
                assertThat(home.ask()).as("honest so far").isEmpty();
                ATTACKS.get(name).on(home, new Random(5_700 + i));
                List<Condition> told = home.ask();
                boolean found = told.stream().anyMatch(condition -> condition.kind() == Kind.WITNESS_REFUSED)
                        || logs.contradicting().contains(origin)
                        || home.isBroken();
                if (!found) {
                    missed.add("%d: %s".formatted(i, name));
                }
            }
            minuteLater();
        }
        assertThat(missed).isEmpty();
    }

    @Test
    void honestNightsRestartsAndATakeoverAreNoAlarm() throws Exception {
        InstantSource clock = witness.bean(ShiftedClock.class);
        try (Home home = home("honest.example.org/ledger")) {
            Random random = new Random(57);
            Checkpoints checkpoints = home.checkpoints;
            for (int i = 0; i < CHECKPOINTS; i++) {
                home.rows.append(1 + random.nextInt(5));
                if (i % 100 == 50) {
                    // Another process, on another machine with another name, with the same keys and database.
                    checkpoints = new Checkpoints(home.rows.jdbc(), home.ledger, home.tree, keys("machine-" + i));
                    minuteLater();
                }
                checkpoints.make(home.ledger.head().orElseThrow());
                WitnessSchedule schedule = Home.schedule(home, checkpoints, clock);
                schedule.askAll();
                assertThat(schedule.now()).isEmpty();
                schedule.close();
            }
            Made last = home.checkpoints.latestCosigned().orElseThrow();
            assertThat(last.size()).isEqualTo(home.ledger.last());
            home.assertIntact();
        }
        assertThat(logs.contradicting()).doesNotContain("honest.example.org/ledger");
    }

    @Test
    void afterAnOlderDatabaseWasRestoredADeclaredLogGoesOn() throws Exception {
        try (Home home = home("restored.example.org/ledger")) {
            home.night(300);
            home.ask();
            restoreAfter(home, () -> {
                home.night(20);
                assertThat(home.ask()).isEmpty();
            });
            String next = home.checkpoints.declare("restored", "admin");
            home.night(3);

            assertThat(home.ask()).isEmpty();

            assertThat(next).matches("restored\\.example\\.org/ledger/[0-9]{14}");
            assertThat(home.checkpoints.latestCosigned().orElseThrow().origin()).isEqualTo(next);
            assertThat(home.ledger.newest(dozo.ledger.Ledger.Filter.ALL, Long.MAX_VALUE, 10))
                    .filteredOn(row -> row.action().equals("log.declared"))
                    .first()
                    .satisfies(row ->
                            assertThat(row.detail()).contains("restored.example.org/ledger", "\"size\": \"302\""));
            home.assertIntact();
        }
        assertThat(logs.contradicting()).doesNotContain("restored.example.org/ledger");
        assertThat(logs.all())
                .filteredOn(log -> log.origin().equals("restored.example.org/ledger"))
                .first()
                .satisfies(log -> assertThat(log.last()).startsWith("restored.example.org/ledger/"));
    }

    /** The cure that people are told, if the witness was asked first; and what only the witness knew is in the ledger's row. */
    @Test
    void withoutADeclarationTheRestoreIsToldAndTheDeclarationEndsIt() throws Exception {
        try (Home home = home("undeclared.example.org/ledger")) {
            home.night(300);
            home.ask();
            restoreAfter(home, () -> {
                home.night(20);
                home.ask();
            });
            home.night(3);
            assertThat(home.ask()).extracting(Condition::kind).containsExactly(Kind.WITNESS_REFUSED);

            home.checkpoints.declare("restored", "admin");
            home.night(1);

            assertThat(home.ask()).isEmpty();
            assertThat(home.ledger.newest(dozo.ledger.Ledger.Filter.ALL, Long.MAX_VALUE, 10))
                    .filteredOn(row -> row.action().equals("log.declared"))
                    .first()
                    .satisfies(row -> assertThat(row.detail()).contains("\"size\": \"322\""));
        }
    }

    /** Puts back what the tables had before the work. */
    private static void restoreAfter(Home home, Work work) throws Exception {
        List<String> tables = List.of("ledger", "checkpoint", "cosignature", "witness", "ledger_subtree");
        tables.forEach(table -> home.sql("create table kept_%1$s as table %1$s".formatted(table)));
        work.run();
        home.rows.tamper("delete from ledger", "insert into ledger select * from kept_ledger order by seq");
        home.sql(
                "delete from cosignature",
                "delete from checkpoint",
                "delete from witness",
                "delete from ledger_subtree");
        List.of("checkpoint", "cosignature", "witness", "ledger_subtree")
                .forEach(table -> home.sql("insert into %1$s table kept_%1$s".formatted(table)));
    }

    private interface Work {
        void run() throws Exception;
    }

    @Test
    void theChecksAreMadeInTheirOrder() throws Exception {
        ForeignLog log = new ForeignLog("order.example.org/log").append("a", "b", "c");
        byte[] hash = new byte[32];
        add(log.request(0)).expect(404);
        trust(log.vkey());
        ForeignLog other = new ForeignLog(log.origin).append("a");
        // Each is wrong in what comes later as well.
        add(ForeignLog.request(9, List.of(hash), new ForeignLog("x.example.org").note(1, hash)))
                .expect(404);
        add(ForeignLog.request(9, List.of(hash), other.note())).expect(403);
        add(ForeignLog.request(
                        9,
                        List.of(hash),
                        log.note() + other.note().lines().toList().getLast() + "\n"))
                .expect(400);
        add(ForeignLog.request(2, List.of(hash), log.note())).expect(409);
        add(ForeignLog.request(0, List.of(hash), log.note(0, hash))).expect(422);
        add(ForeignLog.request(0, List.of(hash), log.note())).expect(422);
        Answer first = add(log.request(0)).expect(200);

        assertThat(new SignedNote(log.note().substring(0, log.note().indexOf("\n\n") + 1), List.of(first.text()))
                        .by(NoteKey.of(vkey, NoteKey.COSIGNATURE).orElseThrow()))
                .hasSize(1);
        Answer behind = add(log.append("d", "e").request(0)).expect(409);
        assertThat(behind.text()).isEqualTo("3\n");
        assertThat(behind.type()).startsWith("text/x.tlog.size");
        add(ForeignLog.request(3, List.of(hash), log.note())).expect(422);
        add(log.request(3)).expect(200);
        add(log.request(5)).expect(200);
        add(ForeignLog.request(5, List.of(), log.fork("v", "w", "x", "y", "z").note()))
                .expect(422);
        add(ForeignLog.request(7, List.of(), log.fork("v", "w", "x", "y", "z").note()))
                .expect(400);
        Answer shown = witness.with(null).get("/witness/" + Digest.ofText(log.origin) + "/checkpoint");
        assertThat(shown.expect(200).text()).startsWith(log.note()).contains("\u2014 " + vkey.split("\\+")[0] + " ");
        assertThat(evidence(log.origin)).isEqualTo(4);
        assertThat(logs.contradicting()).contains(log.origin);
        trust(log.vkey());
        assertThat(logs.contradicting()).as("settled").doesNotContain(log.origin);
        witness.delete("/api/v1/trusted-logs?origin=" + log.origin).expect(204);
        witness.delete("/api/v1/trusted-logs?origin=" + log.origin).expect(404);
        add(log.append("f").request(5)).expect(404);
        trust(log.vkey());
        add(log.request(0)).expect(409);
        add(log.request(5)).expect(200);
    }

    @Test
    void anEmptyLogIsCosignedAndAnOlderCheckpointIsNoEvidence() throws Exception {
        ForeignLog log = new ForeignLog("empty.example.org/log");
        trust(log.vkey());

        add(log.request(0)).expect(200);
        String old = log.append("a", "b").request(0);
        add(old).expect(200);
        add(log.append("c").request(2)).expect(200);
        add(old).expect(409);

        assertThat(evidence(log.origin)).isZero();
        assertThat(logs.contradicting()).doesNotContain(log.origin);
    }

    @Test
    void laterLogsOfTheSameOwnerNeedItsKeyAndANumber() throws Exception {
        ForeignLog log = new ForeignLog("later.example.org/log").append("a");
        trust(log.vkey());
        add(log.request(0)).expect(200);

        add(log.named(log.origin + "/20261130215500").append("x").request(0)).expect(200);
        add(new ForeignLog(log.origin + "/20261130215501").append("x").request(0))
                .expect(403);
        add(log.named(log.origin + "/2").append("x").request(0)).expect(404);
        add(log.named(log.origin + "20261130215500").append("x").request(0)).expect(404);
    }

    @Test
    void whatIsNoRequestIsRefused() throws Exception {
        ForeignLog log = new ForeignLog("form.example.org/log").append("a", "b");
        trust(log.vkey());
        String note = log.note();
        for (String body : List.of(
                "",
                "\n\n",
                note,
                "old 0\n" + note,
                "old -1\n\n" + note,
                "old 00\n\n" + note,
                "old 0\nx\n\n" + note,
                "old 0\n\n" + note.replace("\n2\n", "\n02\n"),
                "old 0\n\n" + note.replace("\n2\n", "\n\t2\n"),
                "old 0\n\n" + note.substring(0, note.indexOf("\n\n") + 2),
                "old 0\n\n" + note + "x",
                ForeignLog.request(0, java.util.Collections.nCopies(64, new byte[32]), note))) {
            assertThat(add(body).status()).as(body).isEqualTo(400);
        }
        add("x".repeat(TrustedLogs.REQUEST_BYTES_MAX + 1)).expect(413);
        witness.with(null).post("/witness/x", "text/plain", new byte[1]).expect(404);
        witness.with(null).get("/witness/x/checkpoint").expect(404);
        witness.with(null).get("/witness/" + "0".repeat(64) + "/checkpoint").expect(404);
    }

    @Test
    void ofTwoTreesAtOnceOneIsCosigned() throws Exception {
        ForeignLog log = new ForeignLog("race.example.org/log");
        trust(log.vkey());
        for (int i = 0; i < 10; i++) {
            ForeignLog one = log.named(log.origin + "/%014d".formatted(i));
            List<Callable<Integer>> both = List.of(
                    () -> add(one.fork("a", "b").request(0)).status(),
                    () -> add(one.fork("a", "c").request(0)).status());
            List<Integer> statuses = new ArrayList<>();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (Future<Integer> each : threads.invokeAll(both)) {
                    statuses.add(each.get());
                }
            }
            assertThat(statuses).containsExactlyInAnyOrder(200, 409);
        }
    }

    @Test
    void anAddressHasALimitOfRequests() throws Exception {
        witness.bean(ShiftedClock.class).reads(java.time.Instant.parse("2040-01-01T00:00:01Z"));
        for (int i = 0; i < WitnessServlet.MINUTE_MAX; i++) {
            add("").expect(400);
        }

        Answer refused = add("").expect(429);

        assertThat(refused.header("Retry-After")).isEqualTo("60");
        minuteLater();
        add("").expect(400);
    }

    /** A witness that does not answer, or answers nonsense, delays nothing, and people are told after a time. */
    @Test
    void aWitnessWithoutAnAnswerIsLate() throws Exception {
        ShiftedClock clock = witness.bean(ShiftedClock.class);
        try (Home home = home("late.example.org/ledger")) {
            home.witnesses.save("main", "http://127.0.0.1:1/witness", vkey, "admin");
            home.night(3);
            assertThat(home.ask()).isEmpty();
            assertThat(home.witnesses.all().getFirst().trouble()).contains("no connection");
            home.witnesses.save("main", witness.url() + "/login", vkey, "admin");
            assertThat(home.ask()).isEmpty();
            assertThat(home.witnesses.all().getFirst().trouble()).startsWith("HTTP ");

            clock.reads(clock.instant().plus(Duration.ofDays(4)));

            assertThat(home.ask()).extracting(Condition::kind).containsExactly(Kind.WITNESS_LATE);
            assertThat(logs.late(Duration.ofDays(3))).contains("late.example.org/ledger");
            home.witnesses.save("main", witness.url() + "/witness", vkey, "admin");
            assertThat(home.ask()).isEmpty();
            assertThat(logs.late(Duration.ofDays(3))).doesNotContain("late.example.org/ledger");
        }
    }

    @Test
    void aWitnessWithAnotherKeyIsLate() throws Exception {
        try (Home home = home("other-key.example.org/ledger")) {
            home.witnesses.save(
                    "main",
                    witness.url() + "/witness",
                    home.checkpoints.witnessKey().vkey(),
                    "admin");
            home.night(3);

            assertThat(home.ask()).isEmpty();

            assertThat(home.witnesses.all().getFirst().trouble()).isEqualTo("its answer has no cosignature by its key");
            assertThat(home.checkpoints.latestCosigned()).isEmpty();
        }
    }

    private static Home home(String origin) throws Exception {
        SigningKey key = new SigningKey(keys.resolve("checkpoint-key"));
        key.create();
        Home home = new Home(keys, origin, witness.bean(ShiftedClock.class));
        trust(home.checkpoints.key().vkey());
        home.witnesses.save("main", witness.url() + "/witness", vkey, "admin");
        return home;
    }

    private static LogKeys keys(String origin) {
        return new LogKeys(
                new SigningKey(keys.resolve("checkpoint-key")), new SigningKey(keys.resolve("witness-key")), origin);
    }

    private static void trust(String key) {
        witness.post("/api/v1/trusted-logs", "{\"vkey\": \"%s\"}".formatted(key))
                .expect(204);
    }

    private static long evidence(String origin) {
        return witness.count("select count(*) from refused_checkpoint where origin = '%s'".formatted(origin));
    }

    private static Answer add(String body) {
        return witness.with(null).post("/witness/add-checkpoint", "text/plain", body.getBytes(StandardCharsets.UTF_8));
    }

    private static void minuteLater() {
        ShiftedClock clock = witness.bean(ShiftedClock.class);
        clock.reads(clock.instant().plus(Duration.ofMinutes(1)));
    }
}
