package dozo.source.delivery;

import java.time.Duration;

/** Waits between two tries. */
@FunctionalInterface
public interface Pause {

    Pause REAL = Thread::sleep;

    void await(Duration time) throws InterruptedException;
}
