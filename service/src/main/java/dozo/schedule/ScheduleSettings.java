package dozo.schedule;

import dozo.run.Timetable;
import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import java.time.ZoneId;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** When the nightly backup starts at sites without schedules of their own, and the local time zone. */
@ConfigurationProperties("dozo.schedule")
public record ScheduleSettings(
        @Setting(
                value = "when the nightly backup starts, at sites without schedules of their own",
                allowed = "second, minute, hour, day, month and weekday, such as 0 0 1 * * * for one o'clock every"
                        + " night, or - for never")
        @DefaultValue("0 0 1 * * *")
        String cron,

        @Setting(
                value = "the time zone of all times of day, in settings and on pages",
                allowed = "a time zone's name such as Asia/Tokyo",
                empty = "the machine's time zone",
                agree = Agree.SERVICES_AND_WORKERS)
        @DefaultValue("")
        String zone) {

    public ScheduleSettings {
        Timetable.of(cron, zone);
    }

    @Configuration
    static class Made {

        @Bean
        Timetable timetable(ScheduleSettings settings) {
            return Timetable.of(settings.cron(), settings.zone());
        }

        /** The time zone in which pages show times. */
        @Bean
        ZoneId zone(Timetable timetable) {
            return timetable.zone();
        }
    }
}
