package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.setting.WrongSetting;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a nightly backup is due, on time or missed. */
class TimetableTest {

    @ParameterizedTest(name = "{0} {1}: last {2}, now {3}: due {4}")
    @CsvSource(delimiter = '|', textBlock = """
            # every night at one in Tokyo, which is 16:00 UTC
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-01T16:00:00Z | 2026-05-02T15:59:59Z | false
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-01T16:00:00Z | 2026-05-02T16:00:00Z | true
            # a run by hand in the afternoon does not take the night's place
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-02T05:00:00Z | 2026-05-02T16:00:00Z | true
            # the machine was off for a week: one run, not seven
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-01T16:00:00Z | 2026-05-08T03:00:00Z | true
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-08T03:00:00Z | 2026-05-08T03:00:15Z | false
            # the first registration this morning: tonight; last week: now
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-08T00:00:00Z | 2026-05-08T03:00:00Z | false
            0 0 1 * * *  | Asia/Tokyo       | 2026-05-01T00:00:00Z | 2026-05-08T03:00:00Z | true
            # the same moment is another night elsewhere
            0 0 1 * * *  | UTC              | 2026-05-01T16:00:00Z | 2026-05-02T00:59:59Z | false
            0 0 1 * * *  | UTC              | 2026-05-01T16:00:00Z | 2026-05-02T01:00:00Z | true
            # 29 March 2026: half past two does not exist in Zurich, and the night is not lost
            0 30 2 * * * | Europe/Zurich    | 2026-03-28T01:30:00Z | 2026-03-29T01:29:59Z | false
            0 30 2 * * * | Europe/Zurich    | 2026-03-28T01:30:00Z | 2026-03-29T01:30:00Z | true
            0 30 2 * * * | Europe/Zurich    | 2026-03-29T01:30:00Z | 2026-03-30T00:29:59Z | false
            0 30 2 * * * | Europe/Zurich    | 2026-03-28T01:30:00Z | 2026-03-30T00:30:00Z | true
            # 25 October 2026: half past two comes twice, and the night has one run
            0 30 2 * * * | Europe/Zurich    | 2026-10-25T00:30:00Z | 2026-10-25T01:29:59Z | false
            0 30 2 * * * | Europe/Zurich    | 2026-10-25T00:30:00Z | 2026-10-25T01:30:15Z | false
            0 30 * * * * | Europe/Zurich    | 2026-10-25T01:10:00Z | 2026-10-25T01:50:00Z | false
            0 30 * * * * | Europe/Zurich    | 2026-10-25T01:10:00Z | 2026-10-25T02:30:00Z | true
            0 30 2 * * * | Europe/Zurich    | 2026-10-25T00:30:00Z | 2026-10-26T01:30:00Z | true
            # the last run is more than 2 hours in the future: its clock was wrong; within them it counts
            0 0 1 * * *  | UTC              | 2027-05-01T16:00:00Z | 2026-05-02T00:00:00Z | true
            0 0 1 * * *  | UTC              | 2026-05-01T22:00:00Z | 2026-05-01T16:00:00Z | true
            0 0 1 * * *  | UTC              | 2026-05-01T18:00:00Z | 2026-05-01T16:00:00Z | false
            # off
            -            | Asia/Tokyo       | 2026-05-01T16:00:00Z | 2036-05-02T16:00:00Z | false
            -            | Asia/Tokyo       | 2027-05-01T16:00:00Z | 2026-05-02T16:00:00Z | false
            """)
    void isDue(String cron, String zone, Instant last, Instant now, boolean due) {
        assertThat(Timetable.of(cron, zone).due(last, now)).isEqualTo(due);
    }

    @Test
    void wrongSettingsNameTheirComponent() {
        assertThatThrownBy(() -> Timetable.of("every night", "UTC"))
                .isInstanceOf(WrongSetting.class)
                .hasMessageContaining("cron");
        assertThatThrownBy(() -> Timetable.of("-", "Mars/Base"))
                .isInstanceOf(WrongSetting.class)
                .hasMessageContaining("zone");
    }
}
