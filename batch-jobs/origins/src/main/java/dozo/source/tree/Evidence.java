package dozo.source.tree;

import dozo.file.Malformed;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Evidence that an experiment's folder is complete, or that something is missing. */
public sealed interface Evidence {

    int COUNT_MAX = 1_000_000;

    /** A file that is created after everything else is there. */
    record Marker(Glob name) implements Evidence {
        @Override
        public String toString() {
            return "marker " + name;
        }
    }

    /** At least this many files or folders match this path. */
    record Expected(int count, Glob name) implements Evidence {
        @Override
        public String toString() {
            return "expect %d %s".formatted(count, name);
        }
    }

    /**
     * Each series has as many images as its files say.
     *
     * @param series the least number of series with images; 0 if not known
     */
    record DicomCounts(int series) implements Evidence {
        @Override
        public String toString() {
            return series == 0 ? "dicom" : "dicom " + series;
        }
    }

    /**
     * Each image and recording has the sidecars that BIDS requires, and everything named in a {@code scans.tsv} exists.
     */
    record BidsFiles() implements Evidence {
        @Override
        public String toString() {
            return "bids";
        }
    }

    Pattern WRITTEN = Pattern.compile(
            "(?:marker (?<marker>.+)|expect (?<count>[0-9]{1,7}) (?<name>.+)|dicom(?: (?<series>[0-9]{1,7}))?|bids)");

    /**
     * Parses a piece of evidence; empty if the text is none.
     *
     * @throws Malformed if a value in it is not valid
     */
    static Optional<Evidence> of(String text) {
        Matcher matcher = WRITTEN.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        if (matcher.group("marker") != null) {
            return Optional.of(new Marker(new Glob(matcher.group("marker"))));
        }
        if (matcher.group("name") != null) {
            return Optional.of(new Expected(count(matcher.group("count")), new Glob(matcher.group("name"))));
        }
        String series = matcher.group("series");
        return Optional.of(text.equals("bids") ? new BidsFiles() : new DicomCounts(series == null ? 0 : count(series)));
    }

    private static int count(String digits) {
        int count = Integer.parseInt(digits);
        if (count < 1 || count > COUNT_MAX) {
            throw new Malformed("%s: expected a count from 1 to %d", digits, COUNT_MAX);
        }
        return count;
    }
}
