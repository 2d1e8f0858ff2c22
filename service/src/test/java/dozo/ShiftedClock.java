package dozo;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** The clock of a service in tests: the machine's, until a test sets it wrong. It goes on from there. */
public final class ShiftedClock implements InstantSource {

    private volatile Duration ahead = Duration.ZERO;

    /** Sets it: from now on it goes on from this moment. */
    public void reads(Instant moment) {
        ahead = Duration.between(Instant.now(), moment);
    }

    /** Sets it right again. */
    void right() {
        ahead = Duration.ZERO;
    }

    @Override
    public Instant instant() {
        return Instant.now().plus(ahead);
    }
}
