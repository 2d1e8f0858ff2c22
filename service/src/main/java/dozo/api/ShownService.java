package dozo.api;

import dozo.run.Services.SeenService;
import dozo.run.Services.SeenWorker;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The service that answers, and the active one. Only the active service runs backups and accepts changes; the others
 * stand by and answer 503 with {@code Retry-After} to requests that change something.
 *
 * @param name the name of the service that answers
 * @param version its version and commit
 * @param active whether it is the active one
 * @param activeName the name of the active service
 * @param activeUrl where people find it in a browser; missing: it is not known
 * @param activeSince when it became active
 * @param term grows with each takeover
 * @param services all that were there within the last 7 days; empty with an embedded database
 * @param workers all that give signs of life now
 * @param standByMissing whether nobody stands by, although another service was there
 */
public record ShownService(
        String name,
        String version,
        boolean active,
        @Nullable String activeName,
        @Nullable String activeUrl,
        @Nullable Instant activeSince,
        @Nullable Integer term,
        List<SeenService> services,
        List<SeenWorker> workers,
        boolean standByMissing) {}
