package dozo.run;

import dozo.ledger.Rows;
import dozo.run.Equipment.Difference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The services with this database: which one is active, which ones stand by, and which ones do not respond; and the workers. Those
 * that work or stand by are compared with the active service (ADR 0081).
 */
@Component
public class Services {

    /** Longer than several signs of life and a short loss of the network take. */
    private static final Duration SILENCE_MAX = Duration.ofSeconds(30);

    private final JdbcClient jdbc;

    public enum ServiceState {
        ACTIVE,
        STANDS_BY,
        /** It was stopped in an orderly way. */
        STOPPED,
        /** It gives no sign of life. */
        AWAY
    }

    /**
     * A service that was there within the last 7 days.
     *
     * @param url where people find it in a browser; empty: it is not known
     * @param version version and commit of the program
     * @param seenAt its last sign of life
     * @param differences how it differs from the active service, while it stands by; first those that keep it from taking over
     */
    public record SeenService(
            String name, String url, String version, ServiceState state, Instant seenAt, List<Difference> differences) {

        public SeenService withoutDifferences() {
            return new SeenService(name, url, version, state, seenAt, List.of());
        }
    }

    /**
     * A worker that works or waits for work.
     *
     * @param version version and commit of the program
     * @param seenAt its last sign of life
     * @param differences how it differs from the active service; first those that keep it from working
     */
    public record SeenWorker(String name, String version, Instant seenAt, List<Difference> differences) {}

    /** A service or worker that differs from the active service. */
    public record Unlike(String name, boolean worker, List<Difference> differences) {}

    private record Seen(
            String name,
            String url,
            String version,
            ServiceState state,
            Instant seenAt,
            long process,
            @Nullable String equipment) {

        private List<Difference> differences(@Nullable Seen active) {
            return state != ServiceState.STANDS_BY || equipment == null || active == null || active.equipment == null
                    ? List.of()
                    : Equipment.of(equipment).differences(Equipment.of(active.equipment));
        }
    }

    public Services(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the services, by name. Empty with an embedded database, which only its own service can reach. */
    public List<SeenService> all() {
        List<Seen> seen = seen();
        Seen active = active(seen);
        return seen.stream()
                .filter(each -> each.process == 0)
                .map(each -> new SeenService(
                        each.name, each.url, each.version, each.state, each.seenAt, each.differences(active)))
                .toList();
    }

    /** Returns the workers that give signs of life, by name. */
    public List<SeenWorker> workers() {
        List<Seen> seen = seen();
        Seen active = active(seen);
        return seen.stream()
                .filter(each -> each.process != 0 && each.state == ServiceState.STANDS_BY)
                .map(each -> new SeenWorker(each.name, each.version, each.seenAt, each.differences(active)))
                .toList();
    }

    /** Returns the services and workers that differ from the active service now. */
    public List<Unlike> unlike() {
        List<Seen> seen = seen();
        Seen active = active(seen);
        return seen.stream()
                .map(each -> new Unlike(each.name, each.process != 0, each.differences(active)))
                .filter(each -> !each.differences.isEmpty())
                .toList();
    }

    /** Returns what the service has that is active, or was last; empty: it has not told it yet. */
    public Optional<Equipment> active() {
        return jdbc.sql("""
                        select s.equipment::text from service_seen s join service_lease l using (name)
                        where s.process = 0 and s.equipment is not null
                        """)
                .query((row, n) -> Equipment.of(Objects.requireNonNull(row.getString(1))))
                .optional();
    }

    private List<Seen> seen() {
        return jdbc.sql("""
                        select s.name, s.url, s.version, s.seen_at, s.process, s.equipment::text,
                               case when s.stopped then 'STOPPED'
                                    when s.process = 0 and s.name = l.name and l.lease_until >= now() then 'ACTIVE'
                                    when s.process = 0 and s.name = l.name
                                      or s.seen_at < now() - make_interval(secs => :silence) then 'AWAY'
                                    else 'STANDS_BY' end as state
                        from service_seen s cross join service_lease l
                        order by s.name, s.process
                        """)
                .param("silence", SILENCE_MAX.toSeconds())
                .query(Rows.of(Seen.class))
                .list();
    }

    private static @Nullable Seen active(List<Seen> seen) {
        return seen.stream()
                .filter(each -> each.state == ServiceState.ACTIVE)
                .findFirst()
                .orElse(null);
    }

    /** Returns those services that could stand by and do not, if nobody stands by; empty if somebody does, or never did. */
    public static List<SeenService> missing(List<SeenService> services) {
        return services.stream().anyMatch(each -> each.state() == ServiceState.STANDS_BY)
                ? List.of()
                : services.stream()
                        .filter(each -> each.state() != ServiceState.ACTIVE)
                        .toList();
    }
}
