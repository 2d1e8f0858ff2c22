package dozo.source.delivery;

import dozo.file.Digest;
import dozo.file.FilePath;
import org.jspecify.annotations.Nullable;

/** What a delivered file was found to be in its origin, at its path in the item's tree. */
public sealed interface Checked {

    FilePath path();

    /** It has the bytes that were sent; or those that were delivered, if it is not sent yet. */
    record Equal(FilePath path) implements Checked {}

    /** The origin lists it otherwise than when it was delivered, or not at all: the next collection's business. */
    record Edited(FilePath path) implements Checked {}

    /**
     * The origin lists it as when it was delivered, and returned bytes twice that are not those that were sent.
     *
     * @param found SHA-256 of the last ones
     * @param sent SHA-256 of what was sent; null if it is not known
     * @param asDelivered whether they are those that the origin delivered, so that what was sent is something else
     */
    record Other(FilePath path, Digest found, @Nullable Digest sent, boolean asDelivered) implements Checked {}

    /** There is no proof of either. */
    record Unknown(FilePath path, String message) implements Checked {}
}
