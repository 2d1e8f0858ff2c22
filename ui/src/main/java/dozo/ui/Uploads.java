package dozo.ui;

import dozo.suggest.FileGuesses;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Files that wait in memory to be confirmed: the last of each user, for an hour, and 64 MiB in all. Where there are more, those that have
 * waited longest are forgotten; whoever sent one chooses it again.
 */
@Component
final class Uploads {

    static final long BYTES_MAX = 64L * 1024 * 1024;

    static final Duration AGE_MAX = Duration.ofHours(1);

    private final InstantSource clock;

    /** By user, the oldest first. */
    private final Map<String, Kept> kept = new LinkedHashMap<>();

    /**
     * A file.
     *
     * @param encoding as it was chosen; null: told by the bytes
     * @param guesses by which empty cells are filled; null: they stay so. Kept, so that what was looked at is what is registered
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Upload(
            String name,
            byte[] bytes,
            @Nullable String encoding,
            @Nullable FileGuesses guesses) {}

    private record Kept(UUID id, Upload upload, Instant since) {}

    Uploads(InstantSource clock) {
        this.clock = clock;
    }

    /** Keeps a file in place of the one that the user sent before. */
    synchronized UUID keep(String user, Upload upload) {
        UUID id = UUID.randomUUID();
        kept.remove(user);
        kept.put(user, new Kept(id, upload, clock.instant()));
        forget();
        return id;
    }

    /** The file; empty where it has waited too long, made way for others, or is not this user's. */
    synchronized Optional<Upload> find(String user, UUID id) {
        forget();
        return Optional.ofNullable(kept.get(user))
                .filter(each -> each.id.equals(id))
                .map(Kept::upload);
    }

    synchronized void remove(String user, UUID id) {
        kept.computeIfPresent(user, (name, each) -> each.id.equals(id) ? null : each);
    }

    private void forget() {
        Instant oldest = clock.instant().minus(AGE_MAX);
        kept.values().removeIf(each -> each.since.isBefore(oldest));
        long over = kept.values().stream()
                        .mapToLong(each -> each.upload.bytes.length)
                        .sum()
                - BYTES_MAX;
        for (var all = kept.values().iterator(); over > 0 && all.hasNext(); ) {
            over -= all.next().upload.bytes.length;
            all.remove();
        }
    }
}
