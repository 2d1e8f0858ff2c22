package dozo.db;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Which of the services with this database is the active one, as far as this process knows. Only the active one starts,
 * continues and changes runs and restores. The database refuses what a former one still tries; a DR site cannot, so
 * {@link #isSure} must be checked before anything is written there (ADR 0081).
 */
public final class ActiveService {

    private final String name;
    private final boolean expires;

    private final CountDownLatch ended = new CountDownLatch(1);

    private volatile State state = State.STANDS_BY;
    private volatile @Nullable Holder holder;
    private volatile long sureUntilNanos;

    private enum State {
        STANDS_BY,
        ACTIVE,
        /** Another service has taken over. This process must start again. */
        LOST
    }

    /**
     * The active service.
     *
     * @param url where people find it in a browser; empty if it is not known
     * @param since when it became active
     * @param term its fencing number
     */
    public record Holder(String name, String url, Instant since, int term) {}

    /**
     * Knows nothing yet, and stands by.
     *
     * @param expires whether another service can take over; false for an embedded database, which only its own service
     *     can reach
     */
    public ActiveService(String name, boolean expires) {
        this.name = name;
        this.expires = expires;
    }

    /** Returns the only service of its database. */
    public static ActiveService alone() {
        ActiveService alone = new ActiveService("alone", false);
        alone.begin(new Holder("alone", "", Instant.EPOCH, 0), System.nanoTime(), Duration.ZERO);
        return alone;
    }

    /** Returns the name of this machine, also if it has no address. */
    public static String machine() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return nameInKernel();
        }
    }

    private static String nameInKernel() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            // Not Linux.
            return "unknown host";
        }
    }

    /** Returns the name of this service. */
    public String name() {
        return name;
    }

    /** Returns whether this service is the active one. */
    public boolean isHere() {
        return state == State.ACTIVE;
    }

    /** Returns whether another service can take over. */
    public boolean mayBeReplaced() {
        return expires;
    }

    /** Returns whether another service has taken over from this one. */
    public boolean isLost() {
        return state == State.LOST;
    }

    /** Returns the active service; null if it is not known yet. */
    public @Nullable Holder holder() {
        return holder;
    }

    /**
     * Returns whether no other service can be active: the lease has not expired by the clock of this machine. It costs
     * nothing and asks nobody.
     */
    public boolean isSure() {
        return isHere() && (!expires || System.nanoTime() - sureUntilNanos < 0);
    }

    /** Records that this service is active, for this time from the given moment on. */
    public void begin(Holder self, long nanos, Duration length) {
        renew(nanos, length);
        holder = self;
        state = State.ACTIVE;
    }

    /** Records that the lease holds for this time from a moment on, in terms of {@link System#nanoTime}. */
    public void renew(long nanos, Duration length) {
        sureUntilNanos = nanos + length.toNanos();
    }

    /** Records which other service is active. */
    public void standBy(Holder other) {
        holder = other;
    }

    /** Records that this service has ended: nothing of it works any more. */
    public void end() {
        ended.countDown();
    }

    /** Waits until this service has ended. */
    public void awaitEnd() throws InterruptedException {
        ended.await();
    }

    /** Records that this service is not active any more. */
    public void lose(Holder successor) {
        state = State.LOST;
        holder = successor;
    }
}
