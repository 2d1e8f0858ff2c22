package dozo.restore;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Selection;
import dozo.restore.ArchiveRestore.Counts;
import dozo.restore.Restores.RestoreState;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A restore by the service, or a drill, and its progress.
 *
 * @param sealedAt when the manifest was sealed
 * @param path the only folder or file that is restored, empty for everything; missing: several, or patterns.
 *     {@code pathBytes} is the exact name
 * @param paths the folders and files of the manifest that are restored; no path and no pattern: everything.
 *     {@code pathsBytes} are the exact names
 * @param patterns restores what matches, too; {@code patternsBytes} are the exact patterns
 * @param folder the resolved path, of a drill that of its scratch folder; {@code folderBytes} is the exact name. Missing: a
 *     restore into an archive
 * @param inPlace true: the folder is the source of the experiment
 * @param aside in place, the folder for what stood in the source and differs; missing at the end: nothing was put aside.
 *     {@code asideBytes} is the exact name
 * @param origin the name of the archive that is filled; missing: a folder is
 * @param replaces whether the archive may replace instances that have other bytes
 * @param counts what was counted; missing: a folder is filled
 * @param drill true: a drill, whose folder is removed at its end
 * @param state {@code COMPLETE}: every file is restored and verified; {@code FINDINGS}: not all are; {@code FAILED}: it could
 *     not be finished; {@code BROKEN_OFF}: the service ended during a drill, so the drill shows nothing
 * @param entries files, folders and links read from the manifest so far
 * @param bytes the size of its files
 * @param entriesVerified entries restored and verified so far
 * @param findings the number of findings so far
 * @param message why it failed, or why it waits for its site
 * @param seconds how long a drill took; missing: a restore, or it did not run to its end
 * @param firstByteSeconds the time until the first byte of a drill's content
 */
@SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
public record KeptRestore(
        long id,
        String experiment,
        String project,
        int manifest,
        Instant sealedAt,
        @Nullable String path,
        byte @Nullable [] pathBytes,
        List<String> paths,
        List<byte[]> pathsBytes,
        List<String> patterns,
        List<byte[]> patternsBytes,
        String site,
        @Nullable String folder,
        byte @Nullable [] folderBytes,
        boolean inPlace,
        @Nullable String aside,
        byte @Nullable [] asideBytes,
        @Nullable String origin,
        boolean replaces,
        @Nullable Counts counts,
        boolean drill,
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

    /** Returns what of the manifest is restored. */
    public Selection selection() {
        return new Selection(
                pathsBytes.stream().map(FilePath::of).toList(),
                patternsBytes.stream().map(PathPattern::of).toList());
    }

    /** Returns where it goes. */
    public Target target() {
        if (origin != null) {
            return new Target.Archive(origin, replaces);
        }
        Path path = FilePath.pathOf(requireNonNull(folderBytes));
        if (inPlace) {
            return new Target.InPlace(path, asideBytes == null ? null : FilePath.pathOf(asideBytes));
        }
        return drill ? new Target.Scratch(path) : new Target.Folder(path);
    }

    /** Returns the name of the archive, or the folder. */
    public String destination() {
        return origin != null ? origin : requireNonNull(folder);
    }

    /** Returns whether it shows that not everything could be restored. */
    public boolean failed() {
        return state == RestoreState.FINDINGS || state == RestoreState.FAILED;
    }
}
