package dozo.send;

import dozo.file.FilePath;

/**
 * The folders of one experiment at a site, below the site's root (design, section 6).
 *
 * @param bag what anybody can check without us
 * @param versions what was replaced, in a folder for each manifest that replaced something
 * @param incoming where files travel under temporary names
 */
public record SiteFolders(FilePath bag, FilePath versions, FilePath incoming) {

    private static final FilePath OURS = FilePath.of(".dozo");

    /** Where the folders of all experiments are in which files travel under temporary names. */
    public static final FilePath INCOMING = OURS.resolve("incoming");

    private static final FilePath DATA = FilePath.of("data");

    /** Those of the experiment {@code project/experiment}. */
    public static SiteFolders of(String experiment) {
        return new SiteFolders(
                FilePath.of(experiment), OURS.resolve("versions").resolve(experiment), INCOMING.resolve(experiment));
    }

    /** The source's tree. */
    public FilePath data() {
        return bag.resolve(DATA);
    }

    /** What a manifest replaced in the bag. */
    public FilePath versions(int manifest) {
        return versions.resolve(String.valueOf(manifest));
    }

    /** What it replaced of the source's tree. */
    public FilePath versionsOfData(int manifest) {
        return versions(manifest).resolve(DATA);
    }
}
