package dozo.file;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes for people: short, and never more than there is. */
class SizeTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "999, 999 B",
        "1000, 1.0 kB",
        "9999, 9.9 kB",
        "10000, 10 kB",
        "999999, 999 kB",
        "1000000, 1.0 MB",
        "9999999999, 9.9 GB",
        "1429000000000000, 1.4 PB",
        "9223372036854775807, 9.2 EB"
    })
    void isRead(long bytes, String text) {
        assertThat(Size.text(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0B, 0",
        "512kB, 512000",
        "200MB, 200000000",
        "1.5 GB, 1500000000",
        "64MiB, 67108864",
        "1TiB, 1099511627776",
        "7EB, 7000000000000000000"
    })
    void isTypedInPowersOf1000AndWithAnIOf1024(String typed, long bytes) {
        assertThat(Size.typed(typed)).contains(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "MB", "1XB", "1iB", "-1MB", "1e3MB", "9.3EB", "1MB/s", "1 000 MB"})
    void whatIsNoSizeIsNotTakenForOne(String typed) {
        assertThat(Size.typed(typed)).isEmpty();
    }

    @Test
    void plannedSizesAreRounded() {
        assertThat(Size.planned(0)).isEqualTo("0 B");
        assertThat(Size.planned(334_605_374_000_000L)).isEqualTo("335 TB");
        assertThat(Size.planned(1_949)).isEqualTo("1.9 kB");
        assertThat(Size.planned(1_950)).isEqualTo("2.0 kB");
        assertThat(Size.planned(9_940)).isEqualTo("9.9 kB");
        assertThat(Size.planned(9_960)).isEqualTo("10 kB");
        assertThat(Size.planned(999_499_999)).isEqualTo("999 MB");
        assertThat(Size.planned(999_600_000)).isEqualTo("1.0 GB");
        assertThat(Size.planned(Long.MAX_VALUE)).isEqualTo("9.2 EB");
    }
}
