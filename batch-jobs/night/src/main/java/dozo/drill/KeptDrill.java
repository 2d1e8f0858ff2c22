package dozo.drill;

import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Restores.SoFar;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A drill: the evidence of a rehearsed restore. Its counts are zero while it waits.
 *
 * @param part the folder or file that was restored, {@link FilePath#ROOT} for everything
 * @param entries files, folders and links of the part
 * @param bytes the size of its files
 * @param message why it failed
 * @param seconds how long the restore took; null: it did not run to its end
 * @param firstByteSeconds when the first byte of content arrived
 */
public record KeptDrill(
        long id,
        String project,
        String experiment,
        int manifest,
        FilePath part,
        String site,
        RestoreState state,
        String requestedBy,
        Instant requestedAt,
        @Nullable Instant startedAt,
        @Nullable Instant endedAt,
        long entries,
        long bytes,
        long entriesVerified,
        long bytesVerified,
        long findings,
        String message,
        @Nullable Double seconds,
        @Nullable Double firstByteSeconds) {

    /** Returns whether it shows that a restore would not have worked. */
    public boolean failed() {
        return state == RestoreState.FINDINGS || state == RestoreState.FAILED;
    }

    KeptDrill at(SoFar now) {
        Progress progress = now.progress();
        return new KeptDrill(
                id,
                project,
                experiment,
                manifest,
                part,
                site,
                state,
                requestedBy,
                requestedAt,
                startedAt,
                endedAt,
                progress.entries(),
                progress.bytes(),
                progress.entriesVerified(),
                progress.bytesVerified(),
                now.found(),
                message,
                seconds,
                firstByteSeconds);
    }
}
