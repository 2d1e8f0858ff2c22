package dozo.source.tree;

import dozo.file.Malformed;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What says of an experiment's folder that all of it is there, or that something is not. */
public sealed interface Evidence {

    int COUNT_MAX = 1_000_000;

    /** A file that is put there when everything else is. */
    record Marker(Glob name) implements Evidence {
        @Override
        public String toString() {
            return "marker " + name;
        }
    }

    /** At least so many files or folders with such a path. */
    record Expected(int count, Glob name) implements Evidence {
        @Override
        public String toString() {
            return "expect %d %s".formatted(count, name);
        }
    }

    /**
     * Each series has as many images as its files say that it has.
     *
     * @param series at least so many of images there are; 0: nobody knows how many there will be
     */
    record DicomCounts(int series) implements Evidence {
        @Override
        public String toString() {
            return series == 0 ? "dicom" : "dicom " + series;
        }
    }

    /** Each image and recording has the files beside it that BIDS wants, and whatever a {@code scans.tsv} names is there. */
    record BidsFiles() implements Evidence {
        @Override
        public String toString() {
            return "bids";
        }
    }

    Pattern WRITTEN = Pattern.compile(
            "(?:marker (?<marker>.+)|expect (?<count>[0-9]{1,7}) (?<name>.+)|dicom(?: (?<series>[0-9]{1,7}))?|bids)");

    /**
     * The evidence that a text says; empty: it says none.
     *
     * @throws Malformed when it says some, and not rightly
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
