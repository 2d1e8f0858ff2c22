package dozo.start;

import dozo.db.EmbeddedDatabase;
import dozo.db.LostDatabase;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks once a second, on its own connection, whether the database answers, and keeps the lease of the active service
 * or waits for it. Logs once that the database is away, and once that it is back.
 */
final class Presence implements AutoCloseable {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration END_LIMIT = Duration.ofSeconds(30);

    /** The SQLSTATE of a connection that could not be established. */
    private static final String NO_CONNECTION = "08001";

    private static final Logger LOG = LoggerFactory.getLogger(Presence.class);

    private final Lease lease;
    private final @Nullable EmbeddedDatabase embedded;
    private final Thread looking =
            Thread.ofPlatform().daemon().name("database-watch").unstarted(this::look);

    /** Whether a defect has been logged since the last good look. Used only by the watch's thread. */
    private boolean failed;

    /** Guarded by this, like all fields below. */
    private boolean away;

    private boolean full;
    private long awaySince;
    private boolean leaving;
    private boolean closed;
    private @Nullable String over;
    private @Nullable Consumer<String> whenOver;

    /** Watches the disk of an embedded database, too. */
    Presence(Lease lease, @Nullable EmbeddedDatabase embedded) {
        this.lease = lease;
        this.embedded = embedded;
    }

    void start() {
        looking.start();
    }

    /** Returns whether the database does not answer, or may not be used any more. */
    synchronized boolean isAway() {
        return away || over != null;
    }

    /**
     * Waits until the database answers; returns at once if it is not away.
     *
     * @throws SQLTransientConnectionException if the database is away and the service is stopping
     */
    synchronized void awaitReturn() throws SQLTransientConnectionException {
        while (isAway()) {
            if (leaving || over != null) {
                throw gone();
            }
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw gone();
            }
        }
    }

    /** Returns the exception for callers that do not wait. */
    synchronized SQLTransientConnectionException gone() {
        return gone(full);
    }

    static SQLTransientConnectionException gone(boolean full) {
        return full
                ? new SQLTransientConnectionException(LostDatabase.SAID_FULL, LostDatabase.DISK_FULL)
                : new SQLTransientConnectionException("the database does not answer", NO_CONNECTION);
    }

    /** Ends all waits for a database that is away, now and in the future. */
    synchronized void leave() {
        leaving = true;
        notifyAll();
    }

    /** Records that the service cannot use this database any more. Only the first reason counts. */
    synchronized void end(String reason) {
        if (over != null || closed) {
            return;
        }
        over = reason;
        LOG.error("{}; the service stops", reason);
        notifyAll();
        if (whenOver != null) {
            whenOver.accept(reason);
        }
    }

    /** Calls {@code then} once, now or later, when the service cannot use this database any more. */
    synchronized void whenOver(Consumer<String> then) {
        whenOver = then;
        if (over != null) {
            then.accept(over);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        looking.interrupt();
        try {
            looking.join(END_LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        try {
            while (goesOn()) {
                lookOnce();
                Thread.sleep(INTERVAL);
            }
        } catch (StartFailure taken) {
            end(taken.message());
        } catch (InterruptedException closing) {
            // The service is closing.
        } finally {
            if (goesOn()) {
                // An Error: without this watch, nobody would know whether the lease is kept.
                end("the watch of the database has ended unexpectedly");
            }
        }
    }

    private synchronized boolean goesOn() {
        return !closed && over == null;
    }

    private void lookOnce() {
        try {
            if (embedded != null) {
                embedded.requireSpace();
            }
            if (lease.holds()) {
                lease.keep();
            } else {
                lost("the connection was lost", false);
                lease.reopen();
            }
            found();
            failed = false;
        } catch (SQLException e) {
            lost(String.valueOf(e.getMessage()).replaceAll("\\s+", " "), LostDatabase.isFull(e));
            if (!LostDatabase.isBehind(e)) {
                LOG.debug("the database answers with an error", e);
            }
        } catch (StartFailure taken) {
            throw taken;
        } catch (RuntimeException defect) {
            // NB: as if it did not answer: nothing is done while the lease is perhaps not kept, and the next look may
            // succeed.
            if (!failed) {
                failed = true;
                LOG.error("a look at the database failed", defect);
            }
            lost("a look at it failed: " + defect, false);
        }
    }

    private synchronized void lost(String reason, boolean diskFull) {
        full = diskFull;
        if (!away && !closed) {
            away = true;
            awaySince = System.nanoTime();
            LOG.error(
                    "{}{}; requests are answered with 503, runs and schedules wait for it",
                    diskFull ? "" : "the database does not answer: ",
                    reason);
        }
    }

    private synchronized void found() {
        if (away) {
            away = false;
            notifyAll();
            LOG.warn(
                    "the database answers again after {} s",
                    Duration.ofNanos(System.nanoTime() - awaySince).toSeconds());
        }
    }
}
