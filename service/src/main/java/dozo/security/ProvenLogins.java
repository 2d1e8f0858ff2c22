package dozo.security;

import dozo.people.Users.User;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Names and passwords that were right recently. A program that sends them with every request then does not need a hash
 * each time, and does not wait behind attackers who guess. Logins are kept for five minutes, at most 1,000, as digests
 * with a key that exists only in this process. After a change of the password, or when the user is disabled, the digest
 * differs.
 */
final class ProvenLogins {

    private static final Duration KEPT = Duration.ofMinutes(5);
    private static final int KEPT_MAX = 1_000;

    private final SecretKeySpec key;
    private final Map<String, Instant> until = Throttle.latest(KEPT_MAX);

    ProvenLogins() {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        key = new SecretKeySpec(random, "HmacSHA256");
    }

    synchronized boolean holds(User user, String password, Instant now) {
        Instant end = until.get(digest(user, password));
        return end != null && end.isAfter(now);
    }

    synchronized void keep(User user, String password, Instant now) {
        until.put(digest(user, password), now.plus(KEPT));
    }

    private String digest(User user, String password) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            String text = "%d\n%d\n%s\n%s".formatted(user.id(), user.stamp(), user.hash(), password);
            return Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
