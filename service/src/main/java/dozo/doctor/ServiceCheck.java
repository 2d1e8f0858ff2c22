package dozo.doctor;

import dozo.run.Services;
import dozo.run.Services.SeenService;
import dozo.run.Services.ServiceState;
import dozo.start.Settings;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Which service is active, which is only for information, and whether somebody stands by where somebody did. */
final class ServiceCheck {

    private static final String ABOUT = "service";

    private ServiceCheck() {}

    static List<Result> look(Installation installation) throws InterruptedException {
        Optional<JdbcClient> catalogue = installation.catalogue();
        String here = installation
                .settings(Settings.class)
                .map(settings -> settings.service().nameHere())
                .orElse("");
        List<Result> results = new ArrayList<>(active(catalogue, here));
        catalogue.flatMap(jdbc -> standBy(new Services(jdbc).all())).ifPresent(results::add);
        return results;
    }

    private static Optional<Result> standBy(List<SeenService> services) {
        List<SeenService> missing = Services.missing(services);
        boolean active = services.stream().anyMatch(each -> each.state() == ServiceState.ACTIVE);
        if (!missing.isEmpty() && active) {
            return Optional.of(
                    Result.warning(
                            ABOUT,
                            "no service stands by: "
                                    + missing.stream()
                                            .map(each -> "%s was last there at %s"
                                                    .formatted(each.name(), second(each.seenAt())))
                                            .collect(Collectors.joining(", ")),
                            "Start one of them, so that it takes over if the active one fails. A service that was removed is forgotten after 7 days."));
        }
        String names = services.stream()
                .filter(each -> each.state() == ServiceState.STANDS_BY)
                .map(SeenService::name)
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? Optional.empty() : Optional.of(Result.ok(ABOUT, "standing by: " + names));
    }

    private static Instant second(Instant moment) {
        return moment.truncatedTo(ChronoUnit.SECONDS);
    }

    private static List<Result> active(Optional<JdbcClient> catalogue, String here) {
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
