package dozo.command;

import dozo.file.Size;
import dozo.plan.Lot;
import dozo.plan.Work;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A text table of names and sizes, separated by commas, semicolons or tabs. It has a header, or the columns {@code
 * name,size,files,region}. Unknown columns are ignored. A line without a number of experiments counts as one, but a
 * project as none: its number is unknown. A table with an invalid line is refused as a whole, and up to 10 invalid lines
 * are reported at once.
 */
final class SizesTable {

    static final int LOTS_MAX = 1_000_000;

    private static final int REFUSALS_MAX = 10;
    private static final int REGIONS_MAX = 64;

    private static final Pattern SIZE_HEADING = Pattern.compile("(?:size|bytes|volume)[_ ]?\\(?([a-z]*)\\)?");
    private static final Pattern SIZE =
            Pattern.compile("([0-9]{1,3}(?:[,_ ][0-9]{3})+|[0-9]{1,20})(\\.[0-9]{1,9})? ?([kmgtpe]?)(i?)(b|bytes?)?");
    private static final Pattern COUNT = Pattern.compile("[0-9]{1,3}(?:[,_ ][0-9]{3})+|[0-9]{1,18}");
    private static final Pattern GROUPING = Pattern.compile("[,_ ]");
    private static final Set<String> NAMES =
            Set.of("name", "dir", "directory", "folder", "path", "project", "experiment", "code");
    private static final Set<String> FILES = Set.of("files", "entries", "file_count", "count", "inodes");
    private static final Set<String> EXPERIMENTS = Set.of("experiments", "studies", "sessions");
    private static final Set<String> REGIONS = Set.of("region", "group", "partition");
    private static final String ACCEPTED_SIZE =
            "expected a number with or without a unit, such as 250000, 1.5 TB or 16 GiB";

    private final String file;
    private final List<Lot> lots = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();
    private final Set<String> regions = new HashSet<>();
    private Work sum = Work.NONE;
    private long experimentsSum;
    private Columns columns = Columns.WITHOUT_HEADER;
    private char separator = ',';

    /**
     * The positions of the columns; -1 if missing.
     *
     * @param experimentsEach the number of experiments of a line that does not state it
     */
    private record Columns(
            int name, int size, int files, int region, int experiments, String unit, long experimentsEach) {

        private static final Columns WITHOUT_HEADER = new Columns(0, 1, 2, 3, -1, "", 1);
    }

    private SizesTable(String file) {
        this.file = file;
    }

    /** Returns the lots in a file; throws a {@link Failure} with the refused lines and what is expected. */
    static List<Lot> read(Path path) {
        SizesTable table = new SizesTable(Login.visible(path.toString()));
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8))) {
            table.read(lines);
        } catch (IOException e) {
            throw new Failure(
                    Exit.REFUSED, "--from-table %s cannot be read: expected a text file".formatted(table.file));
        }
        return table.lots;
    }

    private void read(BufferedReader lines) throws IOException {
        int number = 0;
        boolean begun = false;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            String text = number == 1 && line.startsWith("\uFEFF") ? line.substring(1) : line;
            if (text.isBlank() || text.startsWith("#")) {
                continue;
            }
            boolean header = !begun && takeHeader(text);
            begun = true;
            if (!header) {
                take(number, text);
            }
            if (refusals.size() == REFUSALS_MAX) {
                break;
            }
        }
        if (refusals.isEmpty() && lots.isEmpty()) {
            refusals.add("%s: no line with a size; %s".formatted(file, ACCEPTED_SIZE));
        }
        if (!refusals.isEmpty()) {
            throw new Failure(Exit.REFUSED, String.join(System.lineSeparator(), refusals));
        }
    }

    /** Reads the line as a header if it is one. A line whose second field is a size is not a header. */
    private boolean takeHeader(String line) {
        separator = line.indexOf('\t') >= 0 ? '\t' : line.indexOf(';') >= 0 ? ';' : ',';
        List<String> fields = fields(line);
        if (fields.size() >= 2 && size(fields.get(1), "").isPresent()) {
            return false;
        }
        int name = -1;
        int size = -1;
        int files = -1;
        int region = -1;
        int experiments = -1;
        Set<String> names = new HashSet<>();
        String unit = "";
        for (int i = fields.size() - 1; i >= 0; i--) {
            String heading = fields.get(i).toLowerCase(Locale.ROOT);
            Matcher sizes = SIZE_HEADING.matcher(heading);
            if (sizes.matches() && size("1", sizes.group(1)).isPresent()) {
                size = i;
                unit = sizes.group(1);
            }
            if (NAMES.contains(heading)) {
                name = i;
                names.add(heading);
            }
            files = FILES.contains(heading) ? i : files;
            region = REGIONS.contains(heading) ? i : region;
            experiments = EXPERIMENTS.contains(heading) ? i : experiments;
        }
        if (size < 0) {
            return false;
        }
        columns = new Columns(name, size, files, region, experiments, unit, names.equals(Set.of("project")) ? 0 : 1);
        return true;
    }

    private void take(int number, String line) {
        List<String> fields = fields(line);
        String typed = field(fields, columns.size());
        Optional<BigInteger> size = size(typed, columns.unit());
        Optional<Long> files = count(field(fields, columns.files()));
        String stated = field(fields, columns.experiments());
        Optional<Long> experiments = stated.isEmpty() ? Optional.of(columns.experimentsEach()) : count(stated);
        if (size.isEmpty()) {
            refuse(
                    number,
                    typed.isEmpty()
                            ? "no size; expected a header with a column size (size_bytes, size_mbyte …), or name,size"
                            : "\"%s\" is not a size; %s".formatted(Login.visible(typed), ACCEPTED_SIZE));
        } else if (files.isEmpty()) {
            refuse(number, notACount(field(fields, columns.files()), "files"));
        } else if (experiments.isEmpty()) {
            refuse(number, notACount(stated, "experiments"));
        } else if (lots.size() == LOTS_MAX) {
            refuse(number, "too many lines; the maximum is %,d".formatted(LOTS_MAX));
        } else {
            add(number, fields, size.get(), files.get(), experiments.get());
        }
    }

    private static String notACount(String typed, String what) {
        return "\"%s\" is not a number of %s; expected 0 to 999,999,999,999,999,999, or nothing"
                .formatted(Login.visible(typed), what);
    }

    private void add(int number, List<String> fields, BigInteger bytes, long files, long experiments) {
        String region = field(fields, columns.region());
        regions.add(region);
        if (regions.size() > REGIONS_MAX) {
            refuse(number, "too many regions; the maximum is %d".formatted(REGIONS_MAX));
            return;
        }
        try {
            Work work = new Work(bytes.longValueExact(), files);
            sum = sum.plus(work);
            experimentsSum = Math.addExact(experimentsSum, experiments);
            lots.add(new Lot(field(fields, columns.name()), region, experiments, work));
        } catch (ArithmeticException e) {
            refuse(number, "the total exceeds 9.2 EB, or 9.2 × 10¹⁸ files or experiments, the maximum");
        }
    }

    private void refuse(int number, String why) {
        refusals.add("%s line %d: %s".formatted(file, number, why));
    }

    private static String field(List<String> fields, int column) {
        return column >= 0 && column < fields.size() ? fields.get(column) : "";
    }

    /** Parses typed bytes; empty if the text is not a size. */
    static Optional<BigInteger> size(String typed, String unitOfColumn) {
        Matcher parts = SIZE.matcher(typed.toLowerCase(Locale.ROOT));
        if (!parts.matches()) {
            return Optional.empty();
        }
        boolean own = !parts.group(3).isEmpty() || parts.group(5) != null;
        if (!own && !unitOfColumn.isEmpty()) {
            return size(typed.strip() + (unitOfColumn.equals("bytes") ? "b" : unitOfColumn), "");
        }
        if (parts.group(3).isEmpty() && !parts.group(4).isEmpty()) {
            return Optional.empty();
        }
        String number =
                GROUPING.matcher(parts.group(1)).replaceAll("") + (parts.group(2) == null ? "" : parts.group(2));
        return Optional.of(
                Size.scaled(number, parts.group(3), !parts.group(4).isEmpty()).toBigInteger());
    }

    /** Parses a number with or without digit groups; 0 for an empty text, empty if it is not a number. */
    static Optional<Long> count(String typed) {
        if (typed.isEmpty()) {
            return Optional.of(0L);
        }
        return COUNT.matcher(typed).matches()
                ? Optional.of(Long.valueOf(GROUPING.matcher(typed).replaceAll("")))
                : Optional.empty();
    }

    /** Splits a line. A quoted field may contain the separator, and a doubled quote for a quote. */
    private List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                field.append(c);
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == separator && !quoted) {
                fields.add(field.toString().strip());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString().strip());
        return fields;
    }
}
