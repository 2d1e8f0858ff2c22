package dozo.suggest;

import dozo.file.FilePath;
import dozo.registry.Code;
import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a BIDS dataset says of a folder in it, or of itself (BIDS 1.10). Files above the folder are read up to its source
 * root. No link is followed, and only small files are read.
 *
 * @param name of the dataset; empty: it has none
 * @param labels of the folder's subject and session, such as {@code sub-01} and {@code ses-02}; empty: it is the dataset, or
 *     above the subjects
 * @param participants of the whole dataset; empty if there are labels
 * @param days what the tables above the folder say of it, as written
 */
record Bids(String name, List<String> labels, List<String> participants, List<String> days) {

    private static final int BYTES_MAX = 256 * 1024;
    private static final int LEVELS_MAX = 3;

    /** Leaves room in a title for the two longest labels. */
    private static final int NAME_LENGTH_MAX = Code.TITLE_LENGTH_MAX - 2 * " sub-".length() - 2 * 32;

    private static final Pattern SUBJECT = Pattern.compile("sub-[A-Za-z0-9]{1,32}");
    private static final Pattern SESSION = Pattern.compile("ses-[A-Za-z0-9]{1,32}");
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /**
     * Returns what the dataset says that a folder is, or is in.
     *
     * @param top the folder above which nothing is read
     * @return null: there is no dataset
     */
    static @Nullable Bids of(Path folder, Path top) {
        Path dataset = folder;
        for (int level = 0; level <= LEVELS_MAX && dataset != null; level++) {
            String description = text(dataset, "dataset_description.json");
            if (description != null) {
                return of(dataset, FilePath.between(dataset, folder), nameIn(description));
            }
            dataset = dataset.equals(top) ? null : dataset.getParent();
        }
        return null;
    }

    private static Bids of(Path dataset, FilePath folder, String name) {
        List<String> names =
                folder.isRoot() ? List.of() : List.of(folder.toString().split("/", -1));
        List<String> labels = new ArrayList<>();
        if (!names.isEmpty() && SUBJECT.matcher(names.getFirst()).matches()) {
            labels.add(names.getFirst());
            names.stream().skip(1).limit(1).filter(SESSION.asMatchPredicate()).forEach(labels::add);
        }
        List<String> participants = labels.isEmpty()
                ? values(text(dataset, "participants.tsv"), "participant_id", "participant_id", "").stream()
                        .filter(SUBJECT.asMatchPredicate())
                        .toList()
                : List.of();
        List<String> days = new ArrayList<>();
        if (labels.size() == 2) {
            String sessions = labels.getFirst() + "/" + labels.getFirst() + "_sessions.tsv";
            days.addAll(values(text(dataset, sessions), "acq_time", "session_id", labels.getLast()));
        }
        if (!labels.isEmpty() && labels.size() < names.size()) {
            String scans = String.join("/", labels) + "/" + String.join("_", labels) + "_scans.tsv";
            String below = String.join("/", names.subList(labels.size(), names.size())) + "/";
            days.addAll(values(text(dataset, scans), "acq_time", "filename", below));
        }
        return new Bids(name, labels, participants, days);
    }

    /** Returns the days in a table of scans or sessions, as written. */
    static List<String> days(OpenFile table) throws IOException {
        return values(text(table), "acq_time", "acq_time", "");
    }

    /** Returns the title that the dataset's name and the labels give; null: none. */
    @Nullable
    String title(boolean withLabels) {
        String title = Stream.concat(Stream.of(name), withLabels ? labels.stream() : Stream.of())
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(" "));
        return title.isEmpty() ? null : title;
    }

    /** Returns the values of a column in those rows that have a text at the beginning of another. */
    private static List<String> values(@Nullable String table, String column, String where, String begin) {
        List<List<String>> rows = table == null
                ? List.of()
                : table.lines().map(line -> List.of(line.split("\t", -1))).toList();
        int value = rows.isEmpty() ? -1 : rows.getFirst().indexOf(column);
        int key = rows.isEmpty() ? -1 : rows.getFirst().indexOf(where);
        return value < 0 || key < 0
                ? List.of()
                : rows.stream()
                        .skip(1)
                        .filter(row -> row.size() > Math.max(value, key)
                                && row.get(key).startsWith(begin))
                        .map(row -> row.get(value))
                        .distinct()
                        .toList();
    }

    private static String nameIn(String description) {
        try {
            String name =
                    JSON.readTree(description).path("Name").stringValue("").strip();
            return Code.isText(name) && name.length() <= NAME_LENGTH_MAX ? name : "";
        } catch (JacksonException noJson) {
            return "";
        }
    }

    private static @Nullable String text(Path dataset, String path) {
        try (OpenFile file = OpenFile.open(dataset, FilePath.of(path))) {
            return text(file);
        } catch (IOException noneOrNotToBeRead) {
            return null;
        }
    }

    /** Returns the text of a small file without a byte order mark; null: it is too large. */
    private static @Nullable String text(OpenFile file) throws IOException {
        byte[] bytes = file.stream().readNBytes(BYTES_MAX + 1);
        String text = new String(bytes, StandardCharsets.UTF_8);
        return bytes.length > BYTES_MAX ? null : text.startsWith("\uFEFF") ? text.substring(1) : text;
    }
}
