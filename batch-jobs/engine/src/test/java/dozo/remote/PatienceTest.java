package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A hanging command is given up soon; a large one has enough time. */
class PatienceTest {

    @Test
    void aBundleHasAboutAMinuteAndALargeFileItsHours() {
        assertThat(Patience.USUAL.of(1, 1)).isBetween(Duration.ofMinutes(1), Duration.ofSeconds(61));
        assertThat(Patience.USUAL.of(1_000, 32 << 20)).isBetween(Duration.ofMinutes(1), Duration.ofSeconds(90));
        assertThat(Patience.USUAL.of(1, 100_000_000_000L)).isGreaterThan(Duration.ofHours(5));
        assertThat(Patience.USUAL.of(1, Long.MAX_VALUE)).isPositive();
    }
}
