package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.run.Nights.Night;
import dozo.run.Nights.NightSite;
import dozo.run.Nights.Proven;
import dozo.run.Runs.RunState;
import dozo.ui.NightCalendar.Day;
import dozo.ui.NightCalendar.Kind;
import dozo.ui.NightCalendar.Look;
import dozo.ui.NightCalendar.Row;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which day a night belongs to, and how a day looks. */
class NightCalendarTest {

    private static final ZoneId ZONE = ZoneId.of("Europe/Berlin");
    private static final Format FORMAT = new Format(ZONE, Locale.ENGLISH);

    /** In the week of the end of daylight saving time, which is at 03:00 on 25 October 2026. */
    private static final Instant NOW = at("2026-10-28T12:00:00");

    private static final NightSite DR = new NightSite("dr", at("2026-10-20T01:00:00"), null);

    @Test
    void withoutANightNothingIsRecorded() {
        NightCalendar calendar = NightCalendar.of(List.of(), List.of(), NOW, FORMAT);

        assertThat(calendar.days()).extracting(Day::look).containsOnly(Look.BEFORE);
        assertThat(calendar.days().getFirst().date()).isEqualTo(LocalDate.of(2026, 10, 1));
        assertThat(calendar.days().getLast().date()).isEqualTo(LocalDate.of(2026, 10, 28));
        assertThat(calendar.kinds()).isEmpty();
        assertThat(calendar.months()).hasSize(1);
        assertThat(calendar.rows()).hasSize(1);
    }

    @Test
    void twelveMonthsAreShown() {
        NightCalendar calendar =
                NightCalendar.of(List.of(), List.of(new NightSite("dr", at("2020-01-01T01:00:00"), null)), NOW, FORMAT);

        assertThat(calendar.months()).hasSize(12);
        assertThat(calendar.days().getFirst().date()).isEqualTo(LocalDate.of(2025, 11, 1));
        assertThat(calendar.rows()).as("one row of days without a run").hasSize(1);
    }

    @Test
    void aDayWithoutARunIsNotCalledMissed() {
        NightCalendar calendar = calendar(night(1, "dr", RunState.COMPLETE, "2026-10-20T01:00:00"));

        assertThat(day(calendar, 19).look()).isEqualTo(Look.BEFORE);
        assertThat(day(calendar, 20).look()).isEqualTo(Look.COMPLETE);
        assertThat(day(calendar, 21).look()).isEqualTo(Look.NONE);
        assertThat(calendar.kinds())
                .extracting(Kind::look, Kind::days)
                .containsExactly(tuple(Look.COMPLETE, 1L), tuple(Look.NONE, 8L));
        assertThat(calendar.rows())
                .extracting(Row::from, Row::until)
                .startsWith(
                        tuple(LocalDate.of(2026, 10, 21), LocalDate.of(2026, 10, 28)),
                        tuple(LocalDate.of(2026, 10, 20), LocalDate.of(2026, 10, 20)));
    }

    @Test
    void theLastNightOfADayCounts() {
        NightCalendar calendar = calendar(
                night(1, "dr", RunState.FAILED, "2026-10-21T01:00:00"),
                night(2, "dr", RunState.COMPLETE, "2026-10-21T23:59:59"),
                night(3, "dr", RunState.FINDINGS, "2026-10-22T00:00:00"));

        assertThat(day(calendar, 21).look()).isEqualTo(Look.COMPLETE);
        assertThat(day(calendar, 22).look()).isEqualTo(Look.FINDINGS);
    }

    @Test
    void theHourThatComesTwiceBelongsToItsDay() {
        NightCalendar calendar = calendar(
                night(1, "dr", RunState.COMPLETE, "2026-10-24T23:30:00"),
                new Night(2, "dr", RunState.STOPPED, Instant.parse("2026-10-25T00:30:00Z")),
                new Night(3, "dr", RunState.COMPLETE, Instant.parse("2026-10-25T22:30:00Z")));

        assertThat(day(calendar, 24).look()).isEqualTo(Look.COMPLETE);
        assertThat(Objects.requireNonNull(day(calendar, 25).worst()).run())
                .as("23:30 in winter time; 25 hours after its day began")
                .isEqualTo(3);
        assertThat(day(calendar, 26).look()).isEqualTo(Look.NONE);
    }

    @Test
    void ofTwoSitesTheWorstDecides() {
        NightCalendar calendar = NightCalendar.of(
                List.of(
                        night(1, "dr", RunState.COMPLETE, "2026-10-21T01:00:00"),
                        night(2, "dr2", RunState.STOPPED, "2026-10-21T03:00:00"),
                        night(3, "dr", RunState.COMPLETE, "2026-10-22T01:00:00"),
                        night(4, "dr", RunState.COMPLETE, "2026-10-23T01:00:00"),
                        night(5, "dr2", RunState.PAUSED, "2026-10-23T03:00:00"),
                        night(6, "dr", RunState.COMPLETE, "2026-10-26T03:00:00")),
                List.of(DR, new NightSite("dr2", at("2026-10-21T03:00:00"), at("2026-10-25T12:00:00"))),
                NOW,
                FORMAT);

        assertThat(day(calendar, 21).look()).isEqualTo(Look.FAILED);
        assertThat(Objects.requireNonNull(day(calendar, 21).worst()).run()).isEqualTo(2);
        assertThat(day(calendar, 22).look()).as("one of them had no run").isEqualTo(Look.NONE);
        assertThat(Objects.requireNonNull(day(calendar, 22).worst()).run()).isEqualTo(3);
        assertThat(day(calendar, 23).look()).isEqualTo(Look.RUNNING);
        assertThat(day(calendar, 26).look()).as("the other is removed").isEqualTo(Look.COMPLETE);
    }

    @Test
    void weeksBeginAsInTheReadersCalendars() {
        Format japanese = new Format(ZONE, Locale.JAPANESE);
        String english = NightCalendar.of(List.of(), List.of(), NOW, FORMAT)
                .months()
                .getFirst()
                .days()
                .getFirst()
                .path();

        assertThat(english).as("1 October 2026 is a Thursday").startsWith("M60 0");
        assertThat(NightCalendar.of(List.of(), List.of(), NOW, japanese)
                        .months()
                        .getFirst()
                        .days()
                        .getFirst()
                        .path())
                .startsWith("M80 0");
    }

    @Test
    void barsAddUpTheNightsOfADay() {
        Charts.Proofs proofs = Charts.Proofs.of(
                List.of(
                        new Proven(1, "dr", at("2026-10-25T01:00:00"), at("2026-10-25T01:00:10"), 100, 1),
                        new Proven(2, "dr2", at("2026-10-25T23:00:00"), at("2026-10-25T23:00:10"), 300, 5),
                        new Proven(3, "dr", at("2026-10-28T01:00:00"), at("2026-10-28T01:00:00"), 0, 0)),
                FORMAT.zone());

        assertThat(proofs.days()).extracting(Charts.Day::bytes).containsExactly(400L, 0L);
        assertThat(proofs.days().getFirst().bytesPerSecond()).isEqualTo(20);
        assertThat(proofs.days().getLast().bytesPerSecond()).as("took no time").isZero();
        assertThat(proofs.most().date()).isEqualTo(LocalDate.of(2026, 10, 25));
        assertThat(proofs.most().at()).isEqualTo(at("2026-10-25T00:00:00"));
        assertThat(Charts.Proofs.begin(NOW, FORMAT.zone())).isEqualTo(at("2026-08-30T00:00:00"));
    }

    @Test
    void theLastThirtyDaysAreAStripUnlessThereWasNoNight() {
        assertThat(NightCalendar.of(List.of(), List.of(), NOW, FORMAT).lately()).isEmpty();

        NightCalendar calendar = NightCalendar.of(
                List.of(night(1, "dr", RunState.FAILED, "2026-10-22T01:00:00")),
                List.of(new NightSite("dr", at("2020-01-01T01:00:00"), null)),
                NOW,
                FORMAT);

        assertThat(calendar.lately())
                .hasSize(30)
                .last()
                .extracting(Day::date)
                .isEqualTo(LocalDate.ofInstant(NOW, FORMAT.zone()));
        assertThat(calendar.lately())
                .filteredOn(day -> day.worst() != null)
                .singleElement()
                .satisfies(day -> assertThat(day.shape()).isEqualTo(NightCalendar.shape(Look.FAILED, 0, 0)));
        assertThat(calendar.lately().getFirst().look()).isEqualTo(Look.NONE);
    }

    private static NightCalendar calendar(Night... nights) {
        return NightCalendar.of(List.of(nights), List.of(DR), NOW, FORMAT);
    }

    private static Night night(long run, String site, RunState state, String at) {
        return new Night(run, site, state, at(at));
    }

    private static Day day(NightCalendar calendar, int october) {
        return calendar.days().stream()
                .filter(day -> day.date().equals(LocalDate.of(2026, 10, october)))
                .findFirst()
                .orElseThrow();
    }

    private static Instant at(String local) {
        return LocalDateTime.parse(local).atZone(ZONE).toInstant();
    }
}
