package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An unambiguous date is parsed; every other form is refused. */
class WrittenDayTest {

    @ParameterizedTest
    @CsvSource({
        "2026-10-01, 2026-10-01",
        "2026/10/01, 2026-10-01",
        "2026/10/1, 2026-10-01",
        "2026-1-2, 2026-01-02",
        "20261001, 2026-10-01",
        "2026年10月1日, 2026-10-01",
        "令和8年10月1日, 2026-10-01",
        "令和08年10月01日, 2026-10-01",
        "令和元年5月1日, 2019-05-01",
        "平成31年4月30日, 2019-04-30",
        "昭和64年1月7日, 1989-01-07"
    })
    void whatCanMeanOneDayIsThatDay(String written, LocalDate day) {
        assertThat(WrittenDay.of("acquired", written)).isEqualTo(day);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10/01/2026",
                "1.10.2026",
                "26-10-01",
                "R8.10.1",
                "令和8/10/1",
                "8年10月1日",
                "46296",
                "2026-10/01",
                "2026",
                "2026-10-01T00:00",
                "Oct 1 2026",
                "２０２６-10-01",
                "",
                "2026-10-01\n"
            })
    void everyOtherFormIsRefusedWithWhatIsAccepted(String written) {
        assertThatThrownBy(() -> WrittenDay.of("acquired", written))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("acquired"))
                .hasMessageContaining("or 令和8年10月1日");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-02-29", "2026/13/1", "20260000", "令和元年4月30日", "平成31年5月1日", "令和0年1月1日"})
    void aDayThatNeverWasIsRefused(String written) {
        assertThatThrownBy(() -> WrittenDay.of("acquired", written))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("there is no such date");
    }
}
