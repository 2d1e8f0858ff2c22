package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.drill.DrillPromises;
import dozo.ledger.Coverage;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.registry.ExperimentSearch;
import dozo.registry.RiskSettings;
import dozo.registry.SiteSchedules;
import dozo.registry.Sites;
import dozo.remote.SiteAddress;
import dozo.run.Headlines.Headline;
import dozo.run.Headlines.Kind;
import dozo.verify.Losses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the first sentence is about when no data is at risk; the service's tests have the other cases. */
class HeadlinesTest {

    private static final String EVERY_NIGHT = "0 0 1 * * *";

    @TempDir
    Path folder;

    @Test
    void nightsThatDoNotStartAreSaidAfterSomeDays() throws Exception {
        SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
        try (Night night = Night.on(nowhere)) {
            assertThat(headline(night, "-", 10).kind()).isEqualTo(Kind.NONE);

            night.register("E1", Files.createDirectory(folder.resolve("source")));
            assertThat(headline(night, "-", 0).kind()).isEqualTo(Kind.NO_NIGHT);
            assertThat(headline(night, EVERY_NIGHT, 2).kind()).isEqualTo(Kind.WAITING);
            assertThat(headline(night, EVERY_NIGHT, 4).kind()).isEqualTo(Kind.OLD_NIGHT);
            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now(), now())
                    """);

            assertThat(headline(night, "-", 2).kind()).isEqualTo(Kind.WAITING);
            assertThat(headline(night, EVERY_NIGHT, 2).kind()).isEqualTo(Kind.WAITING);
            assertThat(headline(night, "-", 4))
                    .satisfies(late -> assertThat(late.kind()).isEqualTo(Kind.NO_NIGHT))
                    .satisfies(late -> assertThat(late.nextNight()).isNull());
            assertThat(headline(night, EVERY_NIGHT, 4))
                    .satisfies(late -> assertThat(late.kind()).isEqualTo(Kind.OLD_NIGHT))
                    .satisfies(late -> assertThat(late.nextNight()).isAfter(Instant.now()));
        }
    }

    @Test
    void aNightOfAPartDoesNotHideThatNightsDoNotStartUnlessTheSiteHasNoOthers() throws Exception {
        SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
        try (Night night = Night.on(nowhere)) {
            night.register("E1", Files.createDirectory(folder.resolve("source")));
            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at, part_project_id)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now() + interval '3 days', now() + interval '3 days', 1)
                    """);
            assertThat(headline(night, EVERY_NIGHT, 4).kind()).isEqualTo(Kind.OLD_NIGHT);

            night.get(SiteSchedules.class).set("dr", List.of("project p: 0 0 12 1 * *"), "test");
            assertThat(headline(night, EVERY_NIGHT, 4))
                    .satisfies(only -> assertThat(only.kind()).isEqualTo(Kind.WAITING))
                    .satisfies(only -> assertThat(
                                    only.nextNight().atZone(ZoneOffset.UTC).getDayOfMonth())
                            .isEqualTo(1));

            night.get(SiteSchedules.class).set("dr", List.of("project p: 0 0 12 1 * *", "0 0 12 2 * *"), "test");
            assertThat(headline(night, EVERY_NIGHT, 4))
                    .satisfies(late -> assertThat(late.kind()).isEqualTo(Kind.OLD_NIGHT))
                    .satisfies(late -> assertThat(
                                    late.nextNight().atZone(ZoneOffset.UTC).getDayOfMonth())
                            .isEqualTo(2));
        }
    }

    @Test
    void aRunThatStartedInTheFutureIsSaidAndHidesNothing() throws Exception {
        SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
        try (Night night = Night.on(nowhere)) {
            night.register("E1", Files.createDirectory(folder.resolve("source")));
            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now() + interval '1 year', now())
                    """);

            assertThat(headline(night, EVERY_NIGHT, 4).kinds()).startsWith(Kind.CLOCK_SET_BACK, Kind.OLD_NIGHT);
            assertThat(headline(night, "-", 4).kinds()).startsWith(Kind.CLOCK_SET_BACK, Kind.NO_NIGHT);

            night.update("""
                    insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                    values ('nightlyBackup', 1, 'COMPLETE', 'x', now(), now())
                    """);
            assertThat(headline(night, EVERY_NIGHT, 2).kind()).isEqualTo(Kind.WAITING);
        }
    }

    /** Returns the headline of the only site some days from now. */
    private static Headline headline(Night night, String cron, int days) {
        List<Headline> all = new Headlines(
                        night.get(Sites.class),
                        night.get(Coverage.class),
                        night.get(Losses.class),
                        night.get(ExperimentSearch.class),
                        night.get(Findings.class),
                        night.get(Freezes.class),
                        night.get(Promises.class),
                        night.get(DrillPromises.class),
                        night.get(RunTimes.class),
                        night.get(Forecasts.class),
                        new NightTimes(Timetable.of(cron, "UTC"), night.get(SiteSchedules.class)),
                        new RiskSettings(Duration.ofDays(3)),
                        () -> Instant.now().plus(Duration.ofDays(days)))
                .all(Sight.EVERYTHING);
        assertThat(all).hasSize(1);
        return all.getFirst();
    }
}
