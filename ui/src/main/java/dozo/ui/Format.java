package dozo.ui;

import dozo.file.Size;
import dozo.transfer.TransferUnits.Progress;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How pages write sizes, numbers, times and shares: the same everywhere. */
public record Format(ZoneId zone) {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm", Locale.ROOT);

    public String size(long bytes) {
        return Size.text(bytes);
    }

    public String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    public String time(@Nullable Instant time) {
        return time == null ? "–" : TIME.format(time.atZone(zone));
    }

    /** Hours, minutes and seconds. */
    public String duration(Instant from, Instant until) {
        Duration took = Duration.between(from, until);
        return "%d:%02d:%02d".formatted(took.toHours(), took.toMinutesPart(), took.toSecondsPart());
    }

    /** What is safe in percent, by bytes. 100 only if all is safe; of nothing, nothing is. */
    public int share(long bytesSafe, long bytes, boolean safe) {
        if (safe) {
            return 100;
        }
        return bytes == 0 ? 0 : (int) Math.min(99, 100.0 * bytesSafe / bytes);
    }

    /** How far a run is, in percent. */
    public int share(Progress progress) {
        return share(
                progress.bytesDone(),
                progress.bytes(),
                progress.units() > 0 && progress.units() == progress.unitsDone());
    }
}
