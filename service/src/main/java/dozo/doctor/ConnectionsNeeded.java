package dozo.doctor;

import dozo.run.TransferSettings;
import dozo.start.Pools;
import dozo.start.Schema.Standing;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * How many connections all processes of Dozo use at most, if the others have the settings of this one.
 *
 * @param each of one process
 * @param services that use this database, those that stand by included
 * @param workers hosts on which a worker has joined a run within a week
 */
record ConnectionsNeeded(int each, int services, int workers) {

    /** Returns what is needed; empty if the settings are wrong. */
    static Optional<ConnectionsNeeded> of(Installation installation, Installation.Database.Open open) {
        return installation
                .settings(TransferSettings.class)
                .map(settings -> of(Pools.connectionsMax(settings.partitions()), open));
    }

    private static ConnectionsNeeded of(int each, Installation.Database.Open open) {
        if (open.schema() != Standing.CURRENT) {
            return new ConnectionsNeeded(each, 1, 0);
        }
        JdbcClient jdbc = JdbcClient.create(open.login());
        return new ConnectionsNeeded(
                each,
                Math.max(1, count(jdbc, "select count(*) from service_seen where not stopped and process = 0")),
                count(
                        jdbc,
                        "select count(distinct host) from run_worker where joined and began_at > now() - interval '7 days'"));
    }

    private static int count(JdbcClient jdbc, String sql) {
        return jdbc.sql(sql).query(Integer.class).single();
    }

    int all() {
        return each * (services + workers);
    }

    /** Returns who needs how many, as the end of a sentence. */
    String words() {
        return services + workers == 1
                ? "the service may use %d".formatted(all())
                : "services and workers, %d processes in all, may use %d".formatted(services + workers, all());
    }
}
