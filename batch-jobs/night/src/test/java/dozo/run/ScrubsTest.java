package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.run.Scrubs.Scrub;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Of a scrub's time, a part is kept for challenges: one that never reads everything in time asks them, too. */
class ScrubsTest {

    private static final Instant START = Instant.parse("2026-12-01T00:00:00Z");

    private static Duration kept(@Nullable Instant until) {
        return new Scrub(1, Duration.ofDays(90), false, START, 0, until, true, 4, 0, 0, 0, 0, 0)
                .keptForChallenges(START);
    }

    @Test
    void aTenthOfTheTimeIsKeptAndAtMostTenMinutes() {
        assertThat(kept(START.plusSeconds(600))).isEqualTo(Duration.ofMinutes(1));
        assertThat(kept(START.plus(Duration.ofHours(8)))).isEqualTo(Duration.ofMinutes(10));
    }

    @Test
    void nothingIsKeptOfATimeWithoutEndOrThatIsOver() {
        assertThat(kept(null)).isZero();
        assertThat(kept(START)).isZero();
        assertThat(kept(START.minusSeconds(1))).isZero();
    }
}
