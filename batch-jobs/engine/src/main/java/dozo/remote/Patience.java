package dozo.remote;

import java.time.Duration;

/**
 * How long a command at a site is waited for: so long in any case, and as long as the slowest site worth having needs for
 * what it reads. Whoever needs longer is stuck: its disk, a network file system, or a process that is not what it should be.
 *
 * @param least for a command that reads nothing
 */
public record Patience(Duration least) {

    /** A tenth of what one slow disk gives, with others reading it at the same time. */
    private static final long BYTES_PER_SECOND = 5_000_000;

    /** A disk seeks a hundred times a second; half of that. */
    private static final long MILLIS_PER_FILE = 20;

    public static final Patience USUAL = new Patience(Duration.ofMinutes(1));

    /** For a command that reads so many files with so many bytes in all. */
    Duration of(long files, long bytes) {
        return least.plusMillis(files * MILLIS_PER_FILE).plusSeconds(bytes / BYTES_PER_SECOND);
    }
}
