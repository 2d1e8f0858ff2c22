package dozo.demo;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Fills a new folder. Creates missing parents; {@link #setTimes} then sets all modification times. */
final class NewTree {

    /** Has a fraction of a second, to show copies that lose fractions. */
    private static final Duration STEP = Duration.ofSeconds(3, 141_592_653);

    private final Path root;
    private final Instant start;
    private final List<Path> made = new ArrayList<>();

    NewTree(Path root, Instant start) {
        this.root = root;
        this.start = start;
    }

    void folder(FilePath name) throws IOException {
        Path path = name.under(root);
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!name.isRoot()) {
            folder(name.parent());
        }
        made.add(Files.createDirectory(path));
    }

    /** Returns the path for a file that the caller creates next. */
    Path newFile(FilePath name) throws IOException {
        folder(name.parent());
        Path path = name.under(root);
        made.add(path);
        return path;
    }

    void file(FilePath name, byte[] content) throws IOException {
        Files.write(newFile(name), content);
    }

    void file(String name, String content) throws IOException {
        file(FilePath.of(name), content.getBytes(StandardCharsets.UTF_8));
    }

    /** Creates a symbolic link with this text, whether or not its target exists. */
    void link(FilePath name, Path target) throws IOException {
        Files.createSymbolicLink(newFile(name), target);
    }

    /** Creates a symbolic link to something in this tree, relative to the link's folder. */
    void linkTo(FilePath name, FilePath target) throws IOException {
        link(name, name.parent().under(root).relativize(target.under(root)));
    }

    void hardLink(FilePath name, FilePath existing) throws IOException {
        Files.createLink(newFile(name), existing.under(root));
    }

    /**
     * Sets all modification times in the order of creation. Goes backwards, because filling a folder changes its time.
     */
    void setTimes() throws IOException {
        for (int i = made.size() - 1; i >= 0; i--) {
            FileTime time = FileTime.from(start.plus(STEP.multipliedBy(i)));
            Files.getFileAttributeView(made.get(i), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setTimes(time, null, null);
        }
    }
}
