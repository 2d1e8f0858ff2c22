package dozo.source.flywheel;

import org.jspecify.annotations.Nullable;

/**
 * A file as Flywheel tells of it.
 *
 * @param container what it hangs under
 * @param id constant over its versions
 * @param name unique within its container, if Flywheel keeps its word
 * @param version counts from 1
 * @param sizeBytes -1: it does not say
 * @param hash as it is written there, null if there is none
 * @param modality null if none is told, or none that is a code
 */
public record HeldFile(
        Container container,
        String id,
        String name,
        long version,
        long sizeBytes,
        @Nullable String hash,
        @Nullable String modality) {

    /** The path of its bytes below {@code /api}. */
    String path() {
        return "/%s/%s/files/%s".formatted(container.level().plural(), container.id(), Flywheel.segment(name));
    }
}
