package dozo.manifest;

import dozo.manifest.Manifests.Manifest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the database knows of an experiment before its source is looked at.
 *
 * @param manifest the current one; null: there is none
 * @param foldersThere how many folders are there
 * @param lastFolder the highest number that a folder has or had, whatever its sign
 * @param freeze whether it is frozen, or released and not looked at since
 */
public record Known(@Nullable Manifest manifest, long foldersThere, int lastFolder, boolean freeze) {

    static final Known NOTHING = new Known(null, 0, 0, false);

    Optional<Manifest> current() {
        return Optional.ofNullable(manifest);
    }
}
