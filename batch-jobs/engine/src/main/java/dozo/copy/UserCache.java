package dozo.copy;

import java.nio.file.Path;

/** The folder of Dozo among the user's caches. */
public final class UserCache {

    private UserCache() {}

    /** Returns the folder, which may not exist yet. */
    public static Path folder() {
        String caches = System.getenv("XDG_CACHE_HOME");
        Path folder = caches == null || caches.isEmpty()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(caches);
        return folder.resolve("dozo");
    }
}
