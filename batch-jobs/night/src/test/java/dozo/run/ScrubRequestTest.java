package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import dozo.setting.WrongSetting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.unit.DataSize;

/** What a scrub may be asked for, and what its settings may promise. */
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

    @Test
    void aHomeScrubHasNoSiteAndNeedsAnAge() {
        assertThatThrownBy(() -> home("dr", Duration.ofDays(1))).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> home(null, Duration.ZERO)).isInstanceOf(Refusal.class);
        assertThat(home(null, Duration.ofDays(1)).home()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT1S", "PT59M", "P3661D", "-PT1H"})
    void anAgeAtHomeOutsideTheRangeIsRefused(Duration age) {
        assertThat(settings(Duration.ZERO).homeAge()).isZero();
        assertThat(settings(Duration.ofHours(1)).homeAge()).isEqualTo(Duration.ofHours(1));
        assertThatThrownBy(() -> settings(age)).isInstanceOf(WrongSetting.class);
    }

    private static ScrubSettings settings(Duration homeAge) {
        return new ScrubSettings(Duration.ofDays(90), homeAge, 25, "-", DataSize.ofBytes(0), true, 688);
    }

    private static ScrubRequest home(@Nullable String site, Duration maxAge) {
        return new ScrubRequest(true, site, maxAge, true, 0, null, true);
    }

    private static ScrubRequest request(long bytesPerSecond) {
        return new ScrubRequest("dr", Duration.ofDays(90), false, bytesPerSecond, null, false);
    }
}
