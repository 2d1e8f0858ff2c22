package dozo.transfer;

import dozo.file.Entry;
import dozo.file.FilePath;
import java.nio.file.Path;

/**
 * Where an experiment's entries come from and where they go; the paths at the site are below its root (design, section 6).
 *
 * @param source the folder they are read from
 * @param bag the experiment's folder at the site
 * @param incoming where its files travel under temporary names
 * @param versions where what this manifest replaces is kept
 */
public record Route(Path source, FilePath bag, FilePath incoming, FilePath versions) {

    private static final FilePath OURS = FilePath.of(".dozo");

    /** The route of one manifest of the experiment {@code project/experiment}. */
    public static Route of(Path source, String experiment, int manifest) {
        return new Route(
                source,
                FilePath.of(experiment),
                OURS.resolve("incoming").resolve(experiment),
                OURS.resolve("versions").resolve(experiment).resolve(String.valueOf(manifest)));
    }

    /** The name of a verified entry. */
    public FilePath finalName(Entry entry) {
        return bag.resolve("data").resolve(entry.path());
    }

    /** The name a file travels under: made of its number, so the same after a restart, and plain ASCII. */
    public FilePath temporaryName(Entry entry) {
        return incoming.resolve(String.valueOf(entry.number()));
    }
}
