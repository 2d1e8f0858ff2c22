package dozo.record;

import dozo.file.FilePath;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A site's root on this machine: its disks were brought here, or it is mounted. */
public final class RecordFolder implements RecordFiles {

    private final Path root;

    public RecordFolder(Path root) {
        this.root = root.toAbsolutePath().normalize();
    }

    @Override
    public List<FilePath> in(FilePath folder) throws IOException {
        Path there = folder.under(root);
        if (!Files.isDirectory(there)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(there)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> FilePath.between(root, file))
                    .toList();
        }
    }

    @Override
    public InputStream open(FilePath file) throws IOException {
        return Files.newInputStream(file.under(root));
    }
}
