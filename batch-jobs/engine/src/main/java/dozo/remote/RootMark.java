package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The mark of a site in its root: a random number in the file {@code .dozo/site}. It shows that two sites share a folder,
 * whatever their hosts, paths and links are.
 */
public final class RootMark {

    private static final FilePath FILE = FilePath.of(".dozo/site");

    private static final int ID_CHARS = 36;

    /** What a file stands for that contains no number. */
    private static final UUID UNREADABLE = new UUID(0, 0);

    private RootMark() {}

    /** Returns the mark in the lane's root; empty if there is none. */
    public static Optional<UUID> at(Lane lane) throws RemoteException, InterruptedException {
        return read(lane.sftp(), FilePath.ROOT, false);
    }

    /** Returns the marks in the folders above the lane's root by their paths, the nearest first, as far as they can be read. */
    public static Map<String, UUID> above(Lane lane) throws RemoteException, InterruptedException {
        Map<String, UUID> marks = new LinkedHashMap<>();
        FilePath folder = real(lane, lane.sftp().channel().raw(FilePath.ROOT)).orElse(FilePath.ROOT);
        while (!folder.isRoot()) {
            folder = folder.parent();
            String path = "/" + folder;
            read(lane.sftp().everywhere(), folder, true).ifPresent(mark -> marks.put(path, mark));
        }
        return marks;
    }

    /** Returns the mark in another root of the same host, if that is a folder below the lane's root. */
    public static Optional<UUID> below(Lane lane, String root) throws RemoteException, InterruptedException {
        Optional<FilePath> own = real(lane, lane.sftp().channel().raw(FilePath.ROOT));
        Optional<FilePath> other = real(lane, root.getBytes(StandardCharsets.UTF_8));
        return own.isPresent()
                        && other.isPresent()
                        && !other.equals(own)
                        && other.get().startsWith(own.get())
                ? read(lane.sftp().everywhere(), other.get(), true)
                : Optional.empty();
    }

    /**
     * Puts a mark into the lane's root. If there is another one, and it may not or cannot be replaced, it stays.
     *
     * @param replacing whether it may be replaced
     */
    public static void write(Lane lane, UUID mark, boolean replacing) throws RemoteException, InterruptedException {
        Sftp sftp = lane.sftp();
        FilePath scratch = FilePath.of(".dozo/incoming").resolve(SiteCheck.scratchName("mark-"));
        byte[] content = "%s%nThis folder belongs to one Dozo site. No other site may use it, or a folder in it.%n"
                .formatted(mark)
                .getBytes(StandardCharsets.US_ASCII);
        sftp.mkdirs(scratch);
        FilePath temporary = scratch.resolve(FilePath.of("site"));
        try (RemoteFile file = sftp.create(temporary)) {
            file.write(0, content, 0, content.length);
            file.finish(true);
        }
        try {
            if (replacing) {
                sftp.replace(temporary, FILE);
            } else {
                sftp.rename(temporary, FILE);
            }
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS && e.reason() != Reason.PERMISSION_DENIED) {
                throw e;
            }
        }
        SiteCheck.removeScratch(lane, scratch);
    }

    /** Returns the path without links of a folder, below the host's root; empty if there is no such folder. */
    private static Optional<FilePath> real(Lane lane, byte[] path) throws RemoteException, InterruptedException {
        try {
            byte[] real = lane.sftp().realPath(path);
            return Optional.of(FilePath.of(Arrays.copyOfRange(real, 1, Math.max(real.length, 1))));
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            return Optional.empty();
        }
    }

    private static Optional<UUID> read(Sftp sftp, FilePath folder, boolean ofOthers)
            throws RemoteException, InterruptedException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            sftp.read(folder.resolve(FILE), 0, ID_CHARS, text::write);
            return Optional.of(UUID.fromString(text.toString(StandardCharsets.US_ASCII)));
        } catch (IllegalArgumentException e) {
            return Optional.of(UNREADABLE);
        } catch (RemoteException e) {
            if (e.isNoAnswer() || !(ofOthers || e.reason() == Reason.NO_SUCH_FILE)) {
                throw e;
            }
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
