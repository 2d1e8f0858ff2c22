package dozo.restore;

import java.nio.file.Path;

/** Where a restore goes. */
public sealed interface Target {

    /** A folder of this machine, without links. */
    record Folder(Path folder) implements Target {}

    /** The folder of a drill, which does not exist yet and is removed at its end. */
    record Scratch(Path folder) implements Target {}

    /**
     * An archive.
     *
     * @param origin the name of the origin that it is registered as
     * @param replaces whether it may replace instances that have other bytes; otherwise they stay, and are findings
     */
    record Archive(String origin, boolean replaces) implements Target {}
}
