package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A rate of 0 is no limit; a rate below 0 is refused. */
class ScrubRequestTest {

    @Test
    void noLimitIsARateOfZero() {
        assertThat(request(0).bytesPerSecond()).isZero();
    }

    @Test
    void aRateBelowZeroIsRefused() {
        assertThatThrownBy(() -> request(-1))
                .isInstanceOf(Refusal.class)
                .hasMessage("expected a rate of 0 or more, not -1 bytes a second");
    }

    private static ScrubRequest request(long bytesPerSecond) {
        return new ScrubRequest("dr", Duration.ofDays(90), false, bytesPerSecond, null, false);
    }
}
