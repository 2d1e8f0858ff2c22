package dozo.restore;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where a restore goes. */
public sealed interface Target {

    /** A folder of this machine, without links. */
    record Folder(Path folder) implements Target {}

    /** The folder of a drill, which does not exist yet and is removed at its end. */
    record Scratch(Path folder) implements Target {}

    /**
     * The source of the experiment.
     *
     * @param source without links
     * @param aside the folder for what stood there and differs; null: it has ended, and nothing was put aside
     */
    record InPlace(Path source, @Nullable Path aside) implements Target {}

    /**
     * An archive.
     *
     * @param origin the name of the origin that it is registered as
     * @param replaces whether it may replace instances that have other bytes; otherwise they stay, and are findings
     */
    record Archive(String origin, boolean replaces) implements Target, BatchTarget {}
}
