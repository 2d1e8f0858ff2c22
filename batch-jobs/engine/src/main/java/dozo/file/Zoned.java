package dozo.file;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times in sentences for people. Programs get theirs from fields, in UTC. */
public final class Zoned {

    private static final DateTimeFormatter FORMAT =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss xxx", Locale.ROOT).withZone(ZoneId.systemDefault());

    private Zoned() {}

    /** Returns a time in this machine's zone to the second, such as 2026-10-02 00:00:00 +09:00. */
    public static String text(Instant time) {
        return FORMAT.format(time);
    }
}
