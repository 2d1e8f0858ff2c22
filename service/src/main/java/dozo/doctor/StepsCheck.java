package dozo.doctor;

import dozo.ledger.Ledger;
import dozo.record.RecoverySettings;
import dozo.registry.SiteSchedules;
import dozo.registry.Sites;
import dozo.run.FirstSteps;
import dozo.run.FirstSteps.FirstStep;
import dozo.run.NightTimes;
import dozo.run.Timetable;
import dozo.schedule.ScheduleSettings;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/** First steps that are neither done nor dismissed. */
final class StepsCheck {

    private StepsCheck() {}

    static List<Result> look(ScheduleSettings settings, Installation installation) throws InterruptedException {
        Optional<JdbcClient> catalogue = installation.catalogue();
        Optional<RecoverySettings> recovery = installation.settings(RecoverySettings.class);
        if (catalogue.isEmpty() || recovery.isEmpty()) {
            return List.of();
        }
        JdbcClient jdbc = catalogue.get();
        InstantSource clock = installation.clock();
        Ledger ledger = new Ledger(jdbc, clock);
        Sites sites = new Sites(jdbc, ledger, clock);
        NightTimes nights = new NightTimes(
                Timetable.of(settings.cron(), settings.zone()), new SiteSchedules(jdbc, sites, ledger, clock));
        return new FirstSteps(jdbc, sites, nights, recovery.get(), ledger, clock)
                .all().stream()
                        .filter(FirstStep::open)
                        .map(step -> Result.warning(
                                "first steps",
                                step.sentence().toString(),
                                "%s If it is not needed: dozo step dismiss %s --reason TEXT."
                                        .formatted(step.cure(), step.step().word())))
                        .toList();
    }
}
