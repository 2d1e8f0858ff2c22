package dozo.restore;

import dozo.file.FilePath;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.restore.Restores.RestoreState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Restores of many experiments with one target, one after the other, as far as a user sees them: experiments of other
 * projects are not counted.
 *
 * @param state {@code COMPLETE}: all restores are complete; {@code FINDINGS}: not all are; {@code FAILED}: it ended early,
 *     because eight restores failed one after the other
 * @param folder where each experiment gets a folder {@code PROJECT.EXPERIMENT}; {@code folderBytes} is the exact name. Missing:
 *     another target
 * @param inPlace true: each experiment is restored into its source
 * @param origin the name of the archive that is filled; missing: another target
 * @param replaces whether the archive may replace instances that have other bytes
 * @param experiments all of them, with their {@code files} and {@code bytes}
 * @param complete experiments that are restored completely
 * @param withFindings experiments of which something could not be restored
 * @param failed experiments that could not be restored, or whose restore was refused
 * @param stopped experiments whose restore was stopped, or not begun before the batch ended
 * @param running experiments that are restored now
 * @param waiting experiments whose turn comes
 * @param filesLeft files of experiments that are not restored yet
 * @param bytesLeft bytes that are not restored yet
 * @param forecast the time until the last of these experiments, from when it is the batch's turn. Missing: it has ended, or fewer
 *     than five restores from the site into such a target were measured
 */
@SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
public record RestoreBatch(
        long id,
        RestoreState state,
        String site,
        @Nullable String folder,
        byte @Nullable [] folderBytes,
        boolean inPlace,
        @Nullable String origin,
        boolean replaces,
        String requestedBy,
        Instant requestedAt,
        @Nullable Instant endedAt,
        long experiments,
        long files,
        long bytes,
        long complete,
        long withFindings,
        long failed,
        long stopped,
        long running,
        long waiting,
        long filesLeft,
        long bytesLeft,
        @Nullable RestoreTime forecast) {

    /** Returns the name of the archive, or the folder; null: the sources. */
    public @Nullable String destination() {
        return origin == null ? folder : origin;
    }

    /** Returns the share of the experiments that nothing is left to do for, in percent, rounded down. */
    public int percentDone() {
        return (int) (100 * (experiments - running - waiting) / Math.max(1, experiments));
    }

    /** Returns where it goes. */
    BatchTarget target() {
        if (origin != null) {
            return new Target.Archive(origin, replaces);
        }
        return folderBytes == null ? new BatchTarget.Sources() : new BatchTarget.Below(FilePath.pathOf(folderBytes));
    }
}
