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
 * Users of the directory as it knows them: asked again when what it said is older than {@code dozo.ldap.recheck}. While it does
 * not answer, what it said last counts for a day; it is asked once a minute then.
 */
@Component
class Confirmations {

    private static final Duration COUNTS_AT_MOST = Duration.ofHours(24);
    private static final Duration PAUSE = Duration.ofMinutes(1);

    private final Directory directory;
    private final DirectorySettings settings;
    private final Users users;
    private final InstantSource clock;

    /** By user, when it was asked in vain; no more than there are users. */
    private final Map<Integer, Instant> silent = new ConcurrentHashMap<>();

    Confirmations(Directory directory, DirectorySettings settings, Users users, InstantSource clock) {
        this.directory = directory;
        this.settings = settings;
        this.users = users;
        this.clock = clock;
    }

    /**
     * The user as they are now; empty: not any more.
     *
     * @throws NotNow when the directory has not answered for a day
     */
    Optional<User> current(User user) {
        if (user.origin() == Realm.LOCAL || !user.active()) {
            return Optional.of(user);
        }
        if (!directory.given()) {
            return Optional.empty();
        }
        Instant confirmed = Objects.requireNonNull(user.confirmedAt());
        Instant now = clock.instant();
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

    /** The user as the directory knows them, which is kept; empty: not at all, or not by this password. */
    Optional<User> kept(String name, Answer answer) {
        return switch (answer) {
            case Known known -> Optional.of(users.confirm(name, known.roles(), known.projects()));
            case Unknown unknown -> {
                users.gone(name);
                yield Optional.empty();
            }
            case Wrong wrong -> Optional.empty();
        };
    }
}
