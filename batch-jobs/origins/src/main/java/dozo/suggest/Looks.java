package dozo.suggest;

import static dozo.registry.GivenPaths.shown;

import dozo.registry.Refusal;
import dozo.source.dicom.PseudonymousCode;
import dozo.suggest.FolderLook.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks into folders, a few at a time, each on its own thread: a file server that does not answer blocks that thread,
 * not the caller.
 */
final class Looks {

    private static final int AT_ONCE = 4;
    private static final Duration TURN_MAX = Duration.ofSeconds(10);

    /** Longer than a look's own time limit: after that it hangs. */
    private static final Duration ANSWER_MAX = Limits.USUAL.time().plusSeconds(5);

    private final Semaphore turns = new Semaphore(AT_ONCE, true);

    /** @throws Refusal if the folder cannot be read or does not answer, or too many folders are being read */
    FolderFacts into(Path root, Path top, Limits limits, PseudonymousCode codes, ZoneId zone) {
        try {
            if (!turns.tryAcquire(TURN_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
                throw Refusal.conflict("source", "too many folders are being read now; try again in a minute");
            }
            FutureTask<FolderFacts> look =
                    new FutureTask<>(() -> new FolderLook(root, top, limits, codes, zone).look());
            Thread.ofPlatform().name("look").daemon().start(() -> {
                try {
                    look.run();
                } finally {
                    turns.release();
                }
            });
            return evidence(root, look);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Refusal.conflict("source", "interrupted while the folder was read");
        }
    }

    private static FolderFacts evidence(Path root, FutureTask<FolderFacts> look) throws InterruptedException {
        try {
            return look.get(ANSWER_MAX.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException hangs) {
            look.cancel(true);
            throw new Refusal("source", "%s did not respond within %d s", shown(root), ANSWER_MAX.toSeconds());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException) {
                throw new Refusal("source", "the service's user cannot read %s", shown(root));
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
