package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.copy.Copy;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.send.NameForm;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The list of the verified files of a copy, as {@code sha256sum -c} reads it. It gets its name when all of the copy is verified;
 * until then nothing is changed that had this name.
 */
final class CopyManifest implements Copy.Proofs, AutoCloseable {

    private final Path file;
    private final Path part;
    private final OutputStream out;

    /**
     * Begins a list.
     *
     * @throws Failure if it cannot be written there
     */
    CopyManifest(String typed) {
        file = Path.of(typed).toAbsolutePath();
        part = file.resolveSibling(requireNonNull(file.getFileName()) + ".part");
        try {
            if (Files.isDirectory(file)) {
                throw new IOException("it is a folder");
            }
            out = new BufferedOutputStream(Files.newOutputStream(part));
        } catch (IOException e) {
            throw new Failure(
                    Exit.USAGE,
                    "--manifest %s cannot be written: %s".formatted(Login.visible(typed), Login.visible(e.toString())));
        }
    }

    @Override
    public void file(FilePath path, Digest digest) {
        try {
            NameForm.SHA256SUM.writeLine(out, digest.toString(), path.bytes());
        } catch (IOException e) {
            throw new UncheckedIOException("the manifest cannot be written", e);
        }
    }

    /** Gives it its name. */
    void complete() throws IOException {
        out.close();
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void close() throws IOException {
        out.close();
        Files.deleteIfExists(part);
    }
}
