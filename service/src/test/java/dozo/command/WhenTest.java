package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZonedDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

/** What people may type for a time, in a zone that is not UTC. */
class WhenTest {

    private static final ZonedDateTime NOW = ZonedDateTime.parse("2026-11-29T02:42:10+09:00[Asia/Tokyo]");

    @ParameterizedTest
    @CsvSource(textBlock = """
            now                         | 2026-11-28T17:42:10Z | 2026-11-28T17:42:10Z
            today                       | 2026-11-28T15:00:00Z | 2026-11-28T17:42:10Z
            2026-11-29                  | 2026-11-28T15:00:00Z | 2026-11-28T17:42:10Z
            yesterday                   | 2026-11-27T15:00:00Z | 2026-11-28T15:00:00Z
            2026-11-28                  | 2026-11-27T15:00:00Z | 2026-11-28T15:00:00Z
            tomorrow                    | 2026-11-29T15:00:00Z | 2026-11-30T15:00:00Z
            7d                          | 2026-11-21T17:42:10Z | 2026-11-21T17:42:10Z
            12h                         | 2026-11-28T05:42:10Z | 2026-11-28T05:42:10Z
            +8h                         | 2026-11-29T01:42:10Z | 2026-11-29T01:42:10Z
            2026-11-28 14:00            | 2026-11-28T05:00:00Z | 2026-11-28T05:00:00Z
            2026-11-28T14:00:01.5       | 2026-11-28T05:00:01.500Z | 2026-11-28T05:00:01.500Z
            2026-11-28T14:00:00Z        | 2026-11-28T14:00:00Z | 2026-11-28T14:00:00Z
            2026-10-02 00:00:00 +09:00  | 2026-10-01T15:00:00Z | 2026-10-01T15:00:00Z
            2026-10-02 00:00:00 -03:30  | 2026-10-02T03:30:00Z | 2026-10-02T03:30:00Z
            """, delimiter = '|')
    void aTimeIsAsTypedAndADayEndsInThisZone(String typed, Instant begin, Instant past) {
        assertThat(When.moment(typed, NOW, 0)).isEqualTo(begin);
        assertThat(When.past(typed, NOW)).isEqualTo(past);
    }

    @Test
    void whatIsPrintedCanBeTypedAndSpansKeepTheTimeOfDayWhenClocksChange() {
        Instant time = Instant.parse("2026-03-08T12:00:00Z");
        ZonedDateTime monday = ZonedDateTime.parse("2026-03-09T12:00:00-07:00[America/Los_Angeles]");

        assertThat(When.moment(Times.text(time), NOW, 0)).isEqualTo(time);
        assertThat(When.moment("2d", monday, 0)).isEqualTo(Instant.parse("2026-03-07T20:00:00Z"));
        assertThat(When.day("7d", NOW)).isEqualTo("2026-11-22");
        assertThat(When.day("yesterday", NOW)).isEqualTo("2026-11-28");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "soon",
                "7",
                "d",
                "7 days",
                "-7d",
                "2026-02-30",
                "2026-11-28 25:00",
                "28.11.2026",
                "11/28/2026"
            })
    void everythingElseIsRefusedWithWhatMayBeTyped(String typed) {
        assertThatThrownBy(() -> When.past(typed, NOW))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("\"%s\": expected %s", typed, When.FORMS);
    }

    @Test
    void twoTimesHaveTwoDotsBetweenThem() {
        assertThat(new When.Between().convert("2026-11-01..2026-11-02").split("\\.\\."))
                .hasSize(2)
                .allSatisfy(each -> assertThat(Instant.parse(each)).isBefore(Instant.parse("2026-11-04T00:00:00Z")));
        for (String wrong : new String[] {"2026-11-01", "..", "7d..", "a..b..c"}) {
            assertThatThrownBy(() -> new When.Between().convert(wrong)).isInstanceOf(TypeConversionException.class);
        }
    }

    @Test
    void otherFormsOfADayAreLeftToTheService() {
        assertThat(new When.Day().convert("令和8年10月1日")).isEqualTo("令和8年10月1日");
        assertThat(new When.Day().convert("yesterday")).matches("\\d{4}-\\d\\d-\\d\\d");
        assertThatThrownBy(() -> new When.Day().convert("soon")).isInstanceOf(TypeConversionException.class);
    }
}
