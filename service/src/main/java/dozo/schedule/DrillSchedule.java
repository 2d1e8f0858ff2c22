package dozo.schedule;

import dozo.db.ActiveService;
import dozo.drill.DrillSettings;
import dozo.drill.Rehearsals;
import dozo.drill.SiteLossDrill;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.run.Timetable;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Requests drills at their times. The database knows the last ones, so a missed time is made up for once after the
 * start. They wait in the queue of restores until no backup runs.
 */
@Component
class DrillSchedule {

    private final Timetable timetable;
    private final Timetable ofSites;
    private final Rehearsals rehearsals;
    private final SiteLossDrill siteLoss;
    private final Experiments experiments;
    private final ActiveService active;
    private final InstantSource clock;

    /** When drills were last due, also if no project needed one. */
    private @Nullable Instant looked;

    /** When drills of sites were last due. A time that is missed while the service does not run is left out. */
    private Instant lookedAtSites;

    DrillSchedule(
            DrillSettings settings,
            Rehearsals rehearsals,
            SiteLossDrill siteLoss,
            Experiments experiments,
            ActiveService active,
            InstantSource clock,
            ZoneId zone) {
        this.timetable = Timetable.of(settings.cron(), zone.getId());
        this.ofSites = Timetable.of(settings.siteCron(), zone.getId());
        this.rehearsals = rehearsals;
        this.siteLoss = siteLoss;
        this.experiments = experiments;
        this.active = active;
        this.clock = clock;
        this.lookedAtSites = clock.instant();
    }

    /** Requests a drill of each site if they are due. */
    @Scheduled(initialDelay = 20_000, fixedDelay = 15_000)
    synchronized void lookAtSites() {
        Instant now = clock.instant();
        if (active.isHere() && ofSites.cron() != null && ofSites.due(lookedAtSites, now)) {
            siteLoss.requestAll();
            lookedAtSites = now;
        }
    }

    /** Requests drills if they are due. */
    @Scheduled(initialDelay = 20_000, fixedDelay = 15_000)
    synchronized void look() {
        Instant now = clock.instant();
        if (active.isHere()
                && timetable.cron() != null
                && last(now).filter(last -> timetable.due(last, now)).isPresent()) {
            rehearsals.requestDue();
            // NB: only now, so that the next look repeats one that failed.
            looked = now;
        }
    }

    /** Returns when drills were last due. Times in the future are of before the clock was set back. */
    private Optional<Instant> last(Instant now) {
        return Stream.of(Optional.ofNullable(looked), rehearsals.lastScheduled(), firstRegistration())
                .flatMap(Optional::stream)
                .filter(at -> !at.isAfter(now))
                .max(Comparator.naturalOrder());
    }

    private Optional<Instant> firstRegistration() {
        return experiments.page(0, 1).stream().map(Experiment::registeredAt).findFirst();
    }
}
