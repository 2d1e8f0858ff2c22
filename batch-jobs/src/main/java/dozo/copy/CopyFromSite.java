package dozo.copy;

import dozo.file.FilePath;
import dozo.remote.SiteAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Copies files and folders of a site to this machine. */
public final class CopyFromSite implements Copy {

    /**
     * A copy of these sources.
     *
     * @param sources below the site's root
     * @param into whether the sources keep their names and go into the destination; else the one source becomes it
     */
    public CopyFromSite(SiteAddress site, List<FilePath> sources, Path destination, boolean into, Options options) {}

    @Override
    public Progress run(Consumer<Finding> findings) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Progress progress() {
        return new Progress(0, 0, false, 0, 0, 0, 0);
    }

    @Override
    public void close() {}
}
