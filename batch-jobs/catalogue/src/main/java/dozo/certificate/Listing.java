package dozo.certificate;

import static java.util.Objects.requireNonNull;

import dozo.content.Verdict.State;
import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.ledger.MerkleRoot;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Code;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A certificate's list while it is written: its root and its totals, and what prevents the certificate. */
final class Listing {

    /** A certificate names so many broken files; it counts all. */
    static final int BROKEN_MAX = 1_000;

    /** Not closed: that would discard the spool. */
    private final BufferedOutputStream out;

    private final MerkleRoot tree = new MerkleRoot();
    private long files;
    private long bytes;
    private long folders;
    private long links;
    private @Nullable Instant firstAt;
    private @Nullable Instant lastAt;
    private long unproven;
    private long damaged;
    private @Nullable FilePath firstUnproven;
    private final Map<State, Long> filesByState = new EnumMap<>(State.class);
    private final List<String> broken = new ArrayList<>();

    /**
     * A proven entry, as a line of a certificate's list.
     *
     * @param digest of a file's content or a link's text; of nothing for a folder
     * @param verifiedAt when the digest was computed at the site
     * @param method how it was computed there
     */
    private record ListedEntry(
            EntryKind kind, long sizeBytes, Digest digest, Instant verifiedAt, String method, FilePath path) {

        /** Returns the line without its line end: ASCII, fields separated by one space. */
        byte[] line() {
            return "%c %d %s %s %s %s"
                    .formatted(
                            kind.code(),
                            sizeBytes,
                            digest,
                            verifiedAt,
                            Code.escaped(method.getBytes(StandardCharsets.UTF_8)),
                            Code.escaped(path.bytes()))
                    .getBytes(StandardCharsets.US_ASCII);
        }
    }

    Listing(Spool list) {
        out = new BufferedOutputStream(list);
    }

    /** Adds the next entry, by path. An entry without a digest has no valid receipt. */
    void add(ResultSet row) throws SQLException {
        FilePath path = FilePath.of(row.getBytes("path"));
        byte[] digest = row.getBytes("digest");
        if (digest == null) {
            unproven++;
            damaged += row.getBoolean("damaged") ? 1 : 0;
            firstUnproven = firstUnproven == null ? path : firstUnproven;
            return;
        }
        EntryKind kind = EntryKind.of(row.getString("kind").charAt(0));
        write(new ListedEntry(
                kind,
                row.getLong("size_bytes"),
                Digest.of(digest),
                row.getTimestamp("verified_at").toInstant(),
                row.getString("method"),
                path));
        if (kind == EntryKind.FILE) {
            String state = row.getString("state");
            judge(
                    state == null ? State.UNKNOWN : State.valueOf(state),
                    "%s: %s".formatted(row.getString("format"), row.getString("why")));
        }
    }

    /** Counts what the content of the file in the last line says. */
    private void judge(State state, String rule) {
        filesByState.merge(state, 1L, Long::sum);
        if (state == State.BROKEN && broken.size() < BROKEN_MAX) {
            String ascii = Code.escaped(rule.getBytes(StandardCharsets.UTF_8)).replace("%20", " ");
            broken.add("%d %s".formatted(files + folders + links, ascii));
        }
    }

    private void write(ListedEntry entry) {
        switch (entry.kind()) {
            case FILE -> files++;
            case DIRECTORY -> folders++;
            case LINK -> links++;
        }
        bytes += entry.sizeBytes();
        Instant at = entry.verifiedAt();
        firstAt = firstAt == null || at.isBefore(firstAt) ? at : firstAt;
        lastAt = lastAt == null || at.isAfter(lastAt) ? at : lastAt;
        byte[] line = entry.line();
        tree.add(line);
        try {
            out.write(line);
            out.write('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Ends the list.
     *
     * @throws Refusal if it is not the whole manifest, or empty
     */
    void end(Experiment experiment, Manifest manifest, Site site) {
        if (unproven > 0) {
            throw Refusal.conflict(
                    "site",
                    "%d of %d entries of %s, manifest %d, are not verified at site %s (found damaged: %d), for example \"%s\"; get the certificate when a backup has verified them",
                    unproven,
                    manifest.entries(),
                    experiment.name(),
                    manifest.number(),
                    site.name(),
                    damaged,
                    String.valueOf(firstUnproven));
        }
        if (manifest.entries() == 0) {
            throw Refusal.conflict(
                    "manifest",
                    "manifest %d of %s has no entries, so nothing was verified",
                    manifest.number(),
                    experiment.name());
        }
        if (files != manifest.files()
                || bytes != manifest.bytes()
                || folders != manifest.folders()
                || links != manifest.links()) {
            throw new IllegalStateException("the entries of %s are not those that manifest %d was sealed with"
                    .formatted(experiment.name(), manifest.number()));
        }
        try {
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns how many files were judged so. */
    long files(State state) {
        return filesByState.getOrDefault(state, 0L);
    }

    /**
     * Returns the first broken files: the number of its line in the list, from 1, format and why; escaped as names are, but
     * with spaces.
     */
    List<String> broken() {
        return broken;
    }

    Digest root() {
        return tree.root();
    }

    /** Returns the time of the oldest receipt. */
    Instant firstAt() {
        return requireNonNull(firstAt);
    }

    /** Returns the time of the latest receipt. */
    Instant lastAt() {
        return requireNonNull(lastAt);
    }
}
