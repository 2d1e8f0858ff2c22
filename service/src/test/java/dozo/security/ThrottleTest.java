package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** An attacker who guesses must wait, and the owner of the name need not wait for long. */
class ThrottleTest {

    private final Throttle throttle = new Throttle();
    private Instant now = Instant.parse("2026-11-21T00:00:00Z");

    @Test
    void aFewFailuresCostNothing() {
        fail(Throttle.PAIR_FAILURES_FREE - 1, "tanaka", "10.0.0.1");

        assertThat(waitOf("tanaka", "10.0.0.1")).isZero();
    }

    @Test
    void thenEveryFailureDoublesTheWaitToAMinute() {
        fail(Throttle.PAIR_FAILURES_FREE, "tanaka", "10.0.0.1");
        assertThat(waitOf("tanaka", "10.0.0.1")).isEqualTo(Duration.ofSeconds(1));
        fail(1, "tanaka", "10.0.0.1");
        assertThat(waitOf("tanaka", "10.0.0.1")).isEqualTo(Duration.ofSeconds(2));
        fail(20, "tanaka", "10.0.0.1");
        assertThat(waitOf("tanaka", "10.0.0.1")).isEqualTo(Throttle.WAIT_MAX);
        now = now.plus(Throttle.WAIT_MAX);
        assertThat(waitOf("tanaka", "10.0.0.1")).isZero();
    }

    @Test
    void anAddressThatTriesManyNamesWaitsForAllOfThem() {
        for (int i = 0; i < Throttle.ADDRESS_FAILURES_FREE; i++) {
            fail(1, "name" + i, "10.0.0.1");
        }

        assertThat(waitOf("another", "10.0.0.1")).isPositive();
        assertThat(waitOf("another", "10.0.0.2")).isZero();
    }

    @Test
    void aThousandLoginsAMinuteFromEverywhereDoNotLockTheOwnerOut() {
        throttle.succeeded("tanaka", "10.0.0.1", now);
        for (int i = 0; i < 1_000; i++) {
            fail(1, "tanaka", "10.1.%d.%d".formatted(i / 250, i % 250));
            fail(1, "other" + i, "10.0.0.1");
            now = now.plusMillis(60);
        }

        assertThat(waitOf("tanaka", "10.0.0.1")).isZero();
        assertThat(waitOf("tanaka", "10.2.0.1")).isBetween(Duration.ofSeconds(1), Duration.ofHours(1));
    }

    @Test
    void aNameHasAHundredFailuresAnHour() {
        for (int i = 0; i < Throttle.NAME_FAILURES_HOUR; i++) {
            assertThat(waitOf("tanaka", "10.3.0." + i)).isZero();
            fail(1, "tanaka", "10.3.0." + i);
        }

        assertThat(waitOf("tanaka", "10.4.0.1")).isEqualTo(Duration.ofHours(1));
        now = now.plus(Duration.ofHours(1));
        assertThat(waitOf("tanaka", "10.4.0.1")).isZero();
        fail(1, "tanaka", "10.4.0.1");
        assertThat(waitOf("tanaka", "10.4.0.2")).isZero();
    }

    @Test
    void aRightPasswordForgivesTheOnesBefore() {
        fail(20, "tanaka", "10.0.0.1");
        throttle.succeeded("tanaka", "10.0.0.1", now);

        assertThat(waitOf("tanaka", "10.0.0.1")).isZero();
    }

    @Test
    void quietIsForgottenAfterAQuarterOfAnHour() {
        fail(20, "tanaka", "10.0.0.1");
        now = now.plus(Duration.ofMinutes(16));
        fail(1, "tanaka", "10.0.0.1");

        assertThat(waitOf("tanaka", "10.0.0.1")).isZero();
    }

    @Test
    void memoryIsBounded() {
        for (int i = 0; i < 200_000; i++) {
            fail(1, "name" + i, "10.5.%d.%d".formatted(i / 250 % 250, i % 250));
        }

        assertThat(throttle.size()).isLessThanOrEqualTo(40_000);
    }

    private void fail(int times, String name, String address) {
        for (int i = 0; i < times; i++) {
            throttle.failed(name, address, now);
        }
    }

    private Duration waitOf(String name, String address) {
        return throttle.wait(name, address, now);
    }
}
