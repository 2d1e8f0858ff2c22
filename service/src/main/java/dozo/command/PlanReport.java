package dozo.command;

import dozo.file.Size;
import dozo.plan.CostModel;
import dozo.plan.Forecast;
import dozo.plan.Forecast.Parts;
import dozo.plan.Forecast.Sharing;
import dozo.plan.Forecast.Way;
import dozo.plan.Shares.Bottleneck;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Shows a forecast on a terminal: how long each way takes, what limits it, and the content of each partition. */
final class PlanReport {

    private static final String[] RATES = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};

    private PlanReport() {}

    /** Prints the forecast; {@code lot} is the word for a lot, such as {@code "project"}. */
    static void print(PrintWriter out, Forecast forecast, String lot) {
        out.println(assumptions(forecast, lot));
        parts(forecast).forEach(out::println);
        out.println();
        Table ways = new Table("WAY", ">LANES", ">PARTITIONS", ">LARGEST/IDEAL", ">IMBALANCE", ">TIME", "LIMITED BY");
        for (Way way : forecast.ways()) {
            ways.row(
                    word(way.sharing(), lot),
                    way.lanes(),
                    way.partitions().size(),
                    "%.3f".formatted(way.largestToIdeal()),
                    "%.2f %%".formatted(100 * Math.max(0, way.imbalance())),
                    time(way.seconds()),
                    word(way.bottleneck()));
        }
        ways.print(out);
        out.println();
        partitions(forecast).print(out);
    }

    private static String assumptions(Forecast forecast, String lot) {
        long files = forecast.work().entries();
        return "%s, %s%s; a lane moves %s%s%s"
                .formatted(
                        counted(forecast.lots(), lot),
                        Size.planned(forecast.work().bytes()),
                        files == 0 ? "" : " in " + counted(files, "file"),
                        rate(forecast.cost().bytesPerSecond()),
                        files == 0
                                ? ""
                                : ", plus %.3g ms per file"
                                        .formatted(1e3 * forecast.cost().secondsPerEntry()),
                        forecast.linkBytesPerSecond() == null
                                ? ""
                                : "; the link carries "
                                        + rate(forecast.linkBytesPerSecond().doubleValue()));
    }

    /** Returns the parts of the time, as sentences. A part that would be shown as 0.0 s is left out. */
    private static List<String> parts(Forecast forecast) {
        Parts parts = forecast.parts();
        List<String> ofOneLane = new ArrayList<>();
        if (isShown(parts.bytesLaneSeconds())) {
            ofOneLane.add(time(parts.bytesLaneSeconds()) + " for the bytes");
        }
        if (isShown(parts.entriesLaneSeconds())) {
            ofOneLane.add("%s for %s"
                    .formatted(
                            time(parts.entriesLaneSeconds()),
                            counted(forecast.work().entries(), "file")));
        }
        List<String> sentences = new ArrayList<>();
        if (!ofOneLane.isEmpty()) {
            sentences.add("One lane needs %s.".formatted(String.join(" and ", ofOneLane)));
        }
        String each = text("%.0f ms", 1e3 * CostModel.SECONDS_PER_EXPERIMENT);
        if (isShown(parts.experimentsSeconds())) {
            // NB: always several: the time of one is not shown.
            sentences.add("%,d experiments need %s (%s each) with any number of lanes."
                    .formatted(forecast.experiments(), time(parts.experimentsSeconds()), each));
        } else if (forecast.experiments() == 0 && forecast.lots() > 0) {
            sentences.add("Experiments are not counted; each needs %s with any number of lanes.".formatted(each));
        }
        return sentences;
    }

    private static boolean isShown(double seconds) {
        return !time(seconds).equals(time(0));
    }

    private static String counted(long number, String what) {
        return "%,d %s".formatted(number, number == 1 ? what : what + "s");
    }

    /** Returns the content of each partition: for the table's regions, and for each way that Dozo may use. */
    private static Table partitions(Forecast forecast) {
        List<Way> shown = forecast.ways().stream()
                .filter(way -> way.sharing() != Sharing.WHOLE)
                .toList();
        List<String> headings = new ArrayList<>(List.of("PARTITION"));
        shown.forEach(way ->
                headings.add(way.sharing() == Sharing.REGIONS ? ">REGIONS" : ">%d LANES".formatted(way.lanes())));
        Table table = new Table(headings.toArray(String[]::new));
        int most = shown.stream().mapToInt(way -> way.partitions().size()).max().orElse(0);
        for (int i = 0; i < most; i++) {
            List<String> cells = new ArrayList<>(List.of(String.valueOf(i + 1)));
            for (Way way : shown) {
                cells.add(
                        i < way.partitions().size()
                                ? Size.planned(
                                        Math.round(way.partitions().get(i).bytes()))
                                : "");
            }
            table.row(cells.toArray());
        }
        return table;
    }

    /** Formats a time, such as {@code "42 s"}, {@code "3.1 h"}, {@code "51.6 days"}. */
    static String time(double seconds) {
        if (seconds < 120) {
            return text("%.1f s", seconds);
        }
        if (seconds < 7_200) {
            return text("%.1f min", seconds / 60);
        }
        return seconds < 172_800 ? text("%.1f h", seconds / 3_600) : text("%.1f days", seconds / 86_400);
    }

    /** Formats a rate in bits, as is usual for links: {@code "600 Mbit/s"}, {@code "7.62 Gbit/s"}. */
    static String rate(double bytesPerSecond) {
        double bits = 8 * bytesPerSecond;
        int unit = 0;
        while (bits >= 1_000 && unit < RATES.length - 1) {
            bits /= 1_000;
            unit++;
        }
        String number = text("%.2f", bits);
        return number.replaceAll("\\.?0+$", "") + " " + RATES[unit];
    }

    private static String word(Sharing sharing, String lot) {
        return switch (sharing) {
            case REGIONS -> "the table's regions";
            case WHOLE -> "whole " + lot + "s";
            case SPLIT -> "Dozo";
        };
    }

    private static String word(Bottleneck bottleneck) {
        return switch (bottleneck) {
            case LANES -> "lanes";
            case LINK -> "link";
            case LARGEST_SHARE -> "largest partition";
            case EXPERIMENTS -> "experiments";
        };
    }

    private static String text(String format, double number) {
        return String.format(Locale.ROOT, format, number);
    }
}
