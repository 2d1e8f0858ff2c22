package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Facts;
import dozo.file.Problem;
import dozo.send.Outcome.Failed;
import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A folder of this machine. Links on the way to it are resolved when the first file is opened, by a thread that may
 * hang.
 */
final class LocalFolder extends SourceFolder {

    private final boolean fromDisk;
    private volatile @Nullable Path opened;

    /** @param fromDisk whether files are read from the disk and not from memory, where the kernel allows, and leave memory afterwards */
    LocalFolder(Path path, @Nullable Path opened, boolean fromDisk) {
        super(path);
        this.opened = opened;
        this.fromDisk = fromDisk;
    }

    @Override
    boolean isLocal() {
        return true;
    }

    @Override
    OpenSource open(Entry sealed) throws IOException, SourceProblem {
        OpenFile file;
        try {
            file = OpenFile.open(opened(), sealed.path());
        } catch (OpenFile.NoFile e) {
            throw SourceProblem.replaced(sealed);
        }
        if (!file.factsWhenOpened().sameContentAs(sealed.facts())) {
            file.close();
            throw SourceProblem.replaced(sealed);
        }
        Opened asSealed = new Opened(file, sealed, fromDisk);
        asSealed.dropFromMemory();
        return asSealed;
    }

    @Override
    boolean areOne(Entry sealed, Entry other) throws IOException {
        try (OpenFile mine = OpenFile.open(opened(), sealed.path());
                OpenFile its = OpenFile.open(opened(), other.path())) {
            Facts now = mine.factsWhenOpened();
            return mine.isSameAs(its)
                    && now.sameContentAs(sealed.facts())
                    && Objects.equals(now.hardLink(), sealed.facts().hardLink());
        }
    }

    /** Nothing is known of a file before it is read. */
    @Override
    Optional<Digest> known(Entry file) {
        return Optional.empty();
    }

    @Override
    Optional<Failed> differs(Entry file, Digest read) {
        return Optional.empty();
    }

    /** Returns the path to open it by, without links; the original path if it does not exist. NB: this may hang. */
    private Path opened() {
        Path known = opened;
        if (known != null) {
            return known;
        }
        try {
            Path real = path().toRealPath();
            opened = real;
            return real;
        } catch (IOException notThere) {
            return path();
        }
    }

    private record Opened(OpenFile file, Entry sealed, boolean fromDisk) implements OpenSource {

        private void dropFromMemory() {
            if (!fromDisk) {
                return;
            }
            try {
                file.dropFromMemory();
            } catch (IOException notPossible) {
                // It is read from memory then.
            }
        }

        @Override
        public boolean isSparse() {
            return file.isSparse();
        }

        @Override
        public void read(ByteBuffer into, long offset) throws IOException, SourceProblem {
            file.read(into, offset);
            if (into.hasRemaining() && isAsWhenOpened()) {
                throw sizeIsWrong("less");
            }
        }

        /** Also looks whether it ends there: some file systems report 0, or a page, where they do not know the size. */
        @Override
        public boolean isUnchanged() throws IOException, SourceProblem {
            boolean endsThere = file.endsAt(file.factsWhenOpened().sizeBytes());
            if (!isAsWhenOpened()) {
                return false;
            }
            if (!endsThere) {
                throw sizeIsWrong("more");
            }
            return true;
        }

        private boolean isAsWhenOpened() throws IOException {
            return file.facts().equals(file.factsWhenOpened());
        }

        private SourceProblem sizeIsWrong(String content) {
            return new SourceProblem(
                    Problem.UNREADABLE,
                    "%s: has %s content than the size of %d bytes that its file system reports; copy it to an ordinary file system and register that"
                            .formatted(
                                    sealed.path(),
                                    content,
                                    file.factsWhenOpened().sizeBytes()));
        }

        @Override
        public void close() {
            dropFromMemory();
            file.close();
        }
    }
}
