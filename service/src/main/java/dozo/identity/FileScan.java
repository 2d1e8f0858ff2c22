package dozo.identity;

import dozo.file.FilePath;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.zip.GZIPInputStream;

/** Searches files of this machine, such as logs: their names and contents, also of those packed by gzip. Follows no links. */
public final class FileScan {

    private static final int GZIP_FIRST = 0x1f;
    private static final int GZIP_SECOND = 0x8b;

    private final Wanted wanted;
    private final Places places;
    private long files;

    public FileScan(Wanted wanted, Places places) {
        this.wanted = wanted;
        this.places = places;
    }

    /**
     * Searches a file, or everything below a folder.
     *
     * @throws IOException if not all of it could be read: then nothing is known
     */
    public void run(Path top) throws IOException {
        Files.walkFileTree(top, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                name(folder);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                name(file);
                if (attributes.isRegularFile()) {
                    files++;
                    try (InputStream in = content(file)) {
                        places.add(where(file), wanted.in(in));
                    }
                }
                return FileVisitResult.CONTINUE;
            }
        });
        places.searched("%s: %,d files".formatted(top, files));
    }

    private void name(Path path) {
        Path name = path.getFileName();
        if (name != null) {
            places.add(where(path), wanted.in(FilePath.rawText(name)));
        }
    }

    private static String where(Path path) {
        return "file: " + FilePath.render(FilePath.rawText(path));
    }

    private static InputStream content(Path file) throws IOException {
        InputStream in = new BufferedInputStream(Files.newInputStream(file));
        in.mark(2);
        boolean packed = in.read() == GZIP_FIRST && in.read() == GZIP_SECOND;
        in.reset();
        return packed ? new GZIPInputStream(in) : in;
    }
}
