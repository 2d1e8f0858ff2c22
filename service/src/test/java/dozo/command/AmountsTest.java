package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    void sizesAreCutOffNotRounded() {
        assertThat(Amounts.text(0)).isEqualTo("0 B");
        assertThat(Amounts.text(999)).isEqualTo("999 B");
        assertThat(Amounts.text(1_999)).isEqualTo("1.9 kB");
        assertThat(Amounts.text(999_999_999)).isEqualTo("999 MB");
        assertThat(Amounts.text(Long.MAX_VALUE)).isEqualTo("9.2 EB");
    }
}
