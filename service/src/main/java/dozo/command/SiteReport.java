package dozo.command;

import dozo.file.Size;
import dozo.registry.Capacity;
import dozo.remote.KeyPowers;
import dozo.remote.KeyPowers.Power;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Prints what is known of a site. */
final class SiteReport {

    private SiteReport() {}

    /** Prints what a site can do. */
    static void capabilities(
            PrintWriter out,
            String server,
            String digest,
            double digestBytesPerSecond,
            boolean syncsAtOnce,
            boolean unpacksTar,
            boolean linksFiles,
            @Nullable String cacheTool,
            boolean namesAreBytes,
            @Nullable Long clockAheadSeconds,
            KeyPowers key) {
        out.println("  server   " + Connection.visible(server));
        out.println("  digests  "
                + Connection.visible(digest)
                + (digestBytesPerSecond > 0
                        ? ", %s/s from memory".formatted(Size.text((long) digestBytesPerSecond))
                        : ""));
        out.println("  way in   " + (unpacksTar && syncsAtOnce ? "archives into tar, and SFTP" : "SFTP"));
        out.println(
                "  links    " + (linksFiles ? "hard links, each file once" : "each hard link as a file of its own"));
        out.println("  sync     " + (syncsAtOnce ? "by one command" : "file by file"));
        out.println("  reads    " + (cacheTool == null ? "warm" : "cold, by " + Connection.visible(cacheTool)));
        out.println("  names    " + (namesAreBytes ? "any bytes" : "UTF-8 only"));
        if (clockAheadSeconds != null) {
            out.println("  clock    %+d s".formatted(clockAheadSeconds));
        }
        out.println("  thief    with the key could: %s; could not: %s; unknown: %s"
                .formatted(words(key.could()), words(key.couldNot()), words(key.unknown())));
    }

    private static String words(Set<Power> powers) {
        return powers.isEmpty()
                ? "nothing"
                : powers.stream()
                        .map(power -> power.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", "));
    }

    /** Prints how full it is, and when it will be. */
    static void capacity(PrintWriter out, Capacity capacity) {
        out.println("  capacity %d %% full, %s of %s free, seen %s"
                .formatted(
                        capacity.percentFull(),
                        Size.text(capacity.freeBytes()),
                        Size.text(capacity.totalBytes()),
                        Times.text(capacity.seenAt())));
        String rate = Size.text(capacity.bytesPerDay() == null ? 0 : capacity.bytesPerDay());
        out.println("  full     "
                + switch (capacity.outlook()) {
                    case FILLING -> "about %.10s, at %s a day".formatted(capacity.fullAt(), rate);
                    case FULL -> "now";
                    case FAR -> "in more than 10 years, at %s a day".formatted(rate);
                    case NOT_FILLING -> "unknown: free space has not decreased in the last 4 weeks";
                    case TOO_LITTLE_KNOWN -> "unknown: checked on too few days of the last 4 weeks";
                });
    }
}
