package dozo.file;

import java.util.Objects;

/** What this program was built from. */
public final class Build {

    /**
     * Version and commit, such as {@code 1.0.0+23377a86} (Semantic Versioning 2.0.0, build metadata); with {@code .dirty} if
     * uncommitted changes were built, too. Programs with the same one are the same. {@code development}: it runs without jars.
     */
    public static final String VERSION =
            Objects.requireNonNullElse(Build.class.getPackage().getImplementationVersion(), "development");

    private Build() {}
}
