package dozo.command;

import dozo.file.Zoned;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Formats times for people. Programs get them in ISO form, in UTC, from {@code --json} and {@code --csv}. */
final class Times {

    private Times() {}

    /** Returns a time in this machine's zone, such as 2026-10-02 00:00:00 +09:00; "-" for null. */
    static String text(@Nullable Instant time) {
        return time == null ? "-" : Zoned.text(time);
    }

    /** Returns it without seconds. */
    static String minute(Instant time) {
        return text(time).replaceFirst(":\\d\\d ", " ");
    }

    /** Returns its day in this machine's zone. */
    static String day(Instant time) {
        return text(time).substring(0, 10);
    }
}
