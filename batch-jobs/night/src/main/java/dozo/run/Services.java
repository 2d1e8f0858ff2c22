package dozo.run;

import dozo.ledger.Rows;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The services with this database: which one is active, which ones stand by, and which ones do not respond (ADR 0081). */
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
     * @param version of the program
     * @param seenAt its last sign of life
     */
    public record SeenService(String name, String url, String version, ServiceState state, Instant seenAt) {}

    public Services(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the services, by name. Empty with an embedded database, which only its own service can reach. */
    public List<SeenService> all() {
        return jdbc.sql("""
                        select s.name, s.url, s.version, s.seen_at,
                               case when s.stopped then 'STOPPED'
                                    when s.name = l.name and l.lease_until >= now() then 'ACTIVE'
                                    when s.name = l.name or s.seen_at < now() - make_interval(secs => :silence) then 'AWAY'
                                    else 'STANDS_BY' end as state
                        from service_seen s cross join service_lease l
                        order by s.name
                        """)
                .param("silence", SILENCE_MAX.toSeconds())
                .query(Rows.of(SeenService.class))
                .list();
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
