package dozo.manifest;

import dozo.file.Owner;
import dozo.manifest.Manifests.Manifest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the database knows of an experiment before its source is read.
 *
 * @param manifest the current one; null: there is none
 * @param foldersThere the number of existing folders
 * @param lastFolder the highest absolute number that a folder has or had
 * @param owner the owner of all entries without a row of their own; null: no owner was ever recorded
 * @param freeze whether it is frozen, or released and not read since
 */
public record Known(
        @Nullable Manifest manifest,
        long foldersThere,
        int lastFolder,
        @Nullable Owner owner,
        boolean freeze) {

    static final Known NOTHING = new Known(null, 0, 0, null, false);

    Optional<Manifest> current() {
        return Optional.ofNullable(manifest);
    }
}
