package dozo.source.tree;

import dozo.source.tree.Contents.Image;
import dozo.source.tree.Evidence.DicomCounts;
import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Observed.Said;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts images by series, and compares the counts with what the images state: the files of the series (0020,1209),
 * which few images state, and the images of the acquisition (0020,1002). Both are only lower bounds: some scanners
 * state the images of one volume.
 */
final class SeriesCounts {

    private static final int SERIES_MAX = 10_000;
    private static final Comparator<Series> BY_NUMBER =
            Comparator.comparingInt((Series series) -> series.number.length()).thenComparing(series -> series.number);

    private final DicomCounts evidence;
    private final Map<String, Series> series = new HashMap<>();
    private boolean tooMany;

    private static final class Series {
        private final String number;
        private final Map<Integer, int[]> acquisitions = new HashMap<>();
        private int files;
        private int filesTold;

        Series(String number) {
            this.number = number;
        }

        void add(Image image) {
            files++;
            filesTold = Math.max(filesTold, image.seriesFiles().orElse(0));
            int[] counts = acquisitions.computeIfAbsent(image.acquisition(), none -> new int[2]);
            counts[0] += image.images();
            counts[1] = Math.max(counts[1], image.acquisitionImages().orElse(0));
        }

        boolean tells() {
            return filesTold > 0 || acquisitions.values().stream().allMatch(counts -> counts[1] > 0);
        }

        void missing(List<Reason> missing) {
            if (files < filesTold) {
                missing.add(reason(files, filesTold, "files"));
            }
            acquisitions.forEach((acquisition, counts) -> {
                if (counts[0] < counts[1]) {
                    missing.add(reason(counts[0], counts[1], "images of acquisition " + acquisition));
                }
            });
        }

        private Reason reason(int here, int told, String what) {
            return new Reason("SHORT_SERIES", "series " + number, "%d of %d %s are here".formatted(here, told, what));
        }
    }

    SeriesCounts(DicomCounts evidence) {
        this.evidence = evidence;
    }

    void add(Image image) {
        if (!image.isImage()) {
            return;
        }
        if (series.size() >= SERIES_MAX && !series.containsKey(image.series())) {
            tooMany = true;
            return;
        }
        series.computeIfAbsent(image.series(), uid -> new Series(image.number()))
                .add(image);
    }

    /** Complete series do not show that no more series will come; only a known number of series does. */
    Said said() {
        List<Reason> missing = new ArrayList<>();
        if (series.size() < evidence.series()) {
            missing.add(new Reason(
                    "FEW_SERIES",
                    "the folder",
                    "%d of %d series are here".formatted(series.size(), evidence.series())));
        }
        series.values().stream().sorted(BY_NUMBER).forEach(each -> {
            if (missing.size() < Sighting.NAMED_MAX) {
                each.missing(missing);
            }
        });
        if (!missing.isEmpty()) {
            return new Said.Lacking(missing);
        }
        boolean known =
                evidence.series() > 0 && !tooMany && series.values().stream().allMatch(Series::tells);
        return known ? new Said.Done(false) : new Said.Silent();
    }
}
