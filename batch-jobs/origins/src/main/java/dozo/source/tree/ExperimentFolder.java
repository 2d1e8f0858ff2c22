package dozo.source.tree;

import dozo.file.FilePath;
import dozo.source.Crawl;
import dozo.source.OpenFile;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** An experiment's folder on this machine, read only. Links are followed only to check whether their target exists. */
public final class ExperimentFolder implements Contents {

    private static final int ABOVE_MAX = 10_000;

    private final Path root;
    private final FilePath path;
    private final Path folder;
    private final ThreadLocal<HeaderReader> readers = ThreadLocal.withInitial(HeaderReader::new);

    /**
     * Creates a folder of a tree.
     *
     * @param root of the tree; contains no links
     */
    public ExperimentFolder(Path root, FilePath path) {
        this.root = root;
        this.path = path;
        this.folder = path.under(root);
    }

    /**
     * Walks the folder and reads what the rules need.
     *
     * @throws IOException if the folder cannot be walked
     */
    public Observed look(Rules rules, Instant at) throws IOException, InterruptedException {
        Sighting sighting = new Sighting(rules, at, this);
        new Crawl(folder).into(sighting);
        return sighting.observed();
    }

    @Override
    public Optional<Image> image(FilePath file) throws IOException {
        try (OpenFile open = OpenFile.open(folder, file)) {
            return readers.get().read(open) instanceof Header header ? image(header) : Optional.empty();
        }
    }

    private static Optional<Image> image(Header header) {
        return header.text(Tag.SERIES_INSTANCE_UID)
                .map(series -> new Image(
                        series,
                        header.text(Tag.SERIES_NUMBER)
                                .filter(text -> text.matches("[0-9]{1,9}"))
                                .orElse(series),
                        header.number(Tag.ACQUISITION_NUMBER).orElse(0),
                        Math.max(1, header.number(Tag.NUMBER_OF_FRAMES).orElse(1)),
                        header.number(Tag.ROWS).orElse(0) > 0,
                        positive(header, Tag.NUMBER_OF_SERIES_RELATED_INSTANCES),
                        positive(header, Tag.IMAGES_IN_ACQUISITION)));
    }

    private static OptionalInt positive(Header header, Tag tag) {
        OptionalInt number = header.number(tag);
        return number.isPresent() && number.getAsInt() > 0 ? number : OptionalInt.empty();
    }

    @Override
    public byte[] begin(FilePath file, int bytes) throws IOException {
        try (OpenFile open = OpenFile.open(folder, file);
                InputStream stream = open.stream()) {
            return stream.readNBytes(bytes);
        }
    }

    @Override
    public boolean leads(FilePath link) {
        return Files.exists(link.under(folder));
    }

    @Override
    public List<String> above() throws IOException {
        List<String> names = new ArrayList<>();
        for (FilePath above = path; !above.isRoot(); ) {
            above = above.parent();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(above.under(root), "*.{json,bval,bvec}")) {
                for (Path file : files) {
                    if (names.size() == ABOVE_MAX) {
                        return names;
                    }
                    names.add(file.getFileName().toString());
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
        }
        return names;
    }
}
