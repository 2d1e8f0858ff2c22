package dozo.schedule;

import dozo.ui.Nights;
import java.time.ZoneId;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The timetable, and the time zone that people here live in. */
@Configuration
class ScheduleSettings {

    @Bean
    Timetable timetable(@Value("${dozo.schedule.cron}") String cron, @Value("${dozo.schedule.zone}") String zone) {
        return Timetable.of(cron, zone);
    }

    /** In which pages show times. */
    @Bean
    ZoneId zone(Timetable timetable) {
        return timetable.zone();
    }

    /** What pages tell of the next night. */
    @Bean
    Nights nights(Timetable timetable) {
        return new Nights(timetable::next);
    }
}
