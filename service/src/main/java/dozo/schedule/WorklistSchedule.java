package dozo.schedule;

import dozo.db.ActiveService;
import dozo.run.Timetable;
import dozo.start.WorklistSettings;
import dozo.worklist.WorklistReadings;
import dozo.worklist.WorklistReadings.Reading;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.Optional;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Reads the worklist at its times, if one is configured. The database knows the last attempt, so a missed time is made
 * up for once after the start.
 */
@Component
class WorklistSchedule {

    private final Timetable timetable;
    private final WorklistReadings readings;
    private final ActiveService active;
    private final InstantSource clock;

    WorklistSchedule(
            WorklistSettings settings,
            WorklistReadings readings,
            ActiveService active,
            InstantSource clock,
            ZoneId zone) {
        this.timetable = Timetable.of(settings.cron(), zone.getId());
        this.readings = readings;
        this.active = active;
        this.clock = clock;
    }

    /** Reads the worklist if that is due. NB: this takes up to a minute, on one of the scheduler's two threads. */
    @Scheduled(initialDelay = 20_000, fixedDelay = 15_000)
    void look() {
        if (!active.isHere() || !readings.isThere() || timetable.cron() == null) {
            return;
        }
        Optional<Instant> last = readings.last().map(Reading::triedAt);
        if (last.isEmpty() || timetable.due(last.get(), clock.instant())) {
            readings.read();
        }
    }
}
