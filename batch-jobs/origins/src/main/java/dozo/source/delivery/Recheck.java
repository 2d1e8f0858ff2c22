package dozo.source.delivery;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks delivered files again in their origin, one after the other. Nothing is written. A file is only accused if two readings
 * returned other bytes, and the origin lists it unchanged afterwards.
 *
 * @param <W> a file as the origin lists it
 */
public final class Recheck<W extends ListedFile> {

    private final Asked asked;
    private final Source<W> source;
    private final Set<Trouble> endsAll;
    private final Patience patience = new Patience();
    private long bytesMoved;

    /**
     * Which of an item's files are checked.
     *
     * @param after only files with later paths, in the order of paths
     * @param only only these files, if there are any
     * @param filesMax at most so many files
     * @param bytesMax at most so many bytes; at least one file, however large
     * @param sent returns the SHA-256 of what was sent under these paths, as far as it is known
     */
    public record Asked(
            FilePath after,
            List<FilePath> only,
            int filesMax,
            long bytesMax,
            Function<List<FilePath>, Map<FilePath, Digest>> sent) {}

    /**
     * The result.
     *
     * @param next the path after which the next check continues; null if no file is left
     * @param bytesMoved how many bytes the origin sent
     */
    public record Result(List<Checked> files, @Nullable FilePath next, long bytesMoved) {}

    /**
     * What an origin lists of an item.
     *
     * @param isWhole whether nothing could be left out
     */
    public record Told<W>(Collection<W> files, boolean isWhole) {}

    /** The part of a check that differs between origins. */
    public interface Source<W extends ListedFile> {

        /**
         * Lists the item's files.
         *
         * @throws DeliveryException if they cannot be listed
         */
        Told<W> list() throws IOException, InterruptedException;

        /** Reads a file's bytes, as near to the origin's disk as it can. */
        Reread read(W file, Delivered.Entry place) throws IOException, InterruptedException;
    }

    /** @param endsAll troubles that prevent every other request too */
    public Recheck(Asked asked, Set<Trouble> endsAll, Source<W> source) {
        this.asked = asked;
        this.source = source;
        this.endsAll = endsAll;
    }

    /**
     * Checks files of an item.
     *
     * @param home the item's folder in the spool
     * @param noteForm as in {@link ItemFolder#open}
     * @throws DeliveryException if the item cannot be listed, the record of its files cannot be read, or the origin no longer answers
     */
    public Result in(Path home, String noteForm) throws IOException, InterruptedException {
        List<Delivered.Entry> left = left(home, noteForm);
        List<Delivered.Entry> those = first(left);
        Map<FilePath, Digest> sent =
                asked.sent.apply(those.stream().map(Delivered.Entry::path).toList());
        Told<W> told = source.list();
        Map<String, W> before = byId(told);
        List<Checked> checked = new ArrayList<>();
        for (Delivered.Entry place : those) {
            checked.add(check(place, before.get(place.id()), told.isWhole(), sent.get(place.path())));
        }
        FilePath next = those.size() < left.size() ? those.getLast().path() : null;
        return new Result(unedited(those, checked), next, bytesMoved);
    }

    private List<Delivered.Entry> left(Path home, String noteForm) throws DeliveryException {
        try {
            return Delivered.read(home, noteForm).stream()
                    .filter(place -> asked.only.isEmpty()
                            ? place.path().compareTo(asked.after) > 0
                            : asked.only.contains(place.path()))
                    .toList();
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    private List<Delivered.Entry> first(List<Delivered.Entry> left) {
        List<Delivered.Entry> first = new ArrayList<>();
        long bytes = 0;
        for (Delivered.Entry place : left) {
            bytes += place.sizeBytes();
            if (!first.isEmpty() && (first.size() == asked.filesMax || bytes > asked.bytesMax)) {
                break;
            }
            first.add(place);
        }
        return first;
    }

    private Checked check(Delivered.Entry place, @Nullable W told, boolean isWhole, @Nullable Digest sent)
            throws IOException, InterruptedException {
        if (told == null && !isWhole) {
            return new Checked.Unknown(place.path(), "a part of the item could not be listed");
        }
        if (told == null || !isListedAsDelivered(place, told)) {
            return new Checked.Edited(place.path());
        }
        try {
            Checked once = read(place, told, sent);
            return once instanceof Checked.Other ? read(place, told, sent) : once;
        } catch (DeliveryException e) {
            if (endsAll.contains(e.trouble()) || patience.isOver()) {
                throw e;
            }
            return new Checked.Unknown(place.path(), "%s, %s".formatted(e.trouble(), e.message()));
        }
    }

    private static boolean isListedAsDelivered(Delivered.Entry place, ListedFile told) {
        return place.mark().equals(told.mark()) && (told.sizeBytes() < 0 || told.sizeBytes() == place.sizeBytes());
    }

    private Checked read(Delivered.Entry place, W told, @Nullable Digest sent)
            throws IOException, InterruptedException {
        Reread now = patience.ask(() -> source.read(told, place));
        bytesMoved += now.bytesMoved();
        boolean asDelivered = Boolean.TRUE.equals(now.asDelivered());
        if (Objects.equals(sent, now.sha256()) || (asDelivered && sent == null)) {
            return new Checked.Equal(place.path());
        }
        return now.asDelivered() == null && sent == null
                ? new Checked.Unknown(place.path(), "there is neither a hash nor a receipt to compare with")
                : new Checked.Other(place.path(), now.sha256(), sent, asDelivered);
    }

    /** NB: lists the item after all readings, so that a file that was replaced before or between them is not accused. */
    private List<Checked> unedited(List<Delivered.Entry> those, List<Checked> checked)
            throws IOException, InterruptedException {
        if (checked.stream().noneMatch(Checked.Other.class::isInstance)) {
            return checked;
        }
        Map<String, W> now = byId(source.list());
        List<Checked> sure = new ArrayList<>();
        for (int i = 0; i < checked.size(); i++) {
            W told = now.get(those.get(i).id());
            boolean stands = told != null && isListedAsDelivered(those.get(i), told);
            Checked one = checked.get(i);
            sure.add(one instanceof Checked.Other && !stands ? new Checked.Edited(one.path()) : one);
        }
        return sure;
    }

    private static <W extends ListedFile> Map<String, W> byId(Told<W> told) {
        return told.files().stream().collect(Collectors.toMap(ListedFile::id, file -> file, (one, other) -> other));
    }
}
