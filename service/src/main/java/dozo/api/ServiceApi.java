package dozo.api;

import dozo.db.ActiveService;
import dozo.db.ActiveService.Holder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The services with this database: the one that answers, and the active one. */
@RestController
class ServiceApi {

    private final ActiveService active;

    /**
     * The service that answers, and the active one. Only the active service runs backups and accepts changes; the others
     * stand by and answer 503 with {@code Retry-After} to requests that change something.
     *
     * @param name the name of the service that answers
     * @param active whether it is the active one
     * @param activeName the name of the active service
     * @param activeUrl where people find it in a browser; missing: it is not known
     * @param activeSince when it became active
     * @param term grows with each takeover
     */
    record ShownService(
            String name,
            boolean active,
            @Nullable String activeName,
            @Nullable String activeUrl,
            @Nullable Instant activeSince,
            @Nullable Integer term) {}

    ServiceApi(ActiveService active) {
        this.active = active;
    }

    /** Shows which service answers, and which one is active. */
    @GetMapping("/api/v1/service")
    ShownService show() {
        Holder holder = active.holder();
        return holder == null
                ? new ShownService(active.name(), active.isHere(), null, null, null, null)
                : new ShownService(
                        active.name(),
                        active.isHere(),
                        holder.name(),
                        holder.url().isEmpty() ? null : holder.url(),
                        holder.since(),
                        holder.term());
    }
}
