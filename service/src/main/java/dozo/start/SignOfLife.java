package dozo.start;

import dozo.file.Build;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Records in the database from time to time that a service is there, active or not, so that people see who stands by. Used by
 * one thread at a time.
 */
final class SignOfLife {

    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final String name;
    private final String url;
    private boolean given;
    private long givenNanos;

    SignOfLife(String name, String url) {
        this.name = name;
        this.url = url;
    }

    /** Gives a sign if the last one was 5 s ago. */
    void give(Connection open) throws SQLException {
        if (!given || System.nanoTime() - givenNanos >= INTERVAL.toNanos()) {
            store(open, false);
            given = true;
            givenNanos = System.nanoTime();
        }
    }

    /** Records that the service stops in an orderly way, if it has given a sign. */
    void stop(Connection open) throws SQLException {
        if (given) {
            store(open, true);
        }
    }

    private void store(Connection open, boolean stopped) throws SQLException {
        LeaseTable.update(open, """
                insert into service_seen (name, url, version, seen_at, stopped) values (?, ?, ?, now(), ?)
                on conflict (name) do update
                set url = excluded.url, version = excluded.version, seen_at = excluded.seen_at, stopped = excluded.stopped
                """, name, url, Build.VERSION, stopped);
        LeaseTable.update(open, "delete from service_seen where seen_at < now() - interval '7 days'");
    }
}
