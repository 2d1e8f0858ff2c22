package dozo.doctor;

import dozo.start.Settings;
import java.sql.Timestamp;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Which service is active. Only for information: a service may be stopped on purpose. */
final class ServiceCheck {

    private static final String ABOUT = "service";

    private ServiceCheck() {}

    static List<Result> look(Installation installation) throws InterruptedException {
        Optional<JdbcClient> catalogue = installation.catalogue();
        String here = installation
                .settings(Settings.class)
                .map(settings -> settings.service().nameHere())
                .orElse("");
        return catalogue
                .map(jdbc -> jdbc.sql("""
                                select name, began_at, lease_until >= now() as valid from service_lease
                                """)
                        .query((row, n) -> row.getBoolean("valid")
                                ? active(row.getString("name"), row.getTimestamp("began_at"), here)
                                : Result.ok(ABOUT, "no service is active now"))
                        .list())
                .orElse(List.of());
    }

    private static Result active(String name, Timestamp since, String here) {
        String message = "%s is active since %s".formatted(name, since.toInstant());
        return Result.ok(ABOUT, name.equals(here) ? message : message + "; this one, %s, stands by".formatted(here));
    }
}
