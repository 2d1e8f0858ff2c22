package dozo.command;

import dozo.api.ShownRun.ShownScrub;
import dozo.command.Pace.Rate;
import dozo.file.Size;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Ledger;
import dozo.run.Limit;
import dozo.run.Limits;
import dozo.run.Limits.Bottleneck;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.transfer.RunWorkers.RunWorker;
import dozo.transfer.TransferUnits.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Shows the state of a run on a terminal. */
public final class RunReport {

    /** A longer path is cut in the middle. */
    private static final int PATH_CHARACTERS_MAX = 240;

    private RunReport() {}

    /** Returns the progress of a run as one line without a line break. */
    public static String progress(Run run, Progress progress) {
        if (run.kind().isScrub()) {
            // Only users who see everything get the amount that a scrub has read.
            return "scrub %d %s".formatted(run.id(), word(run.state()));
        }
        if (progress.units() == 0) {
            String what = run.goesOn()
                    ? "looking for what is new"
                    : run.state() == RunState.COMPLETE ? "nothing to send" : "nothing was sent";
            return "run %d %s: %s".formatted(run.id(), word(run.state()), what);
        }
        String moved = progress.bytesMoved() == 0 ? "" : ", %s moved".formatted(Size.text(progress.bytesMoved()));
        String failed = progress.unitsFailed() == 0 ? "" : ", %,d failed".formatted(progress.unitsFailed());
        return "run %d %s: %3d%%  %s of %s, %,d of %,d units%s%s"
                .formatted(
                        run.id(),
                        word(run.state()),
                        progress.percent(),
                        Size.text(progress.bytesDone()),
                        Size.text(progress.bytes()),
                        progress.unitsDone(),
                        progress.units(),
                        moved,
                        failed);
    }

    /** Returns the progress of a run in progress and its rates, in less than the 80 columns of a narrow terminal. */
    public static String progress(Run run, Progress progress, List<Rate> rates) {
        if (run.state() != RunState.RUNNING || progress.bytes() == 0) {
            return progress(run, progress.recorded());
        }
        return new Done(
                        "run " + run.id(),
                        progress.entriesDone(),
                        Done.UNKNOWN,
                        progress.bytesArrived(),
                        progress.bytes(),
                        true,
                        progress.unitsDone() == progress.units(),
                        "%d%% verified%s"
                                .formatted(
                                        progress.percent(),
                                        progress.unitsFailed() == 0
                                                ? ""
                                                : ", %,d failed".formatted(progress.unitsFailed())))
                .line(rates);
    }

    /**
     * Returns the same of a scrub in progress.
     *
     * @param bytesAll what it reads; {@link Done#UNKNOWN}: how much is due is known only when it is read
     */
    static String progress(Run run, ShownScrub scrub, long bytesAll, List<Rate> rates) {
        return run.state() != RunState.RUNNING
                ? progress(run, scrub.copiesRead(), scrub.bytesRead(), scrub.copiesDamaged())
                : new Done(
                                "scrub " + run.id(),
                                scrub.copiesRead(),
                                Done.UNKNOWN,
                                scrub.bytesRead(),
                                bytesAll,
                                bytesAll != Done.UNKNOWN,
                                false,
                                scrub.copiesDamaged() == 0 ? "" : "%,d damaged".formatted(scrub.copiesDamaged()))
                        .line(rates);
    }

    /** Returns the progress of a scrub as one line without a line break. */
    static String progress(Run run, long copiesRead, long bytesRead, long copiesDamaged) {
        return "scrub %d %s: %,d %s read, %s, %s damaged"
                .formatted(
                        run.id(),
                        word(run.state()),
                        copiesRead,
                        run.kind() == RunKind.HOME_SCRUB ? "files at home" : "copies",
                        Size.text(bytesRead),
                        copiesDamaged == 0 ? "none" : "%,d".formatted(copiesDamaged));
    }

    /** Prints a run: who started it, when, its progress and its end. */
    public static void print(PrintWriter out, Run run, Progress progress) {
        print(out, run, progress(run, progress));
    }

    /** Prints what slowed a run, the longest first, and what would help most. */
    static void bottlenecks(PrintWriter out, List<Bottleneck> bottlenecks) {
        if (!bottlenecks.isEmpty()) {
            out.println("  bottlenecks: "
                    + bottlenecks.stream()
                            .map(each -> "%s %d %%".formatted(word(each.limit()), percent(each.share())))
                            .collect(Collectors.joining(", ")));
        }
        Limits.best(bottlenecks)
                .ifPresent(best -> out.println("  the run would take %d %% less time if this was twice as fast: %s"
                        .formatted(percent(best.saved()), word(best.limit()))));
    }

    /** Prints which workers have joined a run, and what each has done. */
    static void workers(PrintWriter out, List<RunWorker> workers) {
        for (RunWorker each : workers) {
            out.println("  worker %s%s: %s moved, %,d entries proven%s%s"
                    .formatted(
                            Connection.visible(each.host()),
                            each.replaced() ? " (replaced)" : each.ended() ? " (left)" : "",
                            Size.text(each.bytesMoved()),
                            each.entriesProven(),
                            each.bottleneck().isEmpty() ? "" : ", bottleneck: " + word(each.bottleneck()),
                            each.note().isEmpty() ? "" : "; " + Connection.visible(each.note())));
        }
    }

    private static String word(Limit limit) {
        return word(limit.name());
    }

    private static String word(String limit) {
        return limit.toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static long percent(double share) {
        return Math.max(1, Math.round(100 * share));
    }

    /** Prints the same with this line of progress. */
    static void print(PrintWriter out, Run run, String progress) {
        out.println(colour(run.state()).of(progress));
        out.println("  to site %s, requested by %s, started %s"
                .formatted(run.site(), Connection.visible(run.requestedBy()), Times.text(run.startedAt())));
        if (run.endedAt() != null) {
            Duration took = Duration.between(run.startedAt(), run.endedAt());
            out.println("  ended %s after %d:%02d:%02d"
                    .formatted(Times.text(run.endedAt()), took.toHours(), took.toMinutesPart(), took.toSecondsPart()));
        }
        if (run.pausedBy() != null && run.pausedBy().equals(Ledger.SYSTEM)) {
            out.println("  paused while the site is closed by its timetable; see: dozo site timetable " + run.site());
        } else if (run.pausedBy() != null) {
            out.println("  paused by %s since %s; to continue: dozo resume %d"
                    .formatted(Connection.visible(run.pausedBy()), Times.text(run.pausedAt()), run.id()));
        }
        if (run.stoppedBy() != null) {
            out.println((run.stops() ? "  stopping; stop requested by " : "  stop requested by ")
                    + Connection.visible(run.stoppedBy()));
        }
        if (run.retryOf() != null) {
            out.println("  retry of run %d".formatted(run.retryOf()));
        }
        if (!run.part().isWhole()) {
            out.println("  only " + run.part().text());
        }
        if (!run.message().isEmpty()) {
            out.println("  " + Connection.visible(run.message()));
        }
        out.println("  findings: " + Findings.words(run.findings()));
        out.flush();
    }

    public static void findings(PrintWriter out, List<KeptFinding> findings) {
        for (KeptFinding finding : findings) {
            String thing = (finding.experiment() == null ? "run " + finding.lastRun() : finding.experiment())
                    + (finding.shownPath() == null ? "" : ": " + shortened(finding.shownPath()));
            out.println("  %s  %s  %s".formatted(finding.reason(), thing, message(finding)));
            if (finding.acknowledgement() != null) {
                out.println("      acknowledged by %s: %s"
                        .formatted(
                                Connection.visible(finding.acknowledgement().by()),
                                Connection.visible(finding.acknowledgement().reason())));
            }
        }
        out.flush();
    }

    /** Returns the message of a finding, without the path with which some messages begin. */
    static String message(KeptFinding finding) {
        String message = Connection.visible(finding.message());
        String path = finding.shownPath() + ": ";
        return withoutLong(
                String.valueOf(finding.shownPath()),
                message.startsWith(path) ? message.substring(path.length()) : message);
    }

    /** Returns a path for a line: a long one without its middle and with its length. */
    static String shortened(String path) {
        int count = path.codePointCount(0, path.length());
        if (count <= PATH_CHARACTERS_MAX) {
            return path;
        }
        int half = PATH_CHARACTERS_MAX / 2;
        return "%s … %s (%,d characters)"
                .formatted(
                        path.substring(0, path.offsetByCodePoints(0, half)),
                        path.substring(path.offsetByCodePoints(path.length(), -half)),
                        count);
    }

    /** Returns the message of a finding for a line that has its path: a long one is not repeated. */
    static String withoutLong(String path, String message) {
        return shortened(path).equals(path) ? message : message.replace(path, "…");
    }

    /** Returns the exit code of a command that waited for this run. */
    public static int exitCode(RunState state) {
        return switch (state) {
            case RUNNING, PAUSED, COMPLETE -> Exit.WELL;
            case FINDINGS, FAILED, STOPPED -> Exit.NOT_SAFE;
        };
    }

    private static Colour colour(RunState state) {
        return switch (state) {
            case RUNNING, PAUSED -> Colour.WAITING;
            case COMPLETE -> Colour.GOOD;
            case FINDINGS, FAILED, STOPPED -> Colour.BAD;
        };
    }

    private static String word(RunState state) {
        return switch (state) {
            case RUNNING -> "is running";
            case PAUSED -> "is paused";
            case COMPLETE -> "is complete";
            case FINDINGS -> "ended with findings";
            case FAILED, STOPPED -> state.name().toLowerCase(Locale.ROOT);
        };
    }
}
