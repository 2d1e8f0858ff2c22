package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.plan.ReadingWindow.Opening;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The time of day in which copies are read again. */
class ReadingWindowTest {

    @ParameterizedTest
    @CsvSource({
        "20:00-06:00, 36000",
        "06:00-20:00, 50400",
        "00:00-24:00, 86400",
        "20:00-24:00, 14400",
        "20:00-00:00, 14400",
        "00:00-00:01, 60",
        "23:59-23:58, 86340"
    })
    void isOpenForSoLong(String typed, int seconds) {
        assertThat(ReadingWindow.of(typed).secondsADay()).isEqualTo(seconds);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-",
                "20:00",
                "20-06",
                "20:00-",
                "24:00-06:00",
                "20:00-25:00",
                "20:60-06:00",
                "2:00-6:00",
                "20:00-20:00",
                "00:00-00:00",
                "20:00--06:00",
                "whenever"
            })
    void allElseIsRefusedWithWhatIsAccepted(String typed) {
        assertThatThrownBy(() -> ReadingWindow.of(typed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("20:00-06:00")
                .hasMessageContaining("00:00-24:00");
    }

    @ParameterizedTest(name = "{0} in {1} at {2}: {3} to {4}")
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            06:00-20:00 | UTC           | 2026-05-01T05:59:59Z | - | -
            06:00-20:00 | UTC           | 2026-05-01T06:00:00Z | 2026-05-01T06:00:00Z | 2026-05-01T20:00:00Z
            06:00-20:00 | UTC           | 2026-05-01T20:00:00Z | - | -
            20:00-06:00 | UTC           | 2026-05-01T19:59:59Z | - | -
            20:00-06:00 | UTC           | 2026-05-01T20:00:00Z | 2026-05-01T20:00:00Z | 2026-05-02T06:00:00Z
            20:00-06:00 | UTC           | 2026-05-02T05:59:59Z | 2026-05-01T20:00:00Z | 2026-05-02T06:00:00Z
            20:00-06:00 | UTC           | 2026-05-02T06:00:00Z | - | -
            20:00-06:00 | Asia/Tokyo    | 2026-05-01T12:00:00Z | 2026-05-01T11:00:00Z | 2026-05-01T21:00:00Z
            00:00-24:00 | Asia/Tokyo    | 2026-05-01T15:00:00Z | 2026-05-01T15:00:00Z | 2026-05-02T15:00:00Z
            20:00-24:00 | UTC           | 2026-05-01T23:59:59Z | 2026-05-01T20:00:00Z | 2026-05-02T00:00:00Z
            20:00-24:00 | UTC           | 2026-05-02T00:00:00Z | - | -
            # the night of 29 March 2026 has an hour less in Zurich, that of 25 October one more
            20:00-06:00 | Europe/Zurich | 2026-03-29T03:00:00Z | 2026-03-28T19:00:00Z | 2026-03-29T04:00:00Z
            20:00-06:00 | Europe/Zurich | 2026-10-25T04:59:59Z | 2026-10-24T18:00:00Z | 2026-10-25T05:00:00Z
            # half past two does not exist that night
            02:30-06:00 | Europe/Zurich | 2026-03-29T01:30:00Z | 2026-03-29T01:30:00Z | 2026-03-29T04:00:00Z
            """)
    void isOpen(String typed, String zone, Instant moment, Instant begins, Instant ends) {
        var opening = ReadingWindow.of(typed).at(moment, ZoneId.of(zone));

        if (begins == null) {
            assertThat(opening).isEmpty();
        } else {
            assertThat(opening).contains(new Opening(begins, ends));
        }
    }

    @Test
    void theWholeDayIsAlwaysOpenAlsoWhenClocksAreChanged() {
        ZoneId zone = ZoneId.of("Europe/Zurich");
        for (Instant moment = Instant.parse("2026-03-27T00:00:00Z");
                moment.isBefore(Instant.parse("2026-03-31T00:00:00Z"));
                moment = moment.plus(Duration.ofMinutes(7))) {
            assertThat(ReadingWindow.WHOLE_DAY.at(moment, zone))
                    .as("%s", moment)
                    .isPresent();
        }
    }

    @Test
    void isToldAsItIsTyped() {
        for (String typed : new String[] {"20:00-06:00", "00:00-24:00", "20:00-24:00", "00:00-07:30"}) {
            assertThat(ReadingWindow.of(typed)).hasToString(typed);
        }
    }
}
