package dozo.run;

import dozo.registry.Part;
import dozo.registry.SiteSchedule;
import dozo.registry.SiteSchedules;
import dozo.registry.SiteSchedules.KeptSchedule;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** When nights are due at each site: by its own schedules, or by the setting if it has none (ADR 0078). */
@Component
public class NightTimes {

    private final Timetable usual;
    private final SiteSchedules schedules;

    /**
     * When nights are due.
     *
     * @param schedule of the site; null: it follows the setting
     * @param since nothing before it was missed
     */
    public record NightTime(@Nullable SiteSchedule schedule, Timetable times, Instant since) {

        /** Returns the experiments of its nights. */
        public Part part() {
            return schedule == null ? Part.WHOLE : schedule.part();
        }
    }

    public NightTimes(Timetable usual, SiteSchedules schedules) {
        this.usual = usual;
        this.schedules = schedules;
    }

    /** Returns when nights are due at a site, those of all experiments first. */
    public List<NightTime> of(int siteId) {
        List<KeptSchedule> own = schedules.of(siteId);
        return own.isEmpty()
                ? List.of(new NightTime(null, usual, Instant.EPOCH))
                : own.stream()
                        .map(each -> new NightTime(
                                each.schedule(), new Timetable(each.schedule().cron(), usual.zone()), each.since()))
                        .toList();
    }

    /** Returns when a night of all or of a part is due next at a site; empty: never. */
    public Optional<Instant> next(int siteId, Instant after) {
        return first(of(siteId).stream(), after);
    }

    /**
     * Returns when a night of all experiments is due next at a site; empty: never. At a site that has only nights of parts, when
     * one of those is.
     */
    public Optional<Instant> nextNight(int siteId, Instant after) {
        List<NightTime> all = of(siteId);
        // Those of all experiments come first.
        boolean onlyParts = !all.getFirst().part().isWhole();
        return first(all.stream().filter(each -> onlyParts || each.part().isWhole()), after);
    }

    /** Returns the time zone of all schedules. */
    public ZoneId zone() {
        return usual.zone();
    }

    private static Optional<Instant> first(Stream<NightTime> times, Instant after) {
        return times.flatMap(each -> each.times().next(after).stream()).min(Comparator.naturalOrder());
    }
}
