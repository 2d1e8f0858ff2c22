package dozo.command;

import dozo.copy.Copy;
import dozo.file.Digest;
import dozo.plan.Measurement;
import dozo.plan.Work;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long earlier copies took, for forecasts: a file among the user's caches. Nothing else depends on it, so a file that
 * cannot be read or written, or has foreign lines, is no error.
 */
final class EarlierCopies {

    static final int KEPT_MAX = 20;
    static final int LINES_MAX = 400;

    /** The start takes most of a shorter copy. */
    private static final Duration SHORTEST = Duration.ofSeconds(2);

    private static final Pattern LINE =
            Pattern.compile("([0-9a-f]{16}) ([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,8}\\.[0-9]{3})");

    private final Path file;
    private final Duration shortest;

    EarlierCopies(Path folder, Duration shortest) {
        this.file = folder.resolve("earlier-copies");
        this.shortest = shortest;
    }

    /** Returns those whose file is in this folder. */
    static EarlierCopies in(Path folder) {
        return new EarlierCopies(folder, SHORTEST);
    }

    /** Returns what identifies copies that are alike: the same site and direction, with the same options. */
    static String way(SiteAddress site, String direction, Copy.Options options) {
        MessageDigest digest = Digest.algorithm();
        digest.update("%s %s %s %d %d %s"
                .formatted(direction, site, site.way().jump(), site.way().dscp(), options.lanes(), options.sftpAlone())
                .getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    /** Stores the duration of a copy that moved all of this. */
    void add(String way, Work work, double seconds) {
        if (work.bytes() == 0 || seconds < shortest.toMillis() / 1e3) {
            return;
        }
        String line = "%s %d %d %s%n".formatted(way, work.bytes(), work.entries(), decimal(seconds));
        try {
            Files.createDirectories(file.getParent());
            List<String> lines = lines();
            if (lines.size() >= LINES_MAX) {
                // NB: what another copy adds at this moment is lost, which does no harm.
                Path fresh = Files.createTempFile(file.getParent(), "earlier-copies", ".new");
                Files.write(fresh, lines.subList(lines.size() - LINES_MAX / 2, lines.size()));
                Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            }
            Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            // The copy itself is complete, and only a later forecast knows less.
        }
    }

    /** Returns the latest copies of this way, the oldest first. */
    List<Measurement> of(String way) {
        List<Measurement> found = new ArrayList<>();
        try {
            for (String line : lines()) {
                Matcher parts = LINE.matcher(line);
                if (parts.matches() && parts.group(1).equals(way)) {
                    found.add(measurement(parts));
                }
            }
        } catch (IOException e) {
            // As if there were none.
        }
        return found.subList(Math.max(0, found.size() - KEPT_MAX), found.size());
    }

    private static Measurement measurement(Matcher parts) {
        Work work = new Work(Long.parseLong(parts.group(2)), Math.max(1, Long.parseLong(parts.group(3))));
        return new Measurement(work, 1, Math.max(0.001, Double.parseDouble(parts.group(4))));
    }

    private List<String> lines() throws IOException {
        return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.ISO_8859_1) : List.of();
    }

    private static String decimal(double seconds) {
        return "%d.%03d".formatted((long) seconds, (long) (seconds % 1 * 1_000));
    }
}
