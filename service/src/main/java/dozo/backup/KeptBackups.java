package dozo.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The backups in a folder, by the time in their names. */
final class KeptBackups {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("'dozo-'yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final Pattern NAME = Pattern.compile("dozo-[0-9]{8}T[0-9]{6}Z");

    /** A file in a backup that is not complete: who makes it. The maker locks it. */
    private static final String MARK = "in-work";

    /** Complete ones, the newest first. */
    private final List<Path> complete;

    private KeptBackups(List<Path> complete) {
        this.complete = complete;
    }

    static String name(Instant madeAt) {
        return TIME.format(madeAt);
    }

    static KeptBackups in(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return new KeptBackups(all.filter(
                            each -> NAME.matcher(each.getFileName().toString()).matches())
                    .sorted(Comparator.reverseOrder())
                    .toList());
        }
    }

    Optional<Instant> newest() {
        return complete.stream()
                .findFirst()
                .map(folder -> TIME.parse(folder.getFileName().toString(), Instant::from));
    }

    void removeAllBut(int keep) throws IOException {
        for (Path folder : complete.stream().skip(keep).toList()) {
            remove(folder);
        }
    }

    /** Marks a backup that is not complete as one of a living process, as long as the result is open. */
    static FileChannel mark(Path partial, String owner) throws IOException {
        FileChannel mark =
                FileChannel.open(partial.resolve(MARK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        // On a file system without locks it has no owner, so that nobody removes it.
        if (isFree(mark)) {
            mark.write(ByteBuffer.wrap(owner.getBytes(StandardCharsets.UTF_8)));
        }
        return mark;
    }

    static void unmark(Path complete) throws IOException {
        Files.delete(complete.resolve(MARK));
    }

    /**
     * Removes backups that processes of this service were killed in. Those of other services may be running: where their machine's
     * locks do not reach, they look the same.
     */
    static void removeLeftBehind(Path parent, String owner) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, "dozo-*Z" + ServiceBackup.PARTIAL)) {
            for (Path partial : all) {
                Path file = partial.resolve(MARK);
                try (FileChannel mark = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
                    // NB: read before the lock, because the end of a reading would give the lock up.
                    if (Arrays.equals(Files.readAllBytes(file), owner.getBytes(StandardCharsets.UTF_8))
                            && isFree(mark)) {
                        remove(partial);
                    }
                } catch (NoSuchFileException | AccessDeniedException notLeft) {
                    // It is too young to have keys, or gone, or of another user.
                }
            }
        }
    }

    /** Takes the lock, if nobody has it and there are locks. */
    private static boolean isFree(FileChannel mark) {
        try {
            return mark.tryLock() != null;
        } catch (IOException withoutLocks) {
            return false;
        }
    }

    /** NB: the keys before the mark, in this order: a removal that is killed would otherwise leave them for good. */
    static void remove(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
