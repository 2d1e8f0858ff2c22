package dozo.db;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/** Closes what test classes share after the last of them. */
public final class SessionEnd implements LauncherSessionListener {

    private static final Deque<Runnable> CLOSERS = new ConcurrentLinkedDeque<>();

    /** Has something closed at the end, before what was given earlier. */
    public static void close(Runnable closer) {
        CLOSERS.push(closer);
    }

    @Override
    public void launcherSessionClosed(LauncherSession session) {
        while (!CLOSERS.isEmpty()) {
            CLOSERS.pop().run();
        }
    }
}
