package dozo.doctor;

import dozo.file.Rate;
import dozo.file.Zoned;
import dozo.ledger.Ledger;
import dozo.plan.Hours.Step;
import dozo.registry.SiteSchedules;
import dozo.registry.SiteTimetable;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.NightTimes;
import dozo.run.ScrubSettings;
import dozo.run.SiteHours;
import dozo.run.Timetable;
import dozo.schedule.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/** When nights begin, how long they may last and how fast they may be, and whether that is enough. */
final class ScheduleCheck {

    private static final String ABOUT = "schedule";

    private static final Duration WEEK = Duration.ofDays(7);

    /** One hour a night. */
    private static final Duration OPEN_MIN = Duration.ofHours(7);

    /** An experiment of 100 GB needs more than a day. */
    private static final double BYTES_PER_SECOND_MIN = 1_000_000;

    private ScheduleCheck() {}

    static List<Result> look(ScheduleSettings settings, Installation installation) throws InterruptedException {
        Timetable usual = Timetable.of(settings.cron(), settings.zone());
        List<Result> results = new ArrayList<>();
        results.add(zone(settings.zone(), usual.zone()));
        if (installation
                .settings(ScrubSettings.class)
                .filter(scrub -> scrub.reading().isEmpty())
                .isPresent()) {
            results.add(Result.hint(
                    ABOUT,
                    "DOZO_SCRUB_WINDOW is -, so stored copies are never read again",
                    "Set DOZO_SCRUB_WINDOW to hours of the day, such as 20:00-06:00."));
        }
        Optional<JdbcClient> catalogue = installation.catalogue();
        if (catalogue.isPresent()) {
            results.addAll(sites(catalogue.get(), usual, installation));
        } else if (usual.cron() == null) {
            results.add(Result.hint(
                    ABOUT,
                    "DOZO_SCHEDULE_CRON is -, so nights begin only at sites with schedules of their own",
                    "Set DOZO_SCHEDULE_CRON, such as 0 0 1 * * * for one o'clock every night."));
        }
        return results;
    }

    private static Result zone(String set, ZoneId zone) {
        return set.isBlank() && zone.normalized().equals(ZoneOffset.UTC)
                ? Result.hint(
                        "time zone",
                        "the machine's, %s, holds for all times of day".formatted(zone),
                        "Set DOZO_SCHEDULE_ZONE to that of the people who use Dozo, such as Asia/Tokyo.")
                : Result.ok("time zone", zone.toString());
    }

    private static List<Result> sites(JdbcClient jdbc, Timetable usual, Installation installation) {
        Ledger ledger = new Ledger(jdbc, installation.clock());
        Sites sites = new Sites(jdbc, ledger, installation.clock());
        NightTimes nights = new NightTimes(usual, new SiteSchedules(jdbc, sites, ledger, installation.clock()));
        SiteTimetables timetables = new SiteTimetables(jdbc, sites, ledger);
        List<Result> results = new ArrayList<>();
        for (Site site : sites.all()) {
            Instant now = installation.clock().instant();
            results.add(nights.next(site.id(), now)
                    .map(next -> Result.ok(
                            ABOUT, "the next night to site %s is due at %s".formatted(site.name(), Zoned.text(next))))
                    .orElseGet(() -> Result.hint(
                            ABOUT,
                            "no night to site %s is ever due".formatted(site.name()),
                            "Set DOZO_SCHEDULE_CRON, or a schedule of the site: dozo site schedule %s \"0 0 1 * * *\"."
                                    .formatted(site.name()))));
            results.addAll(window(site, timetables.of(site.id()), now, usual.zone()));
            results.addAll(forecast(jdbc, site));
        }
        return results;
    }

    private static List<Result> window(Site site, SiteTimetable timetable, Instant now, ZoneId zone) {
        Instant end = now.plus(WEEK);
        List<Step> steps = SiteHours.ahead(timetable, now.atZone(zone), end);
        Duration open = Duration.ZERO;
        double fastest = 0;
        for (int i = 0; i < steps.size(); i++) {
            Instant until = i + 1 < steps.size() ? steps.get(i + 1).from() : end;
            if (steps.get(i).bytesPerSecondMax() > 0) {
                open = open.plus(Duration.between(steps.get(i).from(), until));
            }
            fastest = Math.max(fastest, steps.get(i).bytesPerSecondMax());
        }
        String cure = "Change it: dozo site timetable %s.".formatted(site.name());
        List<Result> results = new ArrayList<>();
        if (open.compareTo(OPEN_MIN) < 0) {
            results.add(Result.warning(
                    ABOUT,
                    "the timetable of site %s opens it for only %d minutes a week"
                            .formatted(site.name(), open.toMinutes()),
                    cure));
        }
        if (fastest < BYTES_PER_SECOND_MIN) {
            results.add(Result.warning(
                    ABOUT,
                    "the timetable of site %s never allows more than %s"
                            .formatted(site.name(), Rate.text((long) fastest)),
                    cure));
        }
        return results;
    }

    /** Compares the last night's forecast with its window. */
    private static List<Result> forecast(JdbcClient jdbc, Site site) {
        return jdbc.sql("""
                        select run_id, experiments
                        from (select run_id, f.experiments, f.safe_middle
                              from run_forecast f join run r using (run_id)
                              where r.site_id = :site order by run_id desc limit 1) as last
                        where safe_middle is null
                        """)
                .param("site", site.id())
                .query((row, n) -> Result.warning(
                        ABOUT,
                        "by the forecast of run %d, %,d experiments are not all safe at site %s within a year"
                                .formatted(row.getLong("run_id"), row.getInt("experiments"), site.name()),
                        "Allow longer windows or higher limits: dozo site timetable %s; dozo forecast has details."
                                .formatted(site.name())))
                .list();
    }
}
