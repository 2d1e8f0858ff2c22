package dozo.source.delivery;

import java.time.Duration;

/** Lets time pass between two tries. */
@FunctionalInterface
public interface Pause {

    Pause REAL = Thread::sleep;

    void await(Duration time) throws InterruptedException;
}
