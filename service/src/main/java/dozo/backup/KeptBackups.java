package dozo.backup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The backups in a folder, by the time in their names. */
final class KeptBackups {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss");
    private static final Pattern NAME = Pattern.compile("dozo-([0-9]{8}T[0-9]{6})Z");

    /** Complete ones, the newest first. */
    private final List<Path> complete;

    private KeptBackups(List<Path> complete) {
        this.complete = complete;
    }

    static String name(Instant madeAt) {
        return "dozo-" + TIME.format(madeAt.atOffset(ZoneOffset.UTC)) + "Z";
    }

    static KeptBackups in(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return new KeptBackups(all.filter(
                            each -> NAME.matcher(each.getFileName().toString()).matches())
                    .sorted(Comparator.reverseOrder())
                    .toList());
        }
    }

    Optional<Instant> newest() {
        return complete.stream().findFirst().map(folder -> {
            Matcher name = NAME.matcher(folder.getFileName().toString());
            if (!name.matches()) {
                throw new IllegalStateException(folder + " is no backup");
            }
            return LocalDateTime.parse(name.group(1), TIME).toInstant(ZoneOffset.UTC);
        });
    }

    void removeAllBut(int keep) throws IOException {
        for (Path folder : complete.stream().skip(keep).toList()) {
            remove(folder);
        }
    }

    static void remove(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
