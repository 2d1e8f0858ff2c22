package dozo.doctor;

import dozo.people.Departures;
import java.util.List;
import java.util.Locale;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What still depends on users who cannot log in any more. */
final class UsersCheck {

    private UsersCheck() {}

    static List<Result> look(JdbcClient catalogue, Installation installation) {
        return Departures.left(catalogue, installation.clock().instant()).stream()
                .map(duty -> Result.warning(
                        "users",
                        "%s cannot log in any more, and still has the %s %s"
                                .formatted(duty.user(), duty.kind().name().toLowerCase(Locale.ROOT), duty.subject()),
                        "Hand it over: dozo user leave %s --to OTHER.".formatted(duty.user())))
                .toList();
    }
}
