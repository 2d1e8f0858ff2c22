package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.RunningService.Answer;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.remote.HungMount;
import dozo.run.Operations;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TurnsTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    @Test
    void besideARunRequestsWaitTheirTurnAndTooManyAreRefusedAtOnce() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Path source = Files.createDirectory(folder.resolve("source"));
        try (LoopbackSite site = LoopbackSite.start(folder.resolve("keys"), folder.resolve("dr"), 0);
                ExecutorService people = Executors.newVirtualThreadPerTaskExecutor();
                RunningService service = RunningService.start(folder.resolve("work"), database, Map.of());
                Connection other = database.getConnection()) {
            service.bean(Sites.class).save("dr", site.address(), "test");
            service.bean(Projects.class).create("P1", "", "test");
            service.bean(Experiments.class).register("P1", "E1", "", source, "test");
            String token = service.post("/api/v1/me/tokens", "{\"name\": \"test\"}")
                    .at("/secret")
                    .asString();
            try (HungMount _ = new HungMount(source)) {
                service.bean(Operations.class).start("dr", "test");
                other.setAutoCommit(false);
                try (Statement lock = other.createStatement()) {
                    lock.execute("lock table project in access exclusive mode");
                }
                List<CompletableFuture<Answer>> asked = IntStream.range(0, Turns.WAITING_MAX + 100)
                        .mapToObj(i -> CompletableFuture.supplyAsync(
                                () -> service.askAs("Bearer " + token, "GET", "/api/v1/projects", null), people))
                        .toList();

                await().atMost(LIMIT).until(() -> asked.stream().anyMatch(CompletableFuture::isDone));
                assertThat(asked.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join))
                        .allSatisfy(TurnsTest::assertRefused);
                assertThat(service.askAs(null, "GET", "/actuator/health", null).status())
                        .isEqualTo(200);
                other.rollback();
                assertThat(asked.stream().map(CompletableFuture::join).filter(answer -> answer.status() != 200))
                        .hasSizeLessThanOrEqualTo(100)
                        .allSatisfy(TurnsTest::assertRefused);
            }
        }
    }

    private static void assertRefused(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(503);
        assertThat(answer.at("/detail").asString()).contains("too many requests are waiting");
        assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
    }
}
