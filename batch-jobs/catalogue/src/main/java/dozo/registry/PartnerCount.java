package dozo.registry;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the guard of our site has counted of a partner's copies. Whoever has the partner's account can write it.
 *
 * @param usedBytes each file, folder and link with 4 KiB, and a file also with its size
 * @param countedAt when everything was last counted anew
 * @param quotaBytes by which the guard went at its last change
 */
public record PartnerCount(long usedBytes, Instant countedAt, long quotaBytes, List<Contact> contacts) {

    private static final int LENGTH_MAX = 4_096;
    private static final Pattern COUNTS =
            Pattern.compile("used (0[0-9]{19}) changes [0-9]{20} counted (0{9}[0-9]{11}) quota (0[0-9]{19})");
    private static final Pattern KEY = Pattern.compile("key (SHA256:[A-Za-z0-9+/]{43}) (0{9}[0-9]{11})");

    /**
     * A key that the partner logged in with.
     *
     * @param key its fingerprint
     * @param at when last
     */
    public record Contact(String key, Instant at) {}

    /** Reads the file of the guard. Empty if it cannot be read, or has another form: then nothing is known. */
    public static Optional<PartnerCount> in(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return of(new String(in.readNBytes(LENGTH_MAX), StandardCharsets.ISO_8859_1)
                    .lines()
                    .toList());
        } catch (IOException unknown) {
            return Optional.empty();
        }
    }

    private static Optional<PartnerCount> of(List<String> lines) {
        Matcher counts = COUNTS.matcher(lines.isEmpty() ? "" : lines.getFirst());
        if (!counts.matches()) {
            return Optional.empty();
        }
        List<Contact> contacts = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            Matcher key = KEY.matcher(line);
            if (key.matches()) {
                contacts.add(new Contact(key.group(1), Instant.ofEpochSecond(Long.parseLong(key.group(2)))));
            }
        }
        return Optional.of(new PartnerCount(
                Long.parseLong(counts.group(1)),
                Instant.ofEpochSecond(Long.parseLong(counts.group(2))),
                Long.parseLong(counts.group(3)),
                contacts));
    }
}
