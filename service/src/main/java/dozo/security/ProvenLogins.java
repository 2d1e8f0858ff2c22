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
 * Names and passwords that were right lately, so that a program that brings them with every request does not have them hashed
 * with every request, and does not queue behind those who guess. Kept for five minutes as a digest under a key that is nowhere
 * but in this process; another password, or a disabled user, is another digest. At most 1,000.
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
