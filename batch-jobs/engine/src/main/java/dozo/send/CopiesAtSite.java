package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.send.Outcome.Failed;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * The verified copies at a site, as the source of copies at another. A copy that does not have its verified digest is
 * never passed on as verified: the engine compares what it has read (ADR 0073).
 */
public final class CopiesAtSite extends SourceFolder {

    private final String site;
    private final Lanes lanes;
    private final Function<Entry, Optional<Place>> places;

    /**
     * Where a copy is, and what it must contain.
     *
     * @param path below the site's root
     */
    public record Place(FilePath path, Digest digest) {}

    /**
     * Creates a source.
     *
     * @param site the site's name, for messages
     * @param lanes to the site; the caller closes them
     * @param places returns the verified copy of an entry; empty: there is none
     */
    public CopiesAtSite(String site, Lanes lanes, Function<Entry, Optional<Place>> places) {
        // Relative, so it is no folder of this machine.
        super(Path.of("copies at " + site));
        this.site = site;
        this.lanes = lanes;
        this.places = places;
    }

    /** Returns the site's name. */
    public String site() {
        return site;
    }

    @Override
    boolean isLocal() {
        return false;
    }

    @Override
    OpenSource open(Entry sealed) throws SourceProblem {
        return new Copy(
                sealed,
                places.apply(sealed)
                        .orElseThrow(() -> new SourceProblem(
                                Problem.UNPROVEN, "%s: has no verified copy at site %s".formatted(sealed.path(), site)))
                        .path());
    }

    /** The manifest says that they were one file. The site may have a copy for each name; these must be equal. */
    @Override
    boolean areOne(Entry sealed, Entry other) {
        return known(sealed).isPresent() && known(sealed).equals(known(other));
    }

    @Override
    Optional<Digest> known(Entry file) {
        return places.apply(file).map(Place::digest);
    }

    @Override
    Optional<Failed> differs(Entry file, Digest read) {
        return known(file)
                .filter(verified -> !verified.equals(read))
                .map(verified -> new Failed(
                        file,
                        Problem.SOURCE_DIFFERS,
                        damaged(file, "it has digest %s instead of the verified %s".formatted(read, verified))));
    }

    private String damaged(Entry file, String why) {
        return "%s: the copy at site %s is damaged: %s; scrub that site".formatted(file.path(), site, why);
    }

    /** Turns a failure of the site into a problem: of this file, or of the whole source. */
    private SourceProblem problem(Entry file, RemoteException e) {
        return switch (e.reason()) {
            case NO_SUCH_FILE ->
                new SourceProblem(
                        Problem.VANISHED,
                        "%s: the copy at site %s no longer exists; scrub that site".formatted(file.path(), site));
            case EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                new SourceProblem(
                        Problem.UNREADABLE,
                        "%s: the copy at site %s cannot be read: %s".formatted(file.path(), site, e.getMessage()));
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL ->
                SourceProblem.ofSource(
                        Problem.UNREADABLE, "site %s cannot be read: %s".formatted(site, e.getMessage()));
        };
    }

    private final class Copy extends FileAtSite {

        private final Entry file;

        Copy(Entry file, FilePath place) {
            super(lanes, place, file.facts().sizeBytes());
            this.file = file;
        }

        /** Nothing shows a change but the digest, which the engine compares. */
        @Override
        public boolean isUnchanged() {
            return true;
        }

        @Override
        SourceProblem problem(RemoteException e) {
            return CopiesAtSite.this.problem(file, e);
        }

        @Override
        SourceProblem endsAt(long bytes) {
            return new SourceProblem(
                    Problem.SOURCE_DIFFERS,
                    damaged(
                            file,
                            "it has %d bytes instead of the verified %d"
                                    .formatted(bytes, file.facts().sizeBytes())));
        }
    }
}
