package dozo.source.delivery;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** Stops sending requests to a server after several failures in a row. Safe for use by several threads. */
public final class Patience {

    private static final int FAILURES_IN_A_ROW_MAX = 8;

    private final AtomicInteger failuresInARow = new AtomicInteger();
    private volatile Trouble last = Trouble.SERVER_FAULT;

    /**
     * Sends the request, unless the server has failed too often.
     *
     * @throws DeliveryException if there is no good answer, or the request was not sent
     */
    public <T> T ask(Connections.Attempt<T> attempt) throws IOException, InterruptedException {
        if (isOver()) {
            throw new DeliveryException(
                    last, "not requested: the %d requests before it failed".formatted(failuresInARow.get()));
        }
        try {
            T answer = attempt.once();
            failuresInARow.set(0);
            return answer;
        } catch (DeliveryException e) {
            if (e.trouble().mayBeOfAll()) {
                last = e.trouble();
                failuresInARow.incrementAndGet();
            } else {
                failuresInARow.set(0);
            }
            throw e;
        }
    }

    public boolean isOver() {
        return failuresInARow.get() >= FAILURES_IN_A_ROW_MAX;
    }
}
