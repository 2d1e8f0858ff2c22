package dozo.command;

import dozo.file.Size;
import dozo.remote.TuningGrid;
import dozo.remote.TuningGrid.Cell;
import dozo.run.SiteTunings.SiteTuning;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Measures how many connections and channels are best for a site. */
@Command(
        name = "tune",
        mixinStandardHelpOptions = true,
        description = "Measures with made-up data how many connections to a site, and channels on each, are best.",
        footer = {
            "",
            "It takes about a minute, and writes temporary files only, which it removes. The limit of the site's timetable",
            "holds. The fewest channels that are almost as fast as the fastest are chosen (a difference of a twentieth). Runs",
            "begin with them for 90 days, unless DOZO_TRANSFER_LANES is set. The command is refused while a run is active, and",
            "ends early if one starts or the service's machine is too busy. The rate is that of the link and of the site's",
            "memory, not of its disks."
        })
final class TuneCommand implements Callable<Integer> {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** From slow to fast. */
    private static final String SHADES = "░▒▓█";

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "SITE", description = "The site's name.")
    private String site = "";

    @Option(names = "--last", description = "Shows the last measurement instead.")
    private boolean last;

    @Override
    public Integer call() {
        String address = "/api/v1/sites/%s/tuning".formatted(Connection.encoded(site));
        Answer<SiteTuning> answer = last
                ? service.get(address, SiteTuning.class)
                : service.post(address, Map.of(), SiteTuning.class, LIMIT);
        service.print(answer, out -> print(out, site, answer.value()));
        return Exit.WELL;
    }

    static void print(PrintWriter out, String site, SiteTuning tuning) {
        out.println("site %s, measured by %s at %s"
                .formatted(site, Connection.visible(tuning.measuredBy()), Times.text(tuning.measuredAt())));
        StringBuilder head = new StringBuilder("lanes");
        TuningGrid.CHANNELS.forEach(
                channels -> head.append("%18s".formatted(channels == 1 ? "1 channel" : channels + " channels")));
        out.println(head);
        for (int lanes : TuningGrid.LANES) {
            StringBuilder line = new StringBuilder("%5d".formatted(lanes));
            for (int channels : TuningGrid.CHANNELS) {
                line.append("%18s".formatted(shown(tuning, lanes, channels)));
            }
            out.println(line);
        }
        Cell best = tuning.best();
        out.println(
                "best: %s with %s on each, %s: the fewest within 5 %% of the highest rate. Runs begin with them until %s"
                        .formatted(
                                best.lanes() == 1 ? "1 lane" : best.lanes() + " lanes",
                                best.channels() == 1 ? "1 channel" : best.channels() + " channels",
                                rate(best),
                                Times.text(tuning.holdsUntil())));
    }

    private static String rate(Cell cell) {
        return Size.text(Math.round(cell.bytesPerSecond())) + "/s";
    }

    private static String shown(SiteTuning tuning, int lanes, int channels) {
        double highest =
                tuning.cells().stream().mapToDouble(Cell::bytesPerSecond).max().orElseThrow();
        return tuning.cells().stream()
                .filter(cell -> cell.lanes() == lanes && cell.channels() == channels)
                .map(cell -> {
                    int shade = (int) (cell.bytesPerSecond() / highest * SHADES.length());
                    return rate(cell)
                            + (cell.equals(tuning.best()) ? " * " : "   ")
                            + String.valueOf(SHADES.charAt(Math.min(shade, SHADES.length() - 1)))
                                    .repeat(2);
                })
                .findFirst()
                .orElse("-");
    }
}
