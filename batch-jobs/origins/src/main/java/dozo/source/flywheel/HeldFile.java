package dozo.source.flywheel;

import dozo.file.Digest;
import dozo.source.delivery.Connections;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;
import org.jspecify.annotations.Nullable;

/**
 * A file as Flywheel lists it.
 *
 * @param container the container that holds it
 * @param id constant over its versions
 * @param name unique within its container, according to Flywheel
 * @param version counts from 1
 * @param sizeBytes -1 if not stated
 * @param hash as written there; null if there is none
 * @param modality null if not stated, or not a code
 */
public record HeldFile(
        Container container,
        String id,
        String name,
        long version,
        long sizeBytes,
        @Nullable String hash,
        @Nullable String modality)
        implements ListedFile {

    private static final int MARK_LENGTH = 16;

    @Override
    public String mark() {
        return mark(version, hash);
    }

    /** Returns the version with a digest of the hash, which may be any text. */
    static String mark(long version, @Nullable String hash) {
        return hash == null
                ? String.valueOf(version)
                : version + "-" + Digest.ofText(hash).toString().substring(0, MARK_LENGTH);
    }

    @Override
    public Item item(Trouble trouble, String message) {
        return new Item(container.shown() + "/" + Answers.shown(name), id, trouble, message);
    }

    /** Returns the path of its bytes below {@code /api}. */
    String path() {
        return "/%s/%s/files/%s".formatted(container.level().plural(), container.id(), Connections.segment(name));
    }
}
