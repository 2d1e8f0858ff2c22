package dozo.start;

import dozo.file.Build;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Records in the database from time to time that a service or worker is there, and what it has of that which all need to have in
 * common, so that people see who stands by and who could not take over. Used by one thread at a time.
 */
final class SignOfLife {

    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final String name;
    private final String url;
    private boolean given;
    private long givenNanos;
    private String equipmentGiven = "";

    /** JSON; empty: it is not known yet. */
    private volatile String equipment = "";

    SignOfLife(String name, String url) {
        this.name = name;
        this.url = url;
    }

    /** Has the next sign say what this process has (JSON). May be called by any thread. */
    void equip(String json) {
        equipment = json;
    }

    /**
     * Gives a sign if the last one was 5 s ago or said something else.
     *
     * @param process 0: a service; otherwise the process of a worker
     */
    void give(Connection open, long process) throws SQLException {
        String now = equipment;
        if (!given || !now.equals(equipmentGiven) || System.nanoTime() - givenNanos >= INTERVAL.toNanos()) {
            store(open, process, false);
            // NB: not in the statement above, which would write some kB with each sign.
            LeaseTable.update(open, """
                    update service_seen set equipment = nullif(?, '')::jsonb
                    where name = ? and process = ? and equipment is distinct from nullif(?, '')::jsonb
                    """, now, name, process, now);
            given = true;
            equipmentGiven = now;
            givenNanos = System.nanoTime();
        }
    }

    /** Records that the process stops in an orderly way, if it has given a sign. */
    void stop(Connection open, long process) throws SQLException {
        if (given) {
            store(open, process, true);
        }
    }

    private void store(Connection open, long process, boolean stopped) throws SQLException {
        LeaseTable.update(open, """
                insert into service_seen (name, process, url, version, seen_at, stopped) values (?, ?, ?, ?, now(), ?)
                on conflict (name, process) do update
                set url = excluded.url, version = excluded.version, seen_at = excluded.seen_at, stopped = excluded.stopped
                """, name, process, url, Build.VERSION, stopped);
        LeaseTable.update(open, "delete from service_seen where seen_at < now() - interval '7 days'");
    }
}
