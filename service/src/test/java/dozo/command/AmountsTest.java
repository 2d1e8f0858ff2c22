package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Parsing and printing of amounts. */
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
    void ratesOfRsyncAreInKibibytes() {
        assertThat(Amounts.rsyncRate("--bwlimit", "10")).isEqualTo(10 << 10);
        assertThat(Amounts.rsyncRate("--bwlimit", "1.5m")).isEqualTo(3 << 19);
        assertThat(Amounts.rsyncRate("--bwlimit", "2MB")).isEqualTo(2_000_000);
        assertThatThrownBy(() -> Amounts.rsyncRate("--bwlimit", "fast"))
                .hasMessageContaining("--bwlimit fast: expected");
    }
}
