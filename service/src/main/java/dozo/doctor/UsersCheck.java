package dozo.doctor;

import dozo.people.Departures;
import dozo.people.Departures.Duty;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Users who cannot log in any more, and on whom something still depends. */
final class UsersCheck {

    private static final String ABOUT = "users";

    private UsersCheck() {}

    static List<Result> look(JdbcClient catalogue, Installation installation) {
        return Departures.left(catalogue, installation.clock().instant()).stream()
                .collect(Collectors.groupingBy(Duty::user, TreeMap::new, Collectors.toList()))
                .entrySet()
                .stream()
                .map(each -> Result.warning(
                        ABOUT,
                        "%s is disabled or not in the directory, and still has: %s"
                                .formatted(
                                        each.getKey(),
                                        each.getValue().stream()
                                                .map(UsersCheck::named)
                                                .collect(Collectors.joining(", "))),
                        "Hand it over: dozo user leave %s --to OTHER.".formatted(each.getKey())))
                .toList();
    }

    private static String named(Duty duty) {
        return duty.kind().name().toLowerCase(Locale.ROOT) + " " + duty.subject();
    }
}
