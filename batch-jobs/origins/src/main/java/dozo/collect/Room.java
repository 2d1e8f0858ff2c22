package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.file.Size;
import dozo.registry.FileQuestion;
import dozo.registry.Refusal;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The free space in origins' spools, from which nothing is ever evicted (ADR 0045), and the check whether an item fits.
 */
@Component
class Room {

    /** How long before a spool is full this is reported: as long as it takes to buy a disk. */
    private static final Duration AHEAD = Duration.ofDays(14);

    /** The time limit at night: busy file servers may be slow, and no person is waiting. */
    static final Duration NIGHT = Duration.ofMinutes(1);

    private static final FileQuestion<Spool> SPOOL = new FileQuestion<>(folder -> {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            return new Spool(
                    !entries.iterator().hasNext(), Files.getFileStore(folder).getUsableSpace());
        }
    });

    private record Spool(boolean empty, long usableBytes) {}

    private final JdbcClient jdbc;
    private final CollectSettings settings;
    private final InstantSource clock;

    Room(JdbcClient jdbc, CollectSettings settings, InstantSource clock) {
        this.jdbc = jdbc;
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * Returns how many bytes may still be written to an origin's spool; negative if too many are there already. A tree
     * has unlimited space, because nothing is written to it.
     *
     * @param most how long to wait for its file system
     * @throws OriginException if the spool is empty although something was delivered into it
     * @throws IOException if it does not exist
     * @throws Refusal if its file system does not answer
     */
    long left(Origin origin, Duration most) throws IOException {
        if (origin.terms().kind() == OriginKind.TREE) {
            return Long.MAX_VALUE;
        }
        Spool spool = SPOOL.about("spool", origin.terms().spool(), most);
        if (spool.empty && wasFilled(origin)) {
            throw new OriginException(
                    "its spool is empty, but was not before: nothing is downloaded until its file system is mounted again");
        }
        return spool.usableBytes - settings.roomLeft().toBytes();
    }

    private boolean wasFilled(Origin origin) {
        return jdbc.sql("select exists (select from arrival where origin_id = :origin and files_here > 0)")
                .param("origin", origin.id())
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /** Returns why an item does not fit; empty if it fits, as far as its size is known. */
    Optional<Remark> refusal(Origin origin, Arrival arrival, Path tree) throws IOException {
        long left = left(origin, NIGHT);
        Long told = arrival.bytesTold();
        // The files already here are counted only if it matters: there may be a million.
        if (left >= 0 && (told == null || told <= left || told - bytesIn(tree) <= left)) {
            return Optional.empty();
        }
        String message =
                "item has %s, but the spool has room for %s; %s of its file system are kept free (dozo.collect.room-left)"
                        .formatted(
                                shown(told),
                                shown(Math.max(0, left)),
                                shown(settings.roomLeft().toBytes()));
        return Optional.of(new Remark(arrival.title(), arrival.item(), "NO_ROOM", message));
    }

    private static long bytesIn(Path tree) throws IOException {
        long[] bytes = new long[1];
        if (Files.isDirectory(tree)) {
            Files.walkFileTree(tree, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    bytes[0] += attributes.size();
                    return FileVisitResult.CONTINUE;
                }
            });
        }
        return bytes[0];
    }

    /** Returns a message if a spool will be full within 14 days at the rate of the last 14 days. */
    Optional<String> shortness(Origin origin, long left) {
        long came = jdbc.sql("""
                        select coalesce(sum(bytes_fetched), 0) from reconciliation
                        where origin_id = :origin and began_at > :since
                        """)
                .param("origin", origin.id())
                .param("since", Timestamp.from(clock.instant().minus(AHEAD)))
                .query((row, n) -> row.getLong(1))
                .single();
        if (came == 0 || came <= left) {
            return Optional.empty();
        }
        long days = Math.max(0, left) * AHEAD.toDays() / came;
        return Optional.of(
                "origin %1$s: %2$s free in its spool; %4$s were delivered in %3$d days, so it will be full in %5$d days"
                        .formatted(origin.name(), shown(Math.max(0, left)), AHEAD.toDays(), shown(came), days));
    }

    private static String shown(@Nullable Long bytes) {
        return bytes == null ? "an unknown number of bytes" : Size.text(bytes);
    }
}
