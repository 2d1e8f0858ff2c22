package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.db.EmbeddedDatabase;
import dozo.db.LostDatabase;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.run.Operations;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A database behind PgBouncer, and one that fails over to another server in the middle of a night. */
@StartsServices(5)
class PoolerIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int FILES = 600;
    private static final int UNITS_BEFORE = 5;

    @TempDir
    Path folder;

    /** The pooler is killed and started again in the middle: all sessions end, as when it is upgraded. */
    @Test
    void aNightRunsThroughAPoolerInSessionMode() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        try (Pooler pooler = new Pooler(folder.resolve("pooler"), database, "session");
                RunningService service = start(database, Map.of("dozo.db.url", pooler.url()));
                LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            Run night = nightUnderWay(service, site);

            pooler.stop();
            pooler.start();

            assertGoesOnAndIsWhole(service, night);
        }
    }

    /** The pooler gives the session that the lease had before, cleared, to another connection: it must not be ended. */
    @Test
    void aServiceBehindAPoolerIsNotTakenForAnotherOne() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        try (Pooler pooler = new Pooler(folder.resolve("pooler"), database, "session");
                Relay relay = new Relay(port(pooler.url()))) {
            relay.open();
            try (RunningService service = start(database, Map.of("dozo.db.url", at(relay, pooler.url())));
                    CapturedLog log = new CapturedLog()) {
                for (int i = 1; i <= 3; i++) {
                    int cut = i;
                    relay.refuse();
                    await().atMost(LIMIT).until(() -> log.count("does not answer") == cut);
                    JdbcClient server = JdbcClient.create(database);
                    await("the pooler has cleared the sessions")
                            .atMost(LIMIT)
                            .until(() -> server.sql("""
                                    select count(*) from pg_locks l join pg_database d on d.oid = l.database
                                    where l.locktype = 'advisory' and d.datname = current_database()
                                    """).query(Long.class).single() == 0);
                    relay.open();
                    await().atMost(LIMIT).until(() -> log.count("answers again") == cut);
                }
                service.get("/api/v1/projects").expect(200);
                // Reported when a session ends.
                assertThat(JdbcClient.create(database)
                                .sql("select sessions_killed from pg_stat_database where datname = current_database()")
                                .query(Long.class)
                                .single())
                        .isZero();
            }
        }
    }

    @Test
    void aPoolerThatSharesSessionsIsRefused() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        for (String mode : new String[] {"transaction", "statement"}) {
            try (Pooler pooler = new Pooler(folder.resolve(mode), database, mode)) {
                Throwable thrown = catchThrowable(() ->
                        start(database, Map.of("dozo.db.url", pooler.url())).close());

                StartFailure failure = StartFailure.of(thrown).orElseThrow(() -> new AssertionError(thrown));
                assertThat(failure.message()).contains("pool_mode = session").doesNotContain("\n");
                assertThat(failure.exitCode()).isEqualTo(78);
            }
        }
    }

    /** The database comes back at another address, with everything that was committed; the service knows both. */
    @Test
    void aFailoverInTheMiddleOfANightIsWaitedOut() throws Exception {
        Path data = TestDatabase.unpacked(folder.resolve("database"));
        EmbeddedDatabase first = EmbeddedDatabase.start(data);
        try (Relay one = new Relay(port(first.url()));
                Relay other = new Relay(port(first.url()));
                LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            one.open();
            Map<String, String> settings = Map.of(
                    "dozo.db.url",
                    "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary"
                            .formatted(one.port(), other.port()),
                    "dozo.db.user",
                    first.owner().user(),
                    "dozo.db.password",
                    first.owner().password());
            try (RunningService service = start(TestDatabase.empty(), settings);
                    CapturedLog log = new CapturedLog()) {
                Run night = nightUnderWay(service, site);

                one.refuse();
                first.close();
                await().atMost(LIMIT).until(() -> log.count("the database does not answer") == 1);
                try (EmbeddedDatabase second = EmbeddedDatabase.start(data)) {
                    other.to(port(second.url()));
                    other.open();

                    assertGoesOnAndIsWhole(service, night);
                    assertThat(log.count("the database answers again")).isPositive();
                    service.close();
                }
            }
        }
    }

    private RunningService start(HikariDataSource database, Map<String, String> more) {
        Map<String, String> settings =
                new java.util.HashMap<>(Map.of("dozo.transfer.bundle-entries", "5", RunningService.CLOCK, "on"));
        settings.putAll(more);
        return RunningService.start(folder.resolve("work"), database, settings);
    }

    private static int port(String url) {
        return URI.create(url.substring("jdbc:".length())).getPort();
    }

    private static String at(Relay relay, String url) {
        return url.replaceFirst(":\\d+/", ":" + relay.port() + "/");
    }

    private Run nightUnderWay(RunningService service, LoopbackSite site) throws IOException {
        Path source = Files.createDirectory(folder.resolve("source"));
        Random random = new Random(2083);
        for (int i = 0; i < FILES; i++) {
            byte[] content = new byte[random.nextInt(20_000)];
            random.nextBytes(content);
            Files.write(source.resolve("image" + i), content);
        }
        service.saveSite("dr", site.address());
        service.createExperiment("P1", "S1", source);
        Run night = service.bean(Operations.class).start("dr", "test");
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(5)).until(() -> verified(service) >= UNITS_BEFORE);
        return night;
    }

    private void assertGoesOnAndIsWhole(RunningService service, Run night) throws IOException {
        await().atMost(LIMIT)
                .ignoreExceptionsMatching(LostDatabase::isBehind)
                .until(() -> !service.run(night.id()).goesOn());
        Run ended = service.run(night.id());
        assertThat(ended.state()).as(ended.message()).isEqualTo(RunState.COMPLETE);
        assertThat(service.count("select count(*) from ledger where action = 'run.recovered'"))
                .as("the night was in the middle")
                .isEqualTo(1);
        assertThat(service.count("select count(*) from transfer_unit where state <> 'VERIFIED'"))
                .isZero();
        service.get("/api/v1/coverage").has("/totals/safe", true);
        try (Stream<Path> files = Files.list(folder.resolve("source"))) {
            assertThat(files.toList())
                    .hasSize(FILES)
                    .allSatisfy(
                            file -> assertThat(folder.resolve("dr/P1/S1/data").resolve(file.getFileName()))
                                    .hasSameBinaryContentAs(file));
        }
    }

    private static long verified(RunningService service) {
        return service.count("select count(*) from transfer_unit where state = 'VERIFIED'");
    }
}
