package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.Campaign;
import dozo.loopback.Ports;
import dozo.remote.ChildProcess;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The active service dies, hangs or is cut off in the middle of a night. Another one takes over within a minute, ends the
 * night, and nothing is done twice; the former one stands by when it is back.
 */
class TakeoverIT extends NightOfProcesses {

    private static final int UNITS_BEFORE = 3;

    /** Deaths of the active service in one night. */
    private static final int DEATHS = Campaign.times(2);

    private final Map<String, String> ports = new HashMap<>();

    /** So many files that the night does not end between two deaths: a service needs half a minute to start and to take over. */
    TakeoverIT() {
        super(1, 300 * DEATHS);
        settings.put("DOZO_LEASE", "5s");
    }

    /** It comes back while another one is in the middle of the same run, or after the end of it. */
    @Test
    void aServiceThatHungCommitsNothingAndStandsByWhenItIsBack() throws Exception {
        Process one = oneInTheMiddleAndTwo(database.getJdbcUrl());

        ChildProcess.signal(one.toHandle(), "STOP");
        awaitTakeover("two", 1);
        awaitUnits(2 * UNITS_BEFORE);
        ChildProcess.signal(one.toHandle(), "CONT");
        awaitStandsByAgain("one", "two");
        assertThat(count("select count(*) from run where ended_at is not null")).isZero();

        ChildProcess.signal(process("two").toHandle(), "STOP");
        awaitTakeover("one", 2);
        assertEndsWhole(2);
        String rows = rows();
        Map<String, String> tree = tree(folder.resolve("dr"));
        ChildProcess.signal(process("two").toHandle(), "CONT");
        awaitStandsByAgain("two", "one");

        assertThat(rows()).isEqualTo(rows);
        assertThat(tree(folder.resolve("dr"))).isEqualTo(tree);
        assertThat(count("select term from service_lease where name = 'one'")).isEqualTo(3);
    }

    /** Its sessions are ended at the server, and the pooler then closes its connections. */
    @Test
    void aServiceThatHungBehindAPoolerCommitsNothingEither() throws Exception {
        try (Pooler pooler = new Pooler(folder.resolve("pooler"), database, "session")) {
            Process one = oneInTheMiddleAndTwo(pooler.url());

            ChildProcess.signal(one.toHandle(), "STOP");
            awaitTakeover("two", 1);
            assertEndsWhole(1);
            String rows = rows();

            ChildProcess.signal(one.toHandle(), "CONT");
            awaitStandsByAgain("one", "two");

            assertThat(rows()).isEqualTo(rows);
        }
    }

    @Test
    void aServiceThatIsCutOffFromTheDatabaseLosesItsRunAndStandsByWhenItIsBack() throws Exception {
        try (Relay relay = relay()) {
            oneInTheMiddleAndTwo(through(relay));

            relay.refuse();
            awaitTakeover("two", 1);
            assertEndsWhole(1);
            relay.open();

            awaitStandsByAgain("one", "two");
            assertWhole(1, sentAgainMax(1));
        }
    }

    @Test
    void aServiceWhoseDatabaseIsAwayForLongerThanALeaseEndsItsNight() throws Exception {
        try (Relay relay = relay()) {
            Process one = start("one", through(relay));
            awaitUnits(UNITS_BEFORE);

            relay.refuse();
            awaitCount("the lease has expired", "select count(*) from service_lease where lease_until < now()", 1);
            awaitCount(
                    "the claims have expired",
                    "select count(*) from run_worker where not ended and lease_until < now()",
                    1);
            assertUnderWay();
            relay.open();

            awaitEnd();
            int recoveries = recoveries();
            assertThat(recoveries).as("0, if no statement was cut off").isLessThanOrEqualTo(1);
            assertWhole(recoveries, sentAgainMax(1));
            assertThat(one.isAlive()).isTrue();
            assertThat(count("select term from service_lease")).isEqualTo(1);
        }
    }

    @Test
    void aServiceThatIsStoppedHandsItsRunOver() throws Exception {
        settings.put("DOZO_LEASE", "10m");
        oneInTheMiddleAndTwo(database.getJdbcUrl());

        stop("one");
        assertThat(count("select count(*) from service_lease where lease_until <= now() or name = 'two'"))
                .as("it gave the lease back")
                .isEqualTo(1);
        awaitActive("two");
        assertEndsWhole(1);
    }

    /** Two services, of which always the active one is killed and started again. */
    @Tag(Campaign.TAG)
    @Test
    void aNightEndsHoweverOftenItsServiceIsKilled() throws Exception {
        start("one", database.getJdbcUrl());
        awaitActive("one");
        start("two", database.getJdbcUrl());
        awaitStandsBy("two");
        String active = "one";
        for (int death = 1; death <= DEATHS; death++) {
            awaitUnits(units() + 1 + random.nextInt(3));
            assertUnderWay();
            kill(active);
            String killed = active;
            active = killed.equals("one") ? "two" : "one";
            awaitTakeover(active, death);
            start(killed, database.getJdbcUrl());
            awaitStandsBy(killed);
        }

        assertEndsWhole(DEATHS);
        assertThat(said(active)).contains("this service, %s, has taken over from ".formatted(active));
        System.out.printf("%d kills of the active service, one night%n", DEATHS);
    }

    /** Starts a service that is active and in the middle of a night, and another one that stands by. Returns the first. */
    private Process oneInTheMiddleAndTwo(String urlOfOne) throws IOException {
        Process one = start("one", urlOfOne);
        awaitActive("one");
        start("two", database.getJdbcUrl());
        awaitStandsBy("two");
        awaitUnits(UNITS_BEFORE);
        return one;
    }

    private Relay relay() throws IOException {
        Relay relay = new Relay(
                URI.create(database.getJdbcUrl().substring("jdbc:".length())).getPort());
        relay.open();
        return relay;
    }

    private String through(Relay relay) {
        return database.getJdbcUrl().replaceFirst(":\\d+/", ":" + relay.port() + "/");
    }

    private Process start(String name, String url) throws IOException {
        String port = ports.computeIfAbsent(name, _ -> String.valueOf(Ports.free()));
        return serve(name, Map.of("DOZO_HTTP_PORT", port, "DOZO_DB_URL", url));
    }

    private void awaitActive(String name) {
        awaitCount(
                name + " is active",
                "select count(*) from service_lease where name = '%s' and lease_until > now()".formatted(name),
                1);
    }

    private void awaitStandsBy(String name) {
        awaitSaid(name, "stands by: ");
        awaitSaid(name, "Dozo listens at");
    }

    /** Waits until a service continues the run. */
    private void awaitTakeover(String name, int recoveries) {
        awaitActive(name);
        awaitCount(
                name + " has continued the run",
                "select count(*) from ledger where action = 'run.recovered'",
                recoveries);
    }

    private void assertEndsWhole(int recoveries) throws IOException {
        assertEndsWhole(recoveries, sentAgainMax(recoveries));
    }

    private static long sentAgainMax(int recoveries) {
        return (long) recoveries * 4 * IN_FLIGHT_MAX;
    }

    private void awaitStandsByAgain(String name, String active) throws Exception {
        await().atMost(LIMIT).until(() -> {
            String said = said(name);
            int again = said.indexOf("this service starts again, to stand by");
            return again > 0 && said.indexOf("Dozo listens at", again) > 0;
        });
        assertThat(said(name)).contains("the service %s has taken over the database".formatted(active));
        try (java.net.http.HttpClient http = java.net.http.HttpClient.newHttpClient()) {
            assertThat(http.send(
                                    java.net.http.HttpRequest.newBuilder(URI.create(
                                                    "http://127.0.0.1:%s/actuator/health".formatted(ports.get(name))))
                                            .build(),
                                    java.net.http.HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    /** Returns a digest of every row that a run writes. */
    private String rows() {
        return jdbc.sql("""
                        select (select md5(string_agg(r::text, ' ' order by run_id)) from run r)
                            || (select md5(string_agg(u::text, ' ' order by unit_id)) from transfer_unit u)
                            || (select md5(string_agg(w::text, ' ' order by worker_id)) from run_worker w)
                            || (select md5(string_agg(p::text, ' ')) from protection p)
                            || (select count(*) from receipt)
                            || (select md5(string_agg(l::text, ' ' order by seq)) from ledger l)
                        """).query(String.class).single();
    }
}
