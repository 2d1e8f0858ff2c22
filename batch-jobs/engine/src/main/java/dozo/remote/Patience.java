package dozo.remote;

import java.time.Duration;

/**
 * How long to wait for a command at a site: a minimum, plus what the slowest acceptable site needs for what the command
 * reads. A command that takes longer is stuck: because of a disk, a network file system, or a process that is not the
 * expected tool.
 *
 * @param least for a command that reads nothing
 */
public record Patience(Duration least) {

    /** A tenth of the rate of one slow disk, because others may read it at the same time. */
    private static final long BYTES_PER_SECOND = 5_000_000;

    /** Half the speed of a disk that seeks a hundred times a second. */
    private static final long MILLIS_PER_FILE = 20;

    public static final Patience USUAL = new Patience(Duration.ofMinutes(1));

    /** Returns the time for a command that reads this many files with this many bytes in all. */
    public Duration of(long files, long bytes) {
        return least.plusMillis(files * MILLIS_PER_FILE).plusSeconds(bytes / BYTES_PER_SECOND);
    }
}
