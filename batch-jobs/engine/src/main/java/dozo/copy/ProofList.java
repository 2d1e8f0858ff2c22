package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.send.NameForm;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The list of the verified files of a copy, as {@code sha256sum -c} reads it. It gets its name when all of the copy is verified;
 * until then nothing is changed that had this name.
 */
public final class ProofList implements Copy.Proofs, AutoCloseable {

    private final Path file;
    private final Path part;
    private final OutputStream out;

    /**
     * Begins a list.
     *
     * @throws IOException if it cannot be written there
     */
    public ProofList(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new FileAlreadyExistsException(file.toString(), null, "it is a folder");
        }
        this.file = file.toAbsolutePath();
        part = this.file.resolveSibling(requireNonNull(this.file.getFileName()) + ".part");
        out = new BufferedOutputStream(Files.newOutputStream(part));
    }

    @Override
    public void file(FilePath path, Digest digest) {
        try {
            NameForm.writeSum(out, digest, path);
        } catch (IOException e) {
            throw new UncheckedIOException("the manifest cannot be written", e);
        }
    }

    /** Gives it its name. */
    public void complete() throws IOException {
        out.close();
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void close() throws IOException {
        out.close();
        Files.deleteIfExists(part);
    }
}
