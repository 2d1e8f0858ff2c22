package dozo.doctor;

import dozo.file.Build;
import dozo.file.Zoned;
import dozo.run.Equipment.Difference;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import dozo.run.Services.ServiceState;
import dozo.run.Services.Unlike;
import dozo.start.Settings;
import java.sql.ResultSet;
import java.sql.SQLException;
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
        List<Result> results = new ArrayList<>(List.of(Result.ok("version", Build.VERSION)));
        results.addAll(active(catalogue, here));
        catalogue.flatMap(jdbc -> standBy(new Services(jdbc).all())).ifPresent(results::add);
        catalogue.stream()
                .flatMap(jdbc -> new Services(jdbc).unlike().stream())
                .forEach(each -> each.differences().forEach(difference -> results.add(differs(each, difference))));
        return results;
    }

    private static Result differs(Unlike unlike, Difference difference) {
        String message = "%s %s: %s"
                .formatted(
                        unlike.worker() ? "the worker" : "the service that stands by,",
                        unlike.name(),
                        difference.words());
        return switch (difference.kind()) {
            case KEY_MISSING, KEY_DIFFERS ->
                Result.broken(
                        ABOUT,
                        message,
                        "Copy %s of the active service to %s on that machine, for its user only."
                                .formatted(difference.source(), difference.file()));
            case SETTING_DIFFERS ->
                Result.warning(
                        ABOUT, message, "Set it as for the active service, and restart; dozo settings lists all.");
            case VERSION_DIFFERS ->
                Result.warning(ABOUT, message, "Install the same version and commit on all machines.");
        };
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
                                                    .formatted(each.name(), Zoned.text(each.seenAt())))
                                            .collect(Collectors.joining(", ")),
                            "Start one of them, so that it takes over if the active one fails. A service that was removed is forgotten after 7 days."));
        }
        String names = services.stream()
                .filter(each -> each.state() == ServiceState.STANDS_BY)
                .map(each -> "%s (%s)".formatted(each.name(), each.version()))
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? Optional.empty() : Optional.of(Result.ok(ABOUT, "standing by: " + names));
    }

    private static List<Result> active(Optional<JdbcClient> catalogue, String here) {
        return catalogue
                .map(jdbc -> jdbc.sql("""
                                select l.name, l.began_at, l.lease_until >= now() as valid, coalesce(s.version, '?') as version
                                from service_lease l left join service_seen s on s.name = l.name and s.process = 0
                                """)
                        .query((row, n) -> row.getBoolean("valid")
                                ? active(row, here)
                                : Result.ok(ABOUT, "no service is active now"))
                        .list())
                .orElse(List.of());
    }

    private static Result active(ResultSet row, String here) throws SQLException {
        String name = row.getString("name");
        String message = "%s is active since %s, version %s"
                .formatted(name, Zoned.text(row.getTimestamp("began_at").toInstant()), row.getString("version"));
        return Result.ok(ABOUT, name.equals(here) ? message : message + "; this one, %s, stands by".formatted(here));
    }
}
