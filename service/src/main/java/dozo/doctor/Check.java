package dozo.doctor;

import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * One check.
 *
 * @param about what it checks, in a few words
 */
record Check(String about, Look look) {

    /** Looks, and returns at least one result if there was something to look at. It may hang: its time is bounded. */
    @FunctionalInterface
    interface Look {
        List<Result> at(Installation installation) throws Exception;
    }

    /** Looks at something that the installation may not have. */
    @FunctionalInterface
    interface LookAtOne<T> {
        List<Result> at(T one, Installation installation) throws Exception;
    }

    /** Returns a check that needs valid settings. The check of the settings has the reason if they are wrong. */
    static <T extends Record> Check ofSettings(String about, Class<T> settings, LookAtOne<T> look) {
        return new Check(about, with -> ifThere(with.settings(settings), look, with));
    }

    /** Returns a check that needs the catalogue. The check of the database has the reason if it cannot be read. */
    static Check ofCatalogue(String about, LookAtOne<JdbcClient> look) {
        return new Check(about, with -> ifThere(with.catalogue(), look, with));
    }

    private static <T> List<Result> ifThere(Optional<T> one, LookAtOne<T> look, Installation installation)
            throws Exception {
        return one.isPresent() ? look.at(one.get(), installation) : List.of();
    }
}
