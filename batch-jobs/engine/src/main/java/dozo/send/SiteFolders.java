package dozo.send;

import dozo.file.FilePath;
import java.util.Optional;

/**
 * The folders of one experiment at a site, below the site's root (design, section 6).
 *
 * @param bag the part that anybody can check without Dozo
 * @param versions replaced files, in a folder for each manifest that replaced something
 * @param incoming the folder for temporary names
 */
public record SiteFolders(FilePath bag, FilePath versions, FilePath incoming) {

    private static final FilePath OURS = FilePath.of(".dozo");

    /** The folder with the temporary folders of all experiments. */
    public static final FilePath INCOMING = OURS.resolve("incoming");

    private static final FilePath DATA = FilePath.of("data");

    /** Returns those of the experiment {@code project/experiment}. */
    public static SiteFolders of(String experiment) {
        return new SiteFolders(
                FilePath.of(experiment), OURS.resolve("versions").resolve(experiment), INCOMING.resolve(experiment));
    }

    /** Returns the folder of the source's tree. */
    public FilePath data() {
        return bag.resolve(DATA);
    }

    /** Returns the folder of what a manifest replaced in the bag. */
    public FilePath versions(int manifest) {
        return versions.resolve(String.valueOf(manifest));
    }

    /**
     * Returns the part of a copy's place below its data folder: in the bag, or in that of a manifest's versions; empty if it is in
     * neither.
     */
    Optional<FilePath> below(FilePath place) {
        FilePath data = data();
        if (place.startsWith(versions) && !place.equals(versions)) {
            FilePath version = place.below(versions);
            while (!version.parent().isRoot()) {
                version = version.parent();
            }
            data = versions.resolve(version).resolve(DATA);
        }
        return place.startsWith(data) ? Optional.of(place.below(data)) : Optional.empty();
    }

    /** Returns the folder of what it replaced of the source's tree. */
    public FilePath versionsOfData(int manifest) {
        return versions(manifest).resolve(DATA);
    }
}
