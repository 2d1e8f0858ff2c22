package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Numbers of bytes, typed and told. */
class AmountsTest {

    @Test
    void ratesAreTakenAsPeopleTypeThem() {
        assertThat(Amounts.rate("--limit", "250000")).isEqualTo(250_000);
        assertThat(Amounts.rate("--limit", "10M")).isEqualTo(10_000_000);
        assertThat(Amounts.rate("--limit", "10MB")).isEqualTo(10_000_000);
        assertThat(Amounts.rate("--limit", "10 mb/s")).isEqualTo(10_000_000);
        assertThat(Amounts.rate("--limit", "1.5GB")).isEqualTo(1_500_000_000);
        assertThat(Amounts.rate("--limit", "800Mbit")).isEqualTo(100_000_000);
        assertThat(Amounts.rate("--limit", "16MiB")).isEqualTo(16 << 20);
    }

    @Test
    void allElseIsRefused() {
        for (String odd :
                new String[] {"", "M", "0", "-1", "10X", "1e3", "1.5.5M", "10iB", "999999999999999T", "7bit"}) {
            assertThatThrownBy(() -> Amounts.rate("--limit", odd)).as(odd).isInstanceOf(Failure.class);
        }
    }

    @Test
    void agesSizesAndTimesAreTakenAsPeopleTypeThem() {
        assertThat(Amounts.age("--max-age", "36h")).isEqualTo(Duration.ofHours(36));
        assertThat(Amounts.age("--max-age", "90d")).isEqualTo(Duration.ofDays(90));
        assertThat(Amounts.age("--max-age", "12W")).isEqualTo(Duration.ofDays(84));
        assertThat(Amounts.age("--max-age", "3660d")).isEqualTo(Duration.ofDays(3_660));
        assertThat(Amounts.bytes("--stored", "1.27PiB")).isEqualTo(1_429_892_881_690_132L);
        assertThat(Amounts.bytes("--stored", "0")).isZero();
        assertThat(Amounts.files("--files", "482,977,782")).isEqualTo(482_977_782L);
        assertThat(Amounts.seconds("--per-file", "4ms")).isEqualTo(0.004);
        assertThat(Amounts.seconds("--per-file", "0.25ms")).isEqualTo(0.000_25);
        assertThat(Amounts.seconds("--per-file", "1s")).isEqualTo(1);
        assertThat(Amounts.seconds("--per-file", "0")).isZero();
    }

    @Test
    void plannedSizesAreRounded() {
        assertThat(Amounts.planned(0)).isEqualTo("0 B");
        assertThat(Amounts.planned(334_605_374_000_000L)).isEqualTo("335 TB");
        assertThat(Amounts.planned(1_949)).isEqualTo("1.9 kB");
        assertThat(Amounts.planned(1_950)).isEqualTo("2.0 kB");
        assertThat(Amounts.planned(9_940)).isEqualTo("9.9 kB");
        assertThat(Amounts.planned(9_960)).isEqualTo("10 kB");
        assertThat(Amounts.planned(999_499_999)).isEqualTo("999 MB");
        assertThat(Amounts.planned(999_600_000)).isEqualTo("1.0 GB");
        assertThat(Amounts.planned(Long.MAX_VALUE)).isEqualTo("9.2 EB");
    }

    @Test
    void sizesAreCutOffNotRounded() {
        assertThat(Amounts.text(0)).isEqualTo("0 B");
        assertThat(Amounts.text(999)).isEqualTo("999 B");
        assertThat(Amounts.text(1_999)).isEqualTo("1.9 kB");
        assertThat(Amounts.text(999_999_999)).isEqualTo("999 MB");
        assertThat(Amounts.text(Long.MAX_VALUE)).isEqualTo("9.2 EB");
    }
}
