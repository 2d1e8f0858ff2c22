package dozo.registry;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.support.CronExpression;

/**
 * When nights to a site begin: {@code 0 0 20 * * MON-FRI} for all experiments, {@code project P001: 0 0 12 * * *} for those of a
 * project, {@code origin pacs: 0 30 * * * *} for those that were collected from an origin.
 *
 * @param cron second, minute, hour, day, month and weekday
 */
public record SiteSchedule(Part part, CronExpression cron) {

    private static final int CHARACTERS_MAX = 200;

    private static final Pattern FORM =
            Pattern.compile("(?:(project|origin) +([A-Za-z0-9][A-Za-z0-9_-]{0,63}) *: *)?([^:]+)");

    /**
     * Parses a schedule.
     *
     * @throws Refusal if it has another form
     */
    static SiteSchedule of(String typed) {
        Matcher parts = FORM.matcher(typed.strip());
        if (!parts.matches()) {
            throw malformed(typed);
        }
        return new SiteSchedule(part(parts.group(1), parts.group(2)), cron(typed, parts.group(3)));
    }

    /** Returns a stored schedule. */
    static SiteSchedule of(Part part, String cron) {
        return new SiteSchedule(part, CronExpression.parse(cron));
    }

    private static Part part(@Nullable String kind, @Nullable String name) {
        if (kind == null || name == null) {
            return Part.WHOLE;
        }
        return kind.equals("project") ? Part.ofProject(name) : Part.ofOrigin(name);
    }

    private static CronExpression cron(String typed, String cron) {
        String text = cron.strip().replaceAll("\\s+", " ").toUpperCase(Locale.ROOT);
        if (text.length() > CHARACTERS_MAX) {
            throw malformed(typed);
        }
        try {
            return CronExpression.parse(text);
        } catch (IllegalArgumentException e) {
            throw malformed(typed);
        }
    }

    private static Refusal malformed(String typed) {
        return new Refusal(
                "schedules",
                "\"%s\": expected second, minute, hour, day, month and weekday, such as 0 0 20 * * MON-FRI, or project P001: 0 0 20 * * *",
                typed.strip());
    }

    /** Returns it as {@link #of} accepts it, in one form whatever was typed. */
    public String text() {
        return part.isWhole() ? cron.toString() : part.text() + ": " + cron;
    }

    static String text(List<SiteSchedule> all) {
        return String.join("; ", all.stream().map(SiteSchedule::text).toList());
    }
}
