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

    /** More nights than a site can have in a day. */
    private static final int TIMES_MAX = 1_000;

    private final Timetable usual;
    private final SiteSchedules schedules;

    /**
     * When nights are due.
     *
     * @param schedule of the site; null: it follows the setting
     * @param since nothing before it was missed
     */
    public record NightTime(@Nullable SiteSchedule schedule, Timetable times, Instant since) {

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
        return first(nights(siteId), after);
    }

    /** Returns when such a night is due last in a time, of the first 1,000; empty: never. */
    public Optional<Instant> lastNight(int siteId, Instant from, Instant until) {
        return nights(siteId)
                .flatMap(each ->
                        times(each.times(), from).takeWhile(until::isAfter).reduce((_, later) -> later).stream())
                .max(Comparator.naturalOrder());
    }

    private Stream<NightTime> nights(int siteId) {
        List<NightTime> all = of(siteId);
        // Those of all experiments come first.
        boolean onlyParts = !all.getFirst().part().isWhole();
        return all.stream().filter(each -> onlyParts || each.part().isWhole());
    }

    private static Stream<Instant> times(Timetable times, Instant from) {
        return Stream.iterate(times.next(from.minusNanos(1)), Optional::isPresent, at -> at.flatMap(times::next))
                .limit(TIMES_MAX)
                .flatMap(Optional::stream);
    }

    /** Returns the time zone of all schedules. */
    public ZoneId zone() {
        return usual.zone();
    }

    private static Optional<Instant> first(Stream<NightTime> times, Instant after) {
        return times.flatMap(each -> each.times().next(after).stream()).min(Comparator.naturalOrder());
    }
}
