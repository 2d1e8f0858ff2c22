package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many share one rate. Only lower bounds of time are checked: a machine may be slow, but no rate is ever exceeded. */
@Timeout(300)
class ThrottleTest {

    @Test
    void manyTogetherKeepToOneRate() throws Exception {
        // NB: the bucket fills from its creation on.
        long before = System.nanoTime();
        Throttle throttle = new Throttle(1_000_000);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 10; i++) {
                threads.submit(() -> {
                    for (int n = 0; n < 10; n++) {
                        throttle.pass(2_000);
                    }
                    return null;
                });
            }
        }
        // 200,000 bytes, of which the last 2,000 may be sent at once in their turn, and 2 ms early.
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(Duration.ofMillis(196));
    }

    @Test
    void noRateIsNoWait() throws Exception {
        Throttle throttle = new Throttle(0);
        for (int i = 0; i < 1_000; i++) {
            throttle.pass(Integer.MAX_VALUE);
        }
    }

    /** {@link Integer#MAX_VALUE} bytes take 0.13 s at 16 GB/s. */
    @Test
    void anyLimitIsAcceptedHoweverHigh() throws Exception {
        Throttle throttle = new Throttle(16_000_000_000L);
        throttle.pass(Integer.MAX_VALUE);
        for (long limit : new long[] {16_000_000_001L, 125_000_000_000L, Long.MAX_VALUE}) {
            throttle.limit(limit);
            throttle.pass(Integer.MAX_VALUE);
        }
    }

    @Test
    void whoWaitsCanBeInterrupted() {
        Throttle throttle = new Throttle(1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> {
                    throttle.pass(1_000_000);
                    throttle.pass(1);
                })
                .isInstanceOf(InterruptedException.class);
    }

    @Test
    void aNegativeRateIsRefused() {
        assertThatThrownBy(() -> new Throttle(-1)).isInstanceOf(IllegalArgumentException.class);
    }
}
