package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.RunningService;
import dozo.ledger.Sight;
import dozo.registry.Sites;
import dozo.remote.SiteAddress;
import dozo.run.Runs;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.security.Role;
import dozo.security.Users;
import dozo.ui.RunWatch.Viewing;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who watches a run: one look serves all who see the same, nobody waits for who does not read, nobody looks longer than they may. */
class RunWatchTest {

    private static final String PASSWORD = "a password for tests";

    @TempDir
    static Path folder;

    private static RunningService service;
    private static RunWatch watch;
    private static Runs runs;

    private long run;

    @BeforeAll
    static void start() {
        service = RunningService.start(folder.resolve("work"));
        service.bean(Sites.class)
                .save(
                        "dr",
                        new SiteAddress("127.0.0.1", 1, "dozo", "/backup", service.passwordFile(), "ssh-ed25519 AAAA"),
                        "test");
        watch = service.bean(RunWatch.class);
        runs = service.bean(Runs.class);
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    /** Paused: nothing of it goes on by itself. */
    @BeforeEach
    void open() {
        run = runs.open(
                        RunKind.NIGHTLY_BACKUP,
                        service.bean(Sites.class).find("dr").orElseThrow(),
                        "test")
                .id();
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
            all.add(watch.watch(run, Sight.EVERYTHING).orElseThrow());
        }
        Viewing other = watch.watch(run, Sight.of(Set.of("P001"))).orElseThrow();
        // All are there from its second sample on.
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
        Viewing sleeper = watch.watch(run, Sight.EVERYTHING).orElseThrow();
        Viewing reader = watch.watch(run, Sight.EVERYTHING).orElseThrow();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!sleeper.isDropped() && System.nanoTime() < deadline) {
            assertThat(reader.next(10)).isNotNull();
        }

        assertThat(sleeper.isDropped()).isTrue();
        assertThat(reader.isDropped()).isFalse();
        watch.leave(reader);
    }

    @Test
    void noMoreWatchThanThereIsRoomFor() {
        List<Viewing> all = new ArrayList<>();
        for (int i = 0; i < RunWatch.VIEWERS_MAX; i++) {
            all.add(watch.watch(run, Sight.EVERYTHING).orElseThrow());
        }

        assertThat(watch.watch(run, Sight.EVERYTHING)).isEmpty();
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
        assertThat(service.submit(browser, "/logout", "").body()).contains("name=\"password\"");

        assertEnds(lines);
    }

    private static void assertEnds(Iterator<String> lines) {
        CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> lines.forEachRemaining(line -> {}));
        Awaitility.await().atMost(Duration.ofMinutes(5)).until(ended::isDone);
        Awaitility.await().until(() -> watch.viewers() == 0);
    }

    private static HttpClient user(String name) {
        service.bean(Users.class).create(name, PASSWORD, Set.of(Role.OPERATOR), "test");
        return service.browser(name, PASSWORD);
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
