package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.SiteTimetable.Allowance;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A timetable says for each moment whether a site is open and how fast, by the clock on the wall. */
class SiteTimetableTest {

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static final SiteTimetable OFFICE = SiteTimetable.of(
            List.of("mon-fri 08:00-20:00 500 Mbit/s", "Sat,Sun 00:00-24:00 60MB", "mon-fri 06:00-08:00 closed"));

    @ParameterizedTest
    @CsvSource({
        "2026-11-26T07:59:59, false, 0",
        "2026-11-26T08:00:00, true, 62500000",
        "2026-11-26T19:59:59, true, 62500000",
        "2026-11-26T20:00:00, true, 0",
        "2026-11-28T00:00:00, true, 60000000",
        "2026-11-29T23:59:59, true, 60000000",
        "2026-11-30T00:00:00, true, 0",
        // The year's last minutes: 2026 ends on a Thursday.
        "2026-12-31T23:59:59, true, 0",
        "2027-01-01T06:00:00, false, 0",
    })
    void whatHoldsFollowsTheDayAndTheHour(LocalDateTime at, boolean open, long bytesPerSecond) {
        assertThat(OFFICE.at(at.atZone(BERLIN))).isEqualTo(new Allowance(open, bytesPerSecond, false));
    }

    @ParameterizedTest
    @CsvSource({
        "2026-11-26T08:00:00, 2026-11-26T20:00:00",
        "2026-11-26T20:00:30, 2026-11-27T06:00:00",
        "2026-11-28T12:00:00, 2026-11-30T00:00:00",
        "2026-12-31T20:00:00, 2027-01-01T06:00:00",
    })
    void theNextChangeIsTheNextMomentAtWhichSomethingElseHolds(LocalDateTime at, LocalDateTime next) {
        assertThat(OFFICE.nextChange(at.atZone(BERLIN))).contains(next.atZone(BERLIN));
    }

    @Test
    void aWindowOverMidnightBelongsToTheDayOnWhichItBegins() {
        SiteTimetable night = SiteTimetable.of(List.of("sun 22:00-06:00 closed"));
        assertThat(night.at(at("2026-11-29T21:59")).open()).isTrue();
        assertThat(night.at(at("2026-11-29T22:00")).open()).isFalse();
        assertThat(night.at(at("2026-11-30T05:59")).open()).isFalse();
        assertThat(night.at(at("2026-11-30T06:00")).open()).isTrue();
        assertThat(night.at(at("2026-11-29T05:59")).open()).isTrue();
    }

    /** In Berlin 02:00 to 03:00 does not exist on 29 March 2026, and exists twice on 25 October. */
    @Test
    void aChangeOfTheClockMakesAWindowShorterOrLonger() {
        SiteTimetable closed = SiteTimetable.of(List.of("daily 01:30-03:30 closed"));
        ZonedDateTime spring = at("2026-03-29T01:30");
        assertThat(closed.at(spring).open()).isFalse();
        assertThat(closed.nextChange(spring)).contains(spring.plusHours(1));
        ZonedDateTime autumn = at("2026-10-25T01:30");
        assertThat(closed.nextChange(autumn)).contains(autumn.plusHours(3));
        SiteTimetable missing = SiteTimetable.of(List.of("sun 02:10-02:20 closed"));
        assertThat(missing.nextChange(at("2026-03-28T12:00"))).contains(at("2026-04-05T02:10"));
    }

    @Test
    void rulesHaveOneFormWhateverWasTyped() {
        assertThat(SiteTimetable.of(List.of(
                                " MON-SUN 00:00 - 01:00  1.5 gbit/s",
                                "fri-mon 02:00-03:00 closed",
                                "mon,tue 04:00-24:00 10M",
                                "tue-thu 02:00-03:00 64MiB"))
                        .rules())
                .containsExactly(
                        "daily 00:00-01:00 1.5 Gbit/s",
                        "mon,fri,sat,sun 02:00-03:00 closed",
                        "mon,tue 04:00-24:00 80 Mbit/s",
                        "tue-thu 02:00-03:00 536.870912 Mbit/s")
                .satisfies(rules ->
                        assertThat(SiteTimetable.of(List.copyOf(rules)).rules()).isEqualTo(rules));
    }

    @Test
    void aRuleMayYieldWithALimitOrWithout() {
        SiteTimetable office =
                SiteTimetable.of(List.of("mon-fri 08:00-18:00 YIELDING ", "sat 08:00-18:00 10MB  yielding"));
        assertThat(office.rules())
                .containsExactly("mon-fri 08:00-18:00 yielding", "sat 08:00-18:00 80 Mbit/s yielding")
                .satisfies(rules ->
                        assertThat(SiteTimetable.of(List.copyOf(rules)).rules()).isEqualTo(rules));
        assertThat(office.at(at("2026-11-27T12:00"))).isEqualTo(new Allowance(true, 0, true));
        assertThat(office.at(at("2026-11-28T12:00"))).isEqualTo(new Allowance(true, 10_000_000, true));
        assertThat(office.at(at("2026-11-28T18:00"))).isEqualTo(Allowance.UNLIMITED);
        assertThat(office.nextChange(at("2026-11-27T12:00"))).contains(at("2026-11-27T18:00"));
    }

    @Test
    void withoutRulesThereIsNoLimit() {
        assertThat(SiteTimetable.of(List.of())).isSameAs(SiteTimetable.NONE);
        assertThat(SiteTimetable.NONE.at(at("2026-11-26T12:00"))).isEqualTo(Allowance.UNLIMITED);
        assertThat(SiteTimetable.NONE.nextChange(at("2026-11-26T12:00"))).isEmpty();
        assertThat(SiteTimetable.of(List.of("daily 00:00-24:00 1 Gbit/s")).nextChange(at("2026-11-26T12:00")))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mon 08:00-08:00 closed | holds for no time; write 00:00-24:00 for the whole day",
                "mon 24:00-08:00 closed | expected days, hours and a limit",
                "mon 08:60-09:00 closed | expected days, hours and a limit",
                "mon 8-9 closed | expected days, hours and a limit",
                "someday 08:00-09:00 closed | expected days, hours and a limit",
                "mon-wed-fri 08:00-09:00 closed | expected days, hours and a limit",
                "mon, 08:00-09:00 closed | expected days, hours and a limit",
                "mon 08:00-09:00 | expected days, hours and a limit",
                "mon 08:00-09:00 0 | expected closed, or a limit such as 500 Mbit/s or 60 MB/s, or yielding",
                "mon 08:00-09:00 fast | expected closed, or a limit",
                "mon 08:00-09:00 -5M | expected closed, or a limit",
                "mon 08:00-09:00 yielding yielding | expected closed, or a limit",
                "mon 08:00-09:00 closed yielding | expected closed, or a limit",
                "mon 08:00-09:00 yielding 5M | expected closed, or a limit",
                "mon 08:00-09:00 5Myielding | expected closed, or a limit",
                "mon 08:00-09:00 5M yieldingly | expected closed, or a limit",
                "mon 08:00-09:00 0 yielding | expected closed, or a limit",
                "daily 00:00-24:00 closed | closed the whole week",
            })
    void whatIsNoRuleIsRefusedWithWhatWasExpected(String rule, String message) {
        assertThatThrownBy(() -> SiteTimetable.of(List.of(rule)))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining(message);
    }

    @Test
    void twoRulesMustNotHoldAtTheSameTime() {
        assertThatThrownBy(() -> SiteTimetable.of(List.of("sun 20:00-06:00 closed", "mon-fri 05:00-08:00 100 Mbit/s")))
                .hasMessage(
                        "\"sun 20:00-06:00 closed\" and \"mon-fri 05:00-08:00 100 Mbit/s\" overlap on mon at 05:00");
        assertThatThrownBy(() -> SiteTimetable.of(java.util.Collections.nCopies(101, "mon 08:00-09:00 closed")))
                .hasMessage("expected at most 100 rules");
    }

    private static ZonedDateTime at(String local) {
        return LocalDateTime.parse(local).atZone(BERLIN);
    }
}
