package dozo.security;

import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.security.Directory.Answer;
import dozo.security.Directory.Known;
import dozo.security.Directory.Silent;
import dozo.security.Directory.Unknown;
import dozo.security.Directory.Wrong;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/**
 * Users as the directory and the provider know them. The provider cannot be asked about a user: what it said at the last
 * login is valid for {@code dozo.oidc.login-age}. The directory is queried again if its answer is older than {@code
 * dozo.ldap.recheck}. While it does not answer, its last answer is valid for a day, and it is queried once a minute.
 */
@Component
class Confirmations {

    private static final Duration COUNTS_AT_MOST = Duration.ofHours(24);
    private static final Duration PAUSE = Duration.ofMinutes(1);

    private final Directory directory;
    private final DirectorySettings settings;
    private final OidcSettings provider;
    private final Users users;
    private final InstantSource clock;

    /** Time of the last query without an answer, by user. Has at most as many entries as there are users. */
    private final Map<Integer, Instant> silent = new ConcurrentHashMap<>();

    Confirmations(
            Directory directory, DirectorySettings settings, OidcSettings provider, Users users, InstantSource clock) {
        this.directory = directory;
        this.settings = settings;
        this.provider = provider;
        this.users = users;
        this.clock = clock;
    }

    /**
     * Returns the user in the present state; empty if the user no longer exists.
     *
     * @throws NotNow if the directory has not answered for a day
     */
    Optional<User> current(User user) {
        if (user.origin() == Realm.LOCAL || !user.active()) {
            return Optional.of(user);
        }
        Instant confirmed = Objects.requireNonNull(user.confirmedAt());
        Instant now = clock.instant();
        if (user.origin() == Realm.OIDC) {
            return Optional.of(user)
                    .filter(_ -> provider.given()
                            && confirmed.plus(provider.loginAge()).isAfter(now));
        }
        if (!directory.given()) {
            return Optional.empty();
        }
        if (confirmed.plus(settings.recheck()).isAfter(now)) {
            return Optional.of(user);
        }
        Instant inVain = silent.get(user.id());
        if (inVain == null || !inVain.plus(PAUSE).isAfter(now)) {
            try {
                Optional<User> answered = kept(user.name(), directory.look(user.name()));
                silent.remove(user.id());
                return answered;
            } catch (Silent e) {
                silent.put(user.id(), now);
            }
        }
        if (confirmed.plus(COUNTS_AT_MOST).isAfter(now)) {
            return Optional.of(user);
        }
        throw NotNow.directoryGone();
    }

    /** Returns whether a user of the provider could come back by another login. */
    boolean awaitsLogin(int userId) {
        return users.find(userId)
                .filter(user -> user.origin() == Realm.OIDC && user.active() && provider.given())
                .isPresent();
    }

    /**
     * Stores and returns the user from the directory's answer; empty if the user is unknown or the password is wrong.
     */
    Optional<User> kept(String name, Answer answer) {
        return switch (answer) {
            case Known known -> users.confirm(name, Realm.DIRECTORY, null, known.roles(), known.projects());
            case Unknown unknown -> {
                users.gone(name);
                yield Optional.empty();
            }
            case Wrong wrong -> Optional.empty();
        };
    }
}
