package dozo.source.flywheel;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Planned faults of an emulated Flywheel, and how often each has occurred. */
public final class Faults {

    /** The faults of a request. */
    public enum Fault {
        /** 403. */
        DENIED(403),
        /** 401. */
        KEY_REFUSED(401),
        /** 404, although a list has named it. */
        GONE(404),
        /** 429 with {@code Retry-After: 2}. */
        BUSY(429),
        /** 429 with a time in {@code Retry-After}: {@link Emulator#BUSY_UNTIL}. */
        BUSY_UNTIL(429),
        /** 500. */
        BROKEN(500),
        /** 502 with a proxy's HTML. */
        PROXY(502),
        /** The body ends too early. */
        TRUNCATED(200),
        /** One byte of the body is changed. */
        FLIPPED(200),
        /** The body begins and stalls until the emulator is closed or the client leaves. */
        STALLED(200),
        /** A range request is answered with another range, and the answer says so. */
        WRONG_RANGE(206),
        /** The connection ends without an answer. */
        DROPPED(0),
        /** A redirect to another host. */
        REDIRECTED(302),
        /** A body that is not JSON. */
        GIBBERISH(200);

        final int status;

        Fault(int status) {
            this.status = status;
        }
    }

    /** A fault for requests whose path ends with {@code pathEnd}, as long as {@code left} is above zero. */
    public record Planned(String pathEnd, Fault fault, AtomicInteger left, AtomicInteger fired) {}

    private final List<Planned> plan = new ArrayList<>();

    /** Plans a fault for the next {@code times} requests for this path. */
    public synchronized Planned at(String pathEnd, Fault fault, int times) {
        Planned planned = new Planned(pathEnd, fault, new AtomicInteger(times), new AtomicInteger());
        plan.add(planned);
        return planned;
    }

    public Planned always(String pathEnd, Fault fault) {
        return at(pathEnd, fault, Integer.MAX_VALUE);
    }

    /** Removes all planned faults. */
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

    /** Returns the planned faults that never occurred: a test that ends with any has tested nothing. */
    public synchronized List<Planned> unfired() {
        return plan.stream().filter(planned -> planned.fired().get() == 0).toList();
    }
}
