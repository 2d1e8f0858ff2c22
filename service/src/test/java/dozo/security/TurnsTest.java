package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.Answer;
import dozo.RunningService;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.remote.HungMount;
import dozo.run.Operations;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TurnsTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    /** What happens while a run is in progress. */
    @FunctionalInterface
    private interface Beside {
        void go(RunningService service, Connection other, ExecutorService people) throws Exception;
    }

    @Test
    void requestsWaitTheirTurnAndTooManyAreRefusedAtOnce() throws Exception {
        besideARun((service, other, people) -> {
            String token =
                    service.post("/api/v1/me/tokens", "{\"name\": \"test\"}").string("/secret");
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("lock table project in access exclusive mode");
            }
            List<CompletableFuture<Answer>> asked = IntStream.range(0, Turns.WAITING_MAX + 100)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> service.with("Bearer " + token).get("/api/v1/projects"), people))
                    .toList();

            await().atMost(LIMIT).until(() -> asked.stream().anyMatch(CompletableFuture::isDone));
            assertThat(asked.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join))
                    .allSatisfy(TurnsTest::assertRefused);
            service.with(null).get("/actuator/health").expect(200);
            other.rollback();
            // How many get a turn before they have waited too long depends on the machine.
            List<Answer> answers = asked.stream().map(CompletableFuture::join).toList();
            assertThat(answers).anySatisfy(answer -> assertThat(answer.status()).isEqualTo(200));
            assertThat(answers).filteredOn(answer -> answer.status() != 200).allSatisfy(TurnsTest::assertRefused);
        });
    }

    @Test
    void aFormThatHasNotArrivedTakesNoTurn() throws Exception {
        besideARun((service, _, _) -> {
            URI uri = URI.create(service.url());
            List<Socket> slow = new ArrayList<>();
            try {
                for (int i = 0; i < 15 * Turns.AT_ONCE; i++) {
                    Socket socket = new Socket(uri.getHost(), uri.getPort());
                    slow.add(socket);
                    socket.getOutputStream().write("""
                            POST /login HTTP/1.1\r
                            Host: localhost\r
                            Content-Type: application/x-www-form-urlencoded\r
                            Content-Length: 100\r
                            \r
                            """.getBytes(StandardCharsets.US_ASCII));
                }
                service.get("/api/v1/me").expect(200);
            } finally {
                for (Socket each : slow) {
                    each.close();
                }
            }
        });
    }

    @Test
    void aFormThatCannotBeReadTakesNoTurn() throws Exception {
        besideARun((service, _, _) -> assertThat(
                        service.askWith("POST", "/login", "a=%zz", "Content-Type", "application/x-www-form-urlencoded")
                                .status())
                .isEqualTo(400));
    }

    /**
     * A live page gets its first sample up to a second after it is opened. If each kept its turn until then, the last of
     * these viewers would be refused.
     */
    @Test
    void aLivePageGivesItsTurnBackAtOnce() throws Exception {
        int viewers = 2 * Turns.AT_ONCE * (int) Turns.WAIT_MAX.toSeconds();
        besideARun((service, _, _) -> {
            service.createUser("viewer", Role.OPERATOR);
            HttpClient browser = service.browser("viewer", "a password for tests");
            HttpRequest events = HttpRequest.newBuilder(URI.create(service.url() + "/runs/1/events"))
                    .build();
            List<CompletableFuture<HttpResponse<InputStream>>> opened = Stream.generate(
                            () -> browser.sendAsync(events, BodyHandlers.ofInputStream()))
                    .limit(viewers)
                    .toList();

            for (CompletableFuture<HttpResponse<InputStream>> each : opened) {
                HttpResponse<InputStream> stream = each.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
                assertThat(stream.statusCode()).isEqualTo(200);
                stream.body().close();
            }
        });
    }

    /** Does something while a run is in progress that does not end: its source hangs. */
    private void besideARun(Beside beside) throws Exception {
        Map<String, String> places = Map.of("dozo.streams.per-user", "500", "dozo.streams.per-address", "500");
        Path source = Files.createDirectory(folder.resolve("source"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
                ExecutorService people = Executors.newVirtualThreadPerTaskExecutor();
                RunningService service = RunningService.shared(places);
                Connection other = service.bean(DataSource.class).getConnection()) {
            service.saveSite("dr", site.address());
            service.createExperiment("P1", "E1", source);
            try (HungMount _ = new HungMount(source)) {
                service.bean(Operations.class).start("dr", "test");
                beside.go(service, other, people);
            }
        }
    }

    private static void assertRefused(Answer answer) {
        answer.expect(503);
        assertThat(answer.string("/detail")).contains("too many requests are waiting");
        assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
    }
}
