package dozo.command;

import dozo.command.Pace.Rate;
import dozo.file.Size;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/**
 * How far work is, as the one line that all commands show while they wait: files, bytes, rate, time left.
 *
 * @param what the work, such as {@code run 7}; empty: the command itself
 * @param files files, folders and links done
 * @param filesAll of how many; {@link #UNKNOWN}
 * @param bytes their bytes, of large files also those that are not verified yet
 * @param bytesAll of how many; {@link #UNKNOWN}
 * @param counted whether that is all; otherwise more may be found
 * @param complete whether everything is verified
 * @param note more at the end of the line; empty: nothing
 */
record Done(
        String what,
        long files,
        long filesAll,
        long bytes,
        long bytesAll,
        boolean counted,
        boolean complete,
        String note) {

    static final long UNKNOWN = -1;

    /** From here on in millions, so that the line fits a narrow terminal. */
    private static final long LARGE = 1_000_000;

    /**
     * Returns the line.
     *
     * @param rates over several periods, the shortest first: the first is shown, and the time left is between that at
     *     the fastest and that at the slowest
     */
    String line(List<Rate> rates) {
        StringJoiner line = new StringJoiner("  ");
        if (!what.isEmpty()) {
            line.add(what);
        }
        if (counted) {
            line.add("%3d%%".formatted(percent()));
        }
        line.add(of(number(files), filesAll == UNKNOWN ? "" : number(filesAll))
                + ((filesAll == UNKNOWN ? files : filesAll) == 1 ? " file" : " files"));
        line.add(of(Size.text(bytes), bytesAll == UNKNOWN ? "" : Size.text(bytesAll))
                + (counted || bytesAll == UNKNOWN ? "" : " so far"));
        line.add(Size.text(rates.getFirst().bytes()) + "/s");
        if (counted && !complete) {
            line.add(left(rates));
        }
        if (!note.isEmpty()) {
            line.add(note);
        }
        return line.toString();
    }

    private static String of(String done, String all) {
        return all.isEmpty() ? done : done + " of " + all;
    }

    private static String number(long number) {
        return number < LARGE ? "%,d".formatted(number) : String.format(Locale.ROOT, "%.1fM", number / 1e6);
    }

    /** Returns the progress in percent: 100 only if everything is verified. */
    private int percent() {
        if (complete) {
            return 100;
        }
        double part = bytesAll > 0 ? (double) bytes / bytesAll : (double) files / Math.max(1, filesAll);
        return (int) Math.min(99, 100 * part);
    }

    private String left(List<Rate> rates) {
        double[] seconds = rates.stream().mapToDouble(this::seconds).sorted().toArray();
        double least = seconds[0];
        double most = seconds[seconds.length - 1];
        if (Double.isInfinite(least)) {
            return "time left unknown";
        }
        return Double.isInfinite(most) ? "at least " + range(least, least) + " left" : range(least, most) + " left";
    }

    /** Returns how long the rest takes: as long as its bytes, and as its files if their number is known. */
    private double seconds(Rate rate) {
        return Math.max(
                seconds(bytesAll - bytes, rate.bytes()),
                filesAll == UNKNOWN ? 0 : seconds(filesAll - files, rate.entries()));
    }

    private static double seconds(long rest, long rate) {
        return rest <= 0 ? 0 : rate <= 0 ? Double.POSITIVE_INFINITY : (double) rest / rate;
    }

    private static String range(double least, double most) {
        String unit = most < 100 ? "s" : most < 6_000 ? "min" : most < 172_800 ? "h" : "days";
        double size = unit.equals("s") ? 1 : unit.equals("min") ? 60 : unit.equals("h") ? 3_600 : 86_400;
        long low = (long) Math.floor(least / size);
        long high = (long) Math.ceil(most / size);
        return high - low < 2 && Math.round(least / size) == Math.round(most / size)
                ? "%d %s".formatted(Math.round(most / size), unit)
                : "%d–%d %s".formatted(low, high, unit);
    }
}
