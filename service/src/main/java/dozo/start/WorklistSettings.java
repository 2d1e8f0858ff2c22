package dozo.start;

import dozo.ledger.Ledger;
import dozo.setting.Setting;
import dozo.setting.Setting.Secret;
import dozo.setting.WrongSetting;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.Bookings;
import dozo.worklist.Gaps;
import dozo.worklist.Lateness;
import dozo.worklist.Worklist;
import dozo.worklist.WorklistReadings;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.function.Supplier;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.transaction.PlatformTransactionManager;

/** Where the booking system's worklist is read, and when a visit is late. */
@ConfigurationProperties("dozo.worklist")
public record WorklistSettings(
        @Setting(
                value = "the Orthanc through which the modality worklist is read",
                allowed = "an address such as http://127.0.0.1:8042",
                empty = "no worklist is read")
        @DefaultValue("")
        String url,

        @Setting(
                value = "the name of the worklist server in that Orthanc's `DicomModalities`",
                allowed = "a name of 1 to 64 letters, digits, - and _")
        @DefaultValue("worklist")
        String server,

        @Setting(value = "the user for Orthanc", allowed = "a name", empty = "Orthanc needs none") @DefaultValue("")
        String user,

        @Setting(
                value = "the password for Orthanc",
                allowed = SecretFile.ALLOWED,
                empty = "not set",
                secret = Secret.IN_FILE)
        @DefaultValue("")
        String passwordFile,

        @Setting(
                value = "when the worklist is read automatically",
                allowed = "second, minute, hour, day, month and weekday, such as 0 10 * * * * for ten past every"
                        + " hour, or - for never")
        @DefaultValue("0 10 * * * *")
        String cron,

        @Setting(
                value = "the number of days after today to read, in addition to yesterday and today",
                min = "1",
                max = "365")
        @DefaultValue("14")
        int daysAhead,

        @Setting(
                value = "how long after its booked time a visit without any data counts as never scanned; data that"
                        + " arrives later is late",
                min = "1m",
                max = "60d")
        @DefaultValue("24h")
        Duration lateAfter) {

    public WorklistSettings {
        WrongSetting.unless(url.isEmpty() || Settings.isAddress(url, "https?"), "url");
        WrongSetting.unless(cron.strip().equals("-") || CronExpression.isValidExpression(cron), "cron");
        WrongSetting.unless(server.matches("[A-Za-z0-9_-]{1,64}"), "server");
    }

    @Configuration
    static class Made {

        @Bean
        Bookings bookings(
                JdbcClient jdbc,
                Ledger ledger,
                PseudonymousCode codes,
                InstantSource clock,
                PlatformTransactionManager transactions) {
            return new Bookings(jdbc, ledger, codes, clock, transactions);
        }

        @Bean
        Gaps gaps(JdbcClient jdbc, WorklistSettings settings, ZoneId zone) {
            return new Gaps(jdbc, new Lateness(settings.lateAfter, zone));
        }

        @Bean
        Worklist worklist(WorklistSettings settings, Bookings bookings, PseudonymousCode codes) {
            return new Worklist(
                    new Worklist.Address(
                            settings.url.isEmpty() ? null : URI.create(settings.url),
                            settings.server,
                            settings.user,
                            password(settings)),
                    bookings,
                    codes);
        }

        @Bean
        WorklistReadings worklistReadings(
                JdbcClient jdbc, Worklist worklist, WorklistSettings settings, InstantSource clock, ZoneId zone) {
            return new WorklistReadings(jdbc, worklist, settings.daysAhead, clock, zone);
        }

        private static Supplier<String> password(WorklistSettings settings) {
            try {
                return settings.passwordFile.isEmpty() ? () -> "" : SecretFile.followed(settings.passwordFile);
            } catch (IllegalArgumentException e) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION, "the password for Orthanc %s".formatted(e.getMessage()), e);
            }
        }
    }
}
