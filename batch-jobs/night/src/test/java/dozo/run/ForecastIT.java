package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.registry.SiteTimetables;
import dozo.run.Forecasts.Line;
import dozo.run.Forecasts.Made;
import dozo.run.Forecasts.Outcome;
import dozo.run.Forecasts.Outlook;
import dozo.run.Headlines.Headline;
import dozo.run.Headlines.Kind;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.format.TextStyle;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.util.FileSystemUtils;

/** A night begins with a forecast, which is compared when its window is over; what is deleted soon is sent first. */
class ForecastIT extends NightAtSite {

    private static final int SITE = 1;

    /** Nothing is learned, however slow the machine is. */
    ForecastIT() {
        super("dozo.transfer.learn-from=1d");
    }

    @Test
    void theFirstNightExpectsNothingAndTheNextOneWhatThatOneHad() throws Exception {
        register("E1", "f", "12345678");
        assertThat(now())
                .extracting(Outlook::experiments, Outlook::unknown, Outlook::nights)
                .containsExactly(0, 1, 0);

        Run first = night.complete();
        assertThat(forecasts().of(first.id())).isEmpty();
        assertThat(now().experiments()).isZero();

        register("E2", "f", "1234");
        Outlook now = now();
        Run second = night.complete();

        Outlook kept = forecasts().of(second.id()).orElseThrow();
        assertThat(kept)
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes(".*[aA]t", "safeAt.*")
                .isEqualTo(now);
        assertThat(kept)
                .extracting(Outlook::experiments, Outlook::unknown, Outlook::bytes, Outlook::outcome)
                .containsExactly(1, 0, 8L, null);
        assertThat(kept.untilAt()).isEqualTo(kept.madeAt().plus(Duration.ofDays(1)));
        assertThat(kept.safeAt().low()).isBetween(kept.madeAt(), kept.safeAt().high());
        assertThat(lines(second)).singleElement().satisfies(line -> {
            assertThat(line)
                    .extracting(Line::project, Line::code, Line::bytes, Line::estimated, Line::safe)
                    .containsExactly("p", "E2", 8L, true, null);
            assertThat(line.probability()).isGreaterThan(0.9);
            assertThat(line.atRisk()).isFalse();
        });

        forecasts().compare();
        assertThat(forecasts().of(second.id()).orElseThrow().outcome()).isNull();
        endWindow(second);
        forecasts().compare();
        assertThat(forecasts().of(second.id()).orElseThrow().outcome()).isEqualTo(new Outcome(4, 1));
        assertThat(lines(second)).extracting(Line::safe).containsExactly(true);
    }

    @Test
    void whatBecameSafeAfterTheWindowDoesNotCount() throws Exception {
        register("E1", "f", "1");
        night.complete();
        register("E2", "f", "22");
        Run run = night.complete();
        night.update("update run_forecast set until_at = made_at");

        forecasts().compare();

        assertThat(forecasts().of(run.id()).orElseThrow().outcome()).isEqualTo(new Outcome(0, 0));
        assertThat(lines(run)).extracting(Line::safe).containsExactly(false);
    }

    @Test
    void whatAScannerDeletesIsSentFirstAndNamedIfItIsTooLate() throws Exception {
        register("E1", "f", "1");
        night.complete();
        LocalDate today = LocalDate.now(ZoneId.systemDefault());
        night.get(Scanners.class).put(new Scanner("MR7T", List.of(), 3), "test");
        for (String code : List.of("E2", "E3", "E4", "E5")) {
            register(code, "f", "content of " + code);
        }
        acquired("E5", today);
        acquired("E4", today.minusDays(1));
        acquired("E2", today.minusDays(9));

        List<Line> lines = forecasts().now(Sight.EVERYTHING, SITE).lines();

        assertThat(lines)
                .extracting(Line::code, Line::atRisk)
                .containsExactly(tuple("E4", false), tuple("E5", false), tuple("E2", true), tuple("E3", false));
        assertThat(lines.getFirst().deletedAt())
                .isEqualTo(
                        today.plusDays(2).atStartOfDay(ZoneId.systemDefault()).toInstant());
        assertThat(forecasts().now(Sight.of(Set.of("other")), SITE).lines()).isEmpty();
        Run run = night.complete();
        assertThat(night.jdbc()
                        .sql("""
                                select e.code from transfer_unit u join experiment e using (experiment_id)
                                where u.run_id = :run order by u.turn
                                """)
                        .param("run", run.id())
                        .query(String.class)
                        .list())
                .containsExactly("E4", "E5", "E2", "E3");
    }

    @Test
    void aFirstCopyIsForecastNightByNight() throws Exception {
        register("E1", "f", "1");
        night.complete();
        register("E2", "f", "2");
        register("E3", "f", "3");
        // An estimate of 864 kB each at 10 B/s: ten days each.
        assertThat(night.update("update protection set bytes = 8640000, bytes_safe = 8640000"))
                .isEqualTo(1);
        night.get(SiteTimetables.class).set("dr", List.of("daily 00:00-24:00 10 B/s"), "test");

        Made made = forecasts().now(Sight.EVERYTHING, SITE);

        assertThat(made.outlook().safe().middle()).isZero();
        assertThat(Duration.between(
                        made.outlook().madeAt(), made.outlook().safeAt().middle()))
                .isBetween(Duration.ofDays(19), Duration.ofDays(21));
        assertThat(made.outlook().safeAt().high()).isNotNull();
        // The limit is what decides; only the sizes are uncertain.
        assertThat(made.nights()).hasSizeBetween(22, 40);
        assertThat(made.nights().get(10).safe().middle()).isEqualTo(1);
        assertThat(made.nights().get(20).safe().middle()).isEqualTo(2);
        assertThat(forecasts().now(Sight.of(Set.of("p")), SITE).nights()).isEmpty();
    }

    @Test
    void theHeadlineNamesWhatIsDeletedTooSoonWhileItsDayIsNotOver() throws Exception {
        register("E1", "f", "1");
        night.complete();
        LocalDate today = LocalDate.now(ZoneId.systemDefault());
        night.get(Scanners.class).put(new Scanner("MR7T", List.of(), 3), "test");
        register("E2", "f", "2");
        register("E3", "f", "3");
        acquired("E2", today.minusDays(3));
        acquired("E3", today);
        assertThat(headline().kind()).isEqualTo(Kind.WAITING);

        // E2 is deleted already. Nothing can be sent for a week, so E3 will be.
        String yesterday = today.minusDays(1).getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
        List<String> closed = Stream.of("mon", "tue", "wed", "thu", "fri", "sat", "sun")
                .filter(day -> !day.equals(yesterday.toLowerCase(Locale.ROOT)))
                .map(day -> day + " 00:00-24:00 closed")
                .toList();
        night.get(SiteTimetables.class).set("dr", closed, "test");

        Headline headline = headline();
        assertThat(headline.kind()).isEqualTo(Kind.DELETED_SOON);
        assertThat(headline.kind().ofData()).isFalse();
        assertThat(headline.sentence().arguments()).containsExactly(1L, "p/E3", 1L);
        assertThat(night.get(Headlines.class)
                        .of(Sight.of(Set.of("other")), headline.site())
                        .endangered())
                .isEmpty();
    }

    private Headline headline() {
        return night.get(Headlines.class).all(Sight.EVERYTHING).getFirst();
    }

    @Test
    void theWindowEndsWhenTheSiteCloses() throws Exception {
        register("E1", "f", "1");
        night.complete();
        register("E2", "f", "2");
        LocalTime now = LocalTime.now(ZoneId.systemDefault());
        String rule = "daily %s-%s closed".formatted(time(now.plusHours(2)), time(now.plusHours(4)));
        night.get(SiteTimetables.class).set("dr", List.of(rule), "test");

        assertThat(Duration.between(Instant.now(), now().untilAt()))
                .isBetween(Duration.ofMinutes(118), Duration.ofMinutes(121));

        String closed = "daily %s-%s closed".formatted(time(now.minusHours(1)), time(now.plusHours(3)));
        night.get(SiteTimetables.class).set("dr", List.of(closed), "test");
        Outlook waiting = now();
        // It opens in three hours, and closes again after 20.
        assertThat(Duration.between(Instant.now(), waiting.untilAt()))
                .isBetween(Duration.ofMinutes(22 * 60 + 58), Duration.ofMinutes(23 * 60 + 1));
        assertThat(Duration.between(Instant.now(), waiting.safeAt().low()))
                .isBetween(Duration.ofMinutes(178), Duration.ofMinutes(181));
    }

    @Test
    void aProjectWithMorePriorityComesMoreOften() throws Exception {
        night.get(Projects.class).create("q", "", "test");
        night.get(Projects.class).setPriority("q", 25, "test");
        register("E0", "f", "12345678");
        night.complete();
        for (String code : List.of("E1", "E2", "E3", "E4")) {
            register(code, "f", "12345678");
        }
        for (String code : List.of("F1", "F2", "F3", "F4")) {
            Night.write(source.resolve(code), Map.of("f", "12345678"));
            night.get(Experiments.class).register("q", code, "", source.resolve(code), "test");
        }

        assertThat(forecasts().now(Sight.EVERYTHING, SITE).lines())
                .extracting(Line::code)
                .containsExactly("F1", "F2", "E1", "F3", "F4", "E2", "E3", "E4");
    }

    @Test
    void aNightWithoutAnythingToSendAndARetryHaveNone() throws Exception {
        register("E1", "f", "1");
        night.complete();
        assertThat(forecasts().of(night.complete().id())).isEmpty();
        register("E2", "f", "2");
        FileSystemUtils.deleteRecursively(source.resolve("E2"));
        Run failed = night.run();
        assertThat(forecasts().of(failed.id())).isPresent();
        Night.write(source.resolve("E2"), Map.of("f", "2"));

        Run retry = night.await(night.operations().retry(failed.id(), "test"));

        assertThat(retry.state()).isEqualTo(RunState.COMPLETE);
        assertThat(forecasts().of(retry.id())).isEmpty();
    }

    private Forecasts forecasts() {
        return night.get(Forecasts.class);
    }

    private Outlook now() {
        return forecasts().now(Sight.EVERYTHING, SITE).outlook();
    }

    private List<Line> lines(Run run) {
        return forecasts().of(Sight.EVERYTHING, run.id()).orElseThrow().lines();
    }

    private void endWindow(Run run) {
        assertThat(night.jdbc()
                        .sql("update run_forecast set until_at = now() where run_id = :run")
                        .param("run", run.id())
                        .update())
                .isEqualTo(1);
    }

    private void register(String code, String file, String content) throws Exception {
        Path own = source.resolve(code);
        Night.write(own, Map.of(file, content));
        night.register(code, own);
    }

    private void acquired(String code, LocalDate day) {
        assertThat(night.jdbc()
                        .sql("update experiment set scanner = 'MR7T', acquired_on = :day where code = :code")
                        .param("day", day)
                        .param("code", code)
                        .update())
                .isEqualTo(1);
    }

    private static String time(LocalTime time) {
        return time.format(DateTimeFormatter.ofPattern("HH:mm"));
    }
}
