package dozo.source.xnat;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Fetching;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Part;
import dozo.source.delivery.Reread;
import dozo.source.delivery.SpoolName;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Downloads the files of a session into its folder. A download succeeds if size and MD5, where stated, are as XNAT lists them. */
final class Downloads implements Fetching<XnatFile> {

    /** The note in each line of the record; XNAT needs none. */
    static final String NOTE = "-";

    /** Longer paths become one name in the resource's folder; file systems allow 4,096 with the folders above. */
    private static final int PATH_BYTES_MAX = 2_000;

    private final Xnat xnat;
    private final ItemFolder home;
    private final Map<String, FilePath> paths = new HashMap<>();
    private final Map<FilePath, String> taken = new HashMap<>();
    private final Set<FilePath> folders = new HashSet<>();

    Downloads(Xnat xnat, ItemFolder home, List<XnatFile> files) {
        this.xnat = xnat;
        this.home = home;
        home.delivered().places().forEach(place -> take(place.id(), place.path()));
        for (XnatFile file : files) {
            FilePath path =
                    home.delivered().of(file.id()).map(Delivered.Entry::path).orElseGet(() -> path(file));
            take(file.id(), path);
            paths.put(file.id(), path);
        }
    }

    private void take(String id, FilePath path) {
        taken.put(path, id);
        for (FilePath above = path.parent(); !above.isRoot(); above = above.parent()) {
            folders.add(above);
        }
    }

    /** Returns a path that no other file has, and that needs no folder where a file is. */
    private FilePath path(XnatFile file) {
        FilePath folder = file.resource().folder();
        FilePath path = folder;
        boolean isFree = true;
        for (String segment : XnatFile.segments(file.path())) {
            path = path.resolve(SpoolName.file(segment, file.id()));
            isFree &= !taken.containsKey(path);
        }
        boolean isUsable = isFree && !folders.contains(path) && path.bytes().length <= PATH_BYTES_MAX;
        return isUsable
                ? path
                : folder.resolve(SpoolName.twin(XnatFile.segments(file.path()).getLast(), file.id()));
    }

    @Override
    public Arrived fetch(XnatFile file, Part part) throws IOException, InterruptedException {
        FilePath path = Objects.requireNonNull(paths.get(file.id()));
        // A part left by a crash is not continued: XNAT may have other bytes by now, and may state no digest.
        part.discard();
        // The last delivery was killed after naming the file and before recording it.
        if (isAt(home.at(path), file)) {
            return () -> place(file, file.sizeBytes(), path);
        }
        long bytes = xnat.file(file.resource().shown(), file.address(), isProven(file), answer -> {
            MessageDigest md5 = md5();
            try (InputStream body = answer.body(Xnat.FILE_BYTES_MAX)) {
                part.take(new DigestInputStream(body, md5), 0, file.sizeBytes());
            }
            return checked(file, part.sizeBytes(), md5);
        });
        return () -> {
            home.name(part, path);
            return place(file, bytes, path);
        };
    }

    private static long checked(XnatFile file, long bytes, MessageDigest md5) throws DeliveryException {
        if (bytes < file.sizeBytes()) {
            throw new DeliveryException(
                    Trouble.TRUNCATED, "received %d bytes, expected %d".formatted(bytes, file.sizeBytes()));
        }
        if (file.md5() != null && !file.md5().equals(HexFormat.of().formatHex(md5.digest()))) {
            throw new DeliveryException(
                    Trouble.HASH_DIFFERS, "MD5 mismatch: the file is damaged, or the catalogue is out of date");
        }
        return bytes;
    }

    private static boolean isProven(XnatFile file) {
        return file.md5() != null || file.sizeBytes() >= 0;
    }

    private static Delivered.Entry place(XnatFile file, long bytes, FilePath path) {
        return new Delivered.Entry(file.id(), file.mark(), bytes, NOTE, path);
    }

    /** Returns whether an existing file has the listed bytes. */
    private static boolean isAt(Path end, XnatFile file) throws IOException {
        return file.md5() != null
                && Files.isRegularFile(end, LinkOption.NOFOLLOW_LINKS)
                && Files.size(end) == file.sizeBytes()
                && file.md5()
                        .equals(HexFormat.of().formatHex(Part.digest(end, md5()).digest()));
    }

    /** Downloads a file, and keeps nothing of it. */
    static Reread reread(Xnat xnat, XnatFile file) throws IOException, InterruptedException {
        return xnat.file(file.resource().shown(), file.address(), isProven(file), answer -> {
            MessageDigest content = Digest.algorithm();
            MessageDigest md5 = md5();
            try (InputStream body = answer.body(Xnat.FILE_BYTES_MAX)) {
                long bytes = Reread.digest(answer, body, file.sizeBytes(), content, md5);
                boolean asListed = HexFormat.of().formatHex(md5.digest()).equals(file.md5());
                return new Reread(Digest.of(content.digest()), file.md5() == null ? null : asListed, bytes);
            }
        });
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }
}
