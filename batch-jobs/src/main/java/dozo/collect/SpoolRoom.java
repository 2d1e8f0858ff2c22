package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Whether an item has room in its origin's spool: one that has not waits, rather than fill the disk by half of itself. */
final class SpoolRoom {

    private SpoolRoom() {}

    /**
     * What comes of an item for which there is no room: nothing, and it is said why. Null: there is room, or nobody can say; then a disk
     * that becomes full is found out by who writes.
     *
     * @param tree where the item goes; what lies there already needs no room again
     */
    static @Nullable Delivery refusal(Path spool, Path tree, Arrival arrival) {
        Long told = arrival.bytesTold();
        Long files = arrival.filesTold();
        if (told == null || files == null) {
            return null;
        }
        long free;
        try {
            free = Files.getFileStore(spool).getUsableSpace();
            if (told <= free || told - bytesIn(tree) <= free) {
                return null;
            }
        } catch (IOException | UncheckedIOException e) {
            return null;
        }
        Remark missing = new Remark(
                arrival.title(),
                arrival.item(),
                "NO_ROOM",
                "it has %d bytes, and the spool has room for %d: make room there; it is tried again every night"
                        .formatted(told, free));
        return new Delivery(arrival.offer(), files, arrival.filesHere(), 0, false, List.of(missing), List.of());
    }

    private static long bytesIn(Path tree) throws IOException {
        if (!Files.isDirectory(tree, LinkOption.NOFOLLOW_LINKS)) {
            return 0;
        }
        long bytes = 0;
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS)) {
                    bytes += Files.size(each);
                }
            }
        }
        return bytes;
    }
}
