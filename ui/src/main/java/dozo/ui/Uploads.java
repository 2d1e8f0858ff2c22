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
 * Files that wait in memory for confirmation: the last one of each user, for an hour, and at most 64 MiB in total.
 * Beyond that, the files that have waited longest are dropped, and their users must choose them again.
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
     * @param encoding the chosen encoding; null: detected from the bytes
     * @param guesses values for empty cells; null: cells stay empty. They are kept, so that exactly what the user has
     *     seen is registered
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

    /** Stores a file, and drops the user's earlier one. */
    synchronized UUID keep(String user, Upload upload) {
        UUID id = UUID.randomUUID();
        kept.remove(user);
        kept.put(user, new Kept(id, upload, clock.instant()));
        forget();
        return id;
    }

    /** Returns the file; empty if it has expired, was dropped, or belongs to another user. */
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
