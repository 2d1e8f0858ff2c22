package dozo.drill;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.WrongSetting;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.unit.DataSize;

/** When restores are rehearsed, within what time each project must be, and with how much data. */
@ConfigurationProperties("dozo.drill")
public record DrillSettings(
        @Setting(
                value = "when drills start",
                allowed = "second, minute, hour, day, month and weekday, such as 0 0 12 * * * for noon every day, or"
                        + " - for never")
        @DefaultValue("0 0 12 * * *")
        String cron,

        @Setting(
                value = "the number of days within which each project must be rehearsed; an administrator can give a"
                        + " project another one",
                min = "1",
                max = "3660")
        @DefaultValue("90")
        int days,

        @Setting(
                value = "the maximum size of a drill: of a larger experiment, a part is restored",
                min = "1MB",
                max = "100TB")
        @DefaultValue("10GB")
        DataSize size,

        @Setting(
                value = "the folder below which drills restore, in a new folder each, which they remove. It must"
                        + " belong to the service's user",
                allowed = "an absolute path",
                empty = "`drills` below `DOZO_WORK`",
                agree = Agree.NOBODY)
        @DefaultValue("")
        String folder,

        @Setting(
                value = "when each site is drilled without the recovery key",
                allowed = "second, minute, hour, day, month and weekday, or - for never")
        @DefaultValue("0 0 13 1 * *")
        String siteCron,

        @Setting(
                value =
                        "the number of days within which somebody must drill each site with the recovery key; 0: not asked for",
                min = "0",
                max = "3660")
        @DefaultValue("0")
        int siteDays,

        @Setting(
                value = "the promised time for rebuilding the catalogue and restoring everything from a site; 0s: none",
                min = "0s",
                max = "3660d")
        @DefaultValue("0s")
        Duration rto) {

    public DrillSettings {
        WrongSetting.unless(isSchedule(cron), "cron");
        WrongSetting.unless(isSchedule(siteCron), "siteCron");
        if (!folder.isEmpty() && !isAbsolute(folder)) {
            throw new WrongSetting("folder");
        }
    }

    private static boolean isSchedule(String cron) {
        return cron.strip().equals("-") || CronExpression.isValidExpression(cron);
    }

    private static boolean isAbsolute(String folder) {
        try {
            return Path.of(folder).isAbsolute();
        } catch (InvalidPathException e) {
            return false;
        }
    }
}
