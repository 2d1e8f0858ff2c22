package dozo.file;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes for people: short, and never more than there is. */
class SizeTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1.0 KiB",
        "10239, 9.9 KiB",
        "10240, 10 KiB",
        "1048575, 1023 KiB",
        "1048576, 1.0 MiB",
        "10737418239, 9.9 GiB",
        "1429000000000000, 1.2 PiB",
        "9223372036854775807, 7.9 EiB"
    })
    void isRead(long bytes, String text) {
        assertThat(Size.text(bytes)).isEqualTo(text);
    }
}
