package dozo.security;

import jakarta.servlet.http.HttpServletRequest;
import java.time.InstantSource;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.stereotype.Component;

/**
 * Logs what is refused in one form, which fail2ban matches (docs/run/people.md): at most {@value #LINES_OF_ADDRESS_MAX}
 * lines a minute for an address, and {@value #LINES_MAX} in all.
 */
@Component
class Refusals {

    private static final int LINES_OF_ADDRESS_MAX = 20;

    private static final int LINES_MAX = 600;
    private static final int NAME_CHARACTERS_MAX = 64;
    private static final String ALL = "";
    private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);

    private final InstantSource clock;
    private final Map<String, Minute> minutes = Throttle.latest(10_000);

    private record Minute(long number, int refusals) {}

    Refusals(InstantSource clock) {
        this.clock = clock;
    }

    /** Logs the refusal of a request of whoever has logged in. */
    void log(String what, HttpServletRequest request) {
        Authentication login = SecurityContextHolder.getContext().getAuthentication();
        log(
                what,
                request.getRemoteAddr(),
                login != null && login.getPrincipal() instanceof Caller caller ? caller.name() : "");
    }

    /**
     * Logs a refusal.
     *
     * @param what {@code login}, {@code token}, {@code form}, {@code request} or {@code body}
     * @param name as the client has sent it
     */
    synchronized void log(String what, String address, String name) {
        int lines = count(address);
        if (lines > LINES_OF_ADDRESS_MAX || count(ALL) > LINES_MAX) {
            return;
        }
        String printable = name.substring(0, Math.min(name.length(), NAME_CHARACTERS_MAX))
                .replaceAll("[\\p{C}\\p{Zl}\\p{Zp}\"]", "?");
        LOG.info(
                "refused {} from {} user \"{}\"{}",
                what,
                address,
                printable,
                lines == LINES_OF_ADDRESS_MAX ? "; more in this minute are not logged" : "");
    }

    /** Returns how many refusals there have been in this minute. */
    private int count(String key) {
        long number = clock.instant().getEpochSecond() / 60;
        Minute before = minutes.get(key);
        int refusals = before == null || before.number != number ? 1 : before.refusals + 1;
        minutes.put(key, new Minute(number, refusals));
        return refusals;
    }
}
