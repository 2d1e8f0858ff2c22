package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.db.TestDatabase;
import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.people.Users;
import dozo.run.Runs;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.ui.RunWatch.NoPlace;
import dozo.ui.RunWatch.Viewing;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Viewers of a run: one sample serves all with the same sight, slow readers delay nobody, and nobody watches longer
 * than permitted.
 */
class RunWatchTest {

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static RunWatch watch;
    private static Runs runs;

    private static final int PER_USER = 3;
    private static final int PER_ADDRESS = 5;

    private long run;
    private int viewers;

    @BeforeAll
    static void start() {
        service = RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of(
                        "dozo.streams.per-user", String.valueOf(PER_USER),
                        "dozo.streams.per-address", String.valueOf(PER_ADDRESS)));
        service.saveUnreachable("dr");
        watch = service.bean(RunWatch.class);
        runs = service.bean(Runs.class);
    }

    /** Opens a paused run, which does not progress by itself. */
    @BeforeEach
    void open() {
        run = runs.open(RunKind.NIGHTLY_BACKUP, service.dr(), "test").id();
        runs.pause(run, "test");
    }

    @AfterEach
    void close() {
        runs.close(run, RunState.STOPPED, "");
    }

    @Test
    void aHundredViewersAreServedByOneLook() throws Exception {
        List<Viewing> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(viewing(Sight.EVERYTHING));
        }
        Viewing other = viewing(Sight.of(Set.of("P001")));
        // All viewers are present from its second sample on.
        RunSample first = all.getFirst().next(10);
        RunSample shared = all.getFirst().next(10);
        assertThat(first).isNotNull();
        assertThat(shared).isNotNull();
        for (Viewing each : all.subList(1, all.size())) {
            assertThat(Stream.of(each.next(10), each.next(10), each.next(10))).anyMatch(sample -> sample == shared);
        }
        assertThat(other.next(10)).isNotNull().isNotSameAs(first).isNotSameAs(shared);
        all.forEach(watch::leave);
        watch.leave(other);
        assertThat(watch.viewers()).isZero();
    }

    @Test
    void whoDoesNotReadIsDroppedAndNobodyWaits() throws Exception {
        Viewing sleeper = viewing(Sight.EVERYTHING);
        Viewing reader = viewing(Sight.EVERYTHING);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!sleeper.isDropped() && System.nanoTime() < deadline) {
            assertThat(reader.next(10)).isNotNull();
        }

        assertThat(sleeper.isDropped()).isTrue();
        assertThat(reader.isDropped()).isFalse();
        watch.leave(reader);
        assertThat(watch.viewers())
                .as("who does not read keeps the place until it leaves")
                .isEqualTo(1);
        watch.leave(sleeper);
        assertThat(watch.viewers()).isZero();
    }

    @Test
    void aUserHasSoManyPlacesAndGetsThemBackWhenTheirViewersAreGone() throws Exception {
        HttpClient browser = user("collector");
        HttpClient other = user("another");
        List<Socket> streams = new ArrayList<>();
        for (int i = 0; i < PER_USER; i++) {
            streams.add(stream(browser));
        }

        Answer refused = service.look(browser, "/runs/%d/events".formatted(run), "en");
        Answer japanese = service.look(browser, "/runs/%d/events".formatted(run), "ja");

        refused.expect(429);
        assertThat(refused.headers().firstValue("Retry-After")).contains("60");
        assertThat(refused.text()).contains("You have too many live pages open");
        assertThat(japanese.text()).contains("ライブページ");
        streams.add(stream(other));
        for (Socket stream : streams) {
            stream.close();
        }
        Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> watch.viewers() == 0);
        stream(browser).close();
    }

    @Test
    void anAddressHasSoManyPlaces() throws Exception {
        List<Socket> streams = new ArrayList<>();
        for (int i = 0; i < PER_ADDRESS; i++) {
            streams.add(stream(user("visitor" + i)));
        }
        HttpClient last = user("visitor");

        Answer refused = service.look(last, "/runs/%d/events".formatted(run), "en");

        refused.expect(429);
        assertThat(refused.headers().firstValue("Retry-After")).contains("60");
        assertThat(refused.text()).contains("from your address");
        for (Socket stream : streams) {
            stream.close();
        }
        Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> watch.viewers() == 0);
        stream(last).close();
    }

    /** Returns a viewer's connection when it has received its first event. */
    private Socket stream(HttpClient browser) throws Exception {
        URI at = URI.create(service.url());
        String cookie = browser.cookieHandler()
                .orElseThrow()
                .get(at.resolve("/"), Map.of())
                .get("Cookie")
                .getFirst();
        Socket socket = new Socket(at.getHost(), at.getPort());
        socket.getOutputStream()
                .write("GET /runs/%d/events HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n"
                        .formatted(run, cookie)
                        .getBytes(StandardCharsets.US_ASCII));
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        assertThat(lines.readLine()).startsWith("HTTP/1.1 200");
        assertThat(lines.lines().anyMatch(line -> line.equals("event: sample"))).isTrue();
        return socket;
    }

    /** Adds a viewer with its own user and address. */
    private Viewing viewing(Sight sight) {
        String who = "user" + viewers++;
        return (Viewing) watch.watch(who, who, run, sight);
    }

    @Test
    void noMoreWatchThanThereIsRoomFor() {
        List<Viewing> all = new ArrayList<>();
        for (int i = 0; i < RunWatch.VIEWERS_MAX; i++) {
            all.add(viewing(Sight.EVERYTHING));
        }

        assertThat(watch.watch("another", "192.0.2.99", run, Sight.EVERYTHING)).isEqualTo(NoPlace.SERVICE);
        all.forEach(watch::leave);
    }

    @Test
    void aStreamEndsWithItsRun() {
        HttpClient browser = user("watcher");
        Iterator<String> lines = events(browser);
        assertThat(lines.next()).isEqualTo("event: sample");
        assertThat(lines.next()).startsWith("data: state=PAUSED");
        runs.close(run, RunState.STOPPED, "");

        List<String> rest = new ArrayList<>();
        lines.forEachRemaining(rest::add);
        assertThat(rest).contains("event: ended");
    }

    @Test
    void whoIsDisabledSeesNoMore() {
        HttpClient browser = user("leaver");
        Iterator<String> lines = events(browser);
        assertThat(lines.next()).isEqualTo("event: sample");
        service.bean(Users.class).change("leaver", null, true, null, "test");

        assertEnds(lines);
    }

    @Test
    void whoseRoleIsTakenSeesNoMore() {
        HttpClient browser = user("mover");
        Iterator<String> lines = events(browser);
        assertThat(lines.next()).isEqualTo("event: sample");
        service.bean(Users.class).change("mover", Set.of(), null, null, "test");

        assertEnds(lines);
    }

    @Test
    void whoLogsOutSeesNoMore() {
        HttpClient browser = user("goer");
        Iterator<String> lines = events(browser);
        assertThat(lines.next()).isEqualTo("event: sample");
        assertThat(service.submit(browser, "/logout", "").text()).contains("name=\"password\"");

        assertEnds(lines);
    }

    private static void assertEnds(Iterator<String> lines) {
        CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> lines.forEachRemaining(line -> {}));
        Awaitility.await().atMost(Duration.ofMinutes(5)).until(ended::isDone);
        Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> watch.viewers() == 0);
    }

    private static HttpClient user(String name) {
        service.createUser(name, Role.OPERATOR);
        return service.browser(name);
    }

    private Iterator<String> events(HttpClient browser) {
        try {
            HttpResponse<Stream<String>> answer = browser.send(
                    HttpRequest.newBuilder(URI.create(service.url() + "/runs/%d/events".formatted(run)))
                            .build(),
                    BodyHandlers.ofLines());
            assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
            return answer.body().iterator();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
