package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CrewTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    @Test
    void everyoneWhoWaitsForRoomGetsTheFailure() throws Exception {
        CountDownLatch fails = new CountDownLatch(1);
        Queue<String> failures = new ConcurrentLinkedQueue<>();
        try (Crew crew = new Crew(1)) {
            crew.start(() -> {
                fails.await();
                throw new IOException("the disk is full");
            });
            List<Thread> starters = Stream.of("one", "other")
                    .map(name -> Thread.ofPlatform().name(name).daemon().start(() -> start(crew, failures)))
                    .toList();
            await().atMost(LIMIT)
                    .until(() -> starters.stream().allMatch(each -> each.getState() == Thread.State.WAITING));

            fails.countDown();

            for (Thread starter : starters) {
                assertThat(starter.join(LIMIT)).as(starter.getName()).isTrue();
            }
            assertThat(failures).containsExactly("the disk is full", "the disk is full");
        }
    }

    private static void start(Crew crew, Queue<String> failures) {
        try {
            crew.start(() -> {});
        } catch (IOException | InterruptedException e) {
            failures.add(String.valueOf(e.getMessage()));
        }
    }
}
