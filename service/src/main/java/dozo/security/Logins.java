package dozo.security;

import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.security.Directory.Silent;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;
import org.springframework.stereotype.Component;

/**
 * Checks names and passwords: local users by the hash, others by the directory. An unknown name takes as long to refuse
 * as a wrong password. At most half of the processors compute hashes, and users who fail too often wait ({@link
 * Throttle}).
 */
@Component
class Logins implements AuthenticationProvider {

    private static final Logger LOG = LoggerFactory.getLogger(Logins.class);

    private static final int LENGTH_MAX = 1_024;
    private static final int WAITING_MAX = 50;
    private static final Duration TURN_LIMIT = Duration.ofSeconds(10);
    private static final Duration COME_BACK = Duration.ofSeconds(2);

    private final Users users;
    private final Directory directory;
    private final Confirmations confirmations;
    private final PasswordEncoder encoder;
    private final InstantSource clock;
    private final Refusals refusals;
    private final Throttle throttle = new Throttle();
    private final ProvenLogins proven = new ProvenLogins();
    private final Semaphore turns =
            new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() / 2), true);

    /** The hash of a password that nobody has. */
    private final String hashOfNobody;

    Logins(
            Users users,
            Directory directory,
            Confirmations confirmations,
            PasswordEncoder encoder,
            InstantSource clock,
            Refusals refusals) {
        this.users = users;
        this.directory = directory;
        this.confirmations = confirmations;
        this.encoder = encoder;
        this.clock = clock;
        this.refusals = refusals;
        this.hashOfNobody = Objects.requireNonNull(encoder.encode("nobody"));
    }

    @Override
    public Authentication authenticate(Authentication asked) {
        String name = asked.getName().toLowerCase(Locale.ROOT);
        String password = String.valueOf(asked.getCredentials());
        User user = logged(name, password, asked);
        Caller caller = new Caller(user.id(), user.name(), user.stamp(), null);
        UsernamePasswordAuthenticationToken known =
                UsernamePasswordAuthenticationToken.authenticated(caller, null, List.of());
        known.setDetails(asked.getDetails());
        return known;
    }

    @Override
    public boolean supports(Class<?> authentication) {
        return UsernamePasswordAuthenticationToken.class.isAssignableFrom(authentication);
    }

    private User logged(String name, String password, Authentication asked) {
        try {
            if (name.length() > LENGTH_MAX || password.length() > LENGTH_MAX) {
                throw wrong();
            }
            return login(name, password, address(asked));
        } catch (BadCredentialsException | NotNow refused) {
            if (!(refused instanceof NotNow later) || later.status() == HttpStatus.TOO_MANY_REQUESTS) {
                refusals.log("login", remoteAddress(asked), name);
            }
            throw refused;
        }
    }

    private User login(String name, String password, String address) {
        Optional<User> user = Users.isName(name) ? users.find(name) : Optional.empty();
        if (user.filter(known -> known.active() && proven.holds(known, password, clock.instant()))
                .isPresent()) {
            return user.get();
        }
        refuseIfThrottled(name, address);
        Optional<User> right = directory.given()
                        && user.map(known -> known.origin() == Realm.DIRECTORY).orElse(true)
                ? byDirectory(name, password)
                : byHash(user, name, password, address);
        if (right.isEmpty()) {
            throttle.failed(name, address, clock.instant());
            throw wrong();
        }
        throttle.succeeded(name, address, clock.instant());
        proven.keep(right.get(), password, clock.instant());
        LOG.info(
                "{} ({}) logged in from {}, {}",
                name,
                right.get().origin(),
                address,
                right.get().roles());
        return right.get();
    }

    private Optional<User> byHash(Optional<User> user, String name, String password, String address) {
        @Nullable String hash = user.map(User::hash).orElse(null);
        takeTurn();
        try {
            // Checked again: of many simultaneous requests, those that waited were not counted before.
            refuseIfThrottled(name, address);
            boolean right = encoder.matches(password, hash == null ? hashOfNobody : hash);
            Optional<User> let = user.filter(known -> right && hash != null && known.active());
            let.ifPresent(known -> users.renewHash(known, password));
            return let;
        } finally {
            turns.release();
        }
    }

    private Optional<User> byDirectory(String name, String password) {
        if (!Users.isName(name)) {
            return Optional.empty();
        }
        try {
            return confirmations.kept(name, directory.login(name, password)).filter(User::active);
        } catch (Silent e) {
            throw NotNow.directoryGone();
        }
    }

    private void refuseIfThrottled(String name, String address) {
        Duration wait = throttle.wait(name, address, clock.instant());
        if (wait.isPositive()) {
            throw NotNow.tooMany(wait);
        }
    }

    private void takeTurn() {
        try {
            if (turns.getQueueLength() < WAITING_MAX
                    && turns.tryAcquire(TURN_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw NotNow.tooMany(COME_BACK);
    }

    /** Returns the client's address; for IPv6 only the part that belongs to one customer. */
    private static String address(Authentication asked) {
        String address = remoteAddress(asked);
        String[] groups = address.split(":", -1);
        return groups.length > 4 && !address.startsWith("::") && !address.contains("::")
                ? String.join(":", List.of(groups).subList(0, 4))
                : address;
    }

    private static String remoteAddress(Authentication asked) {
        return asked.getDetails() instanceof WebAuthenticationDetails details ? details.getRemoteAddress() : "";
    }

    private static BadCredentialsException wrong() {
        return new BadCredentialsException("name and password are missing or wrong");
    }
}
