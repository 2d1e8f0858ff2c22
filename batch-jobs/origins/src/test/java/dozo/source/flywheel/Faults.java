package dozo.source.flywheel;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** What an emulated Flywheel is to do wrong, and how often each of it has come true. */
public final class Faults {

    /** Ways in which a request fails. */
    public enum Fault {
        /** 403. */
        DENIED(403),
        /** 401. */
        KEY_REFUSED(401),
        /** 404, although a list has named it. */
        GONE(404),
        /** 429 with {@code Retry-After: 2}. */
        BUSY(429),
        /** 429 with a {@code Retry-After} that is a time: {@link Emulator#BUSY_UNTIL}. */
        BUSY_UNTIL(429),
        /** 500. */
        BROKEN(500),
        /** 502 with a proxy's HTML. */
        PROXY(502),
        /** The body ends too early. */
        TRUNCATED(200),
        /** One byte of the body is another one. */
        FLIPPED(200),
        /** The body begins and does not go on, until the emulator is closed or the client leaves. */
        STALLED(200),
        /** A range is answered with another one, and it says so. */
        WRONG_RANGE(206),
        /** The connection ends without an answer. */
        DROPPED(0),
        /** A redirect to another host. */
        REDIRECTED(302),
        /** A body that is no JSON. */
        GIBBERISH(200);

        final int status;

        Fault(int status) {
            this.status = status;
        }
    }

    /** A fault for requests whose path ends so, as long as {@code left} is above zero. */
    public record Planned(String pathEnd, Fault fault, AtomicInteger left, AtomicInteger fired) {}

    private final List<Planned> plan = new ArrayList<>();

    /** The next {@code times} requests for this path fail so. */
    public synchronized Planned at(String pathEnd, Fault fault, int times) {
        Planned planned = new Planned(pathEnd, fault, new AtomicInteger(times), new AtomicInteger());
        plan.add(planned);
        return planned;
    }

    public Planned always(String pathEnd, Fault fault) {
        return at(pathEnd, fault, Integer.MAX_VALUE);
    }

    /** Nothing fails any more. */
    public synchronized void heal() {
        plan.clear();
    }

    synchronized Optional<Fault> due(String path) {
        for (Planned planned : plan) {
            if (path.endsWith(planned.pathEnd()) && planned.left().get() > 0) {
                planned.left().decrementAndGet();
                planned.fired().incrementAndGet();
                return Optional.of(planned.fault());
            }
        }
        return Optional.empty();
    }

    /** What was planned and never came true: a test that ends so has tested nothing. */
    public synchronized List<Planned> unfired() {
        return plan.stream().filter(planned -> planned.fired().get() == 0).toList();
    }
}
