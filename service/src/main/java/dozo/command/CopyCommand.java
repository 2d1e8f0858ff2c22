package dozo.command;

import dozo.copy.Copy;
import dozo.copy.Copy.Progress;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Copies to a site or from one, as scp does, and proves it. Needs no service and no database, and loads nothing of either:
 * how soon the first byte moves counts.
 */
@Command(
        name = "copy",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        customSynopsis = {
            "dozo copy [-r] [-P PORT] [-i IDENTITY] [-o OPTION=VALUE]… [--limit RATE] [--lanes N]",
            "                 [--dry-run] [--json] [-q] SRC… USER@HOST:/DST",
            "  or:  dozo copy [the same options] USER@HOST:/SRC… DST"
        },
        description = {
            "",
            "Copies files and folders to a site or from one over SFTP, and proves each by its digest. The same command again "
                    + "finishes what was interrupted, and copies nothing twice.",
            "",
            "One SRC becomes DST: a folder's content lies in DST afterwards, a file is DST. If DST ends in a slash (or is ., .., "
                    + "~ or nothing), or there are several SRC, each goes into DST under its own name. Unlike with scp it does not "
                    + "matter whether DST is there already. A slash at the end of SRC means nothing.",
            "",
            "Paths at the site that do not begin with a slash are below the login's home folder. A local name with a colon "
                    + "wants ./ before it, IPv6 addresses want brackets; scp://USER@HOST:PORT/PATH is taken too.",
            ""
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything is verified",
            "1:there are findings, or not everything is verified",
            "2:the command line cannot be understood",
            "3:refused before anything was done",
            "69:the site cannot be reached or used, or not any more",
            "70:a defect of Dozo",
            "77:unknown host key, no key of ours, or login refused",
            "130:ended by Ctrl-C; the same command again finishes the rest"
        })
public final class CopyCommand implements Callable<Integer> {

    private final InstantSource clock;
    private final CopyReport report = new CopyReport();
    private final AtomicBoolean over = new AtomicBoolean();

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private Login login = new Login();

    @Option(names = "-r", description = "Copy folders with all that is in them.")
    private boolean folders;

    @Option(names = "-p", description = "Keep times and modes; this is always done.")
    private boolean keeps;

    @Option(
            names = "--limit",
            paramLabel = "RATE",
            converter = Amounts.Rate.class,
            description =
                    "At most so many bytes a second: 10M, 10MB, 1.5GB, 800Mbit, 250000 (powers of 1,000; 16MiB of 1,024).")
    private @Nullable Long limit;

    @Option(
            names = "--lanes",
            paramLabel = "N",
            description = "So many SSH connections, 1 to " + Lanes.LANES_MAX + "; without it as many as help.")
    private @Nullable Integer lanes;

    @Option(names = "--dry-run", description = "Say what would be copied, and change nothing.")
    private boolean dryRun;

    @Option(names = "--json", description = "Print the result as JSON, with exact numbers.")
    private boolean json;

    @Option(names = "-q", description = "Do not tell how far it is.")
    private boolean quiet;

    @Parameters(
            arity = "2..*",
            paramLabel = "SRC… DST",
            hideParamSyntax = true,
            description = "From where, and where to.")
    private List<String> places = List.of();

    CopyCommand(InstantSource clock) {
        this.clock = clock;
    }

    /** The whole program, where no other command is wanted. */
    public static void main(String[] arguments) throws IOException {
        // The SSH library's warnings are told by whoever meets their cause; and a logger takes its time to start.
        System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
        System.exit(
                arguments.length == 2 && arguments[0].equals(Rehearsal.ARGUMENT)
                        ? Rehearsal.in(Path.of(arguments[1]))
                        : commandLine().execute(arguments));
    }

    /** The command as a command line of its own. */
    static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new CopyCommand(InstantSource.system()));
        commandLine.setExecutionExceptionHandler(Failure::told);
        // A file may be called @this.
        commandLine.setExpandAtFiles(false);
        return commandLine;
    }

    @Override
    public Integer call() throws InterruptedException {
        login.understand();
        int count = laneCount();
        CopyRequest request = CopyRequest.of(places, folders);
        try {
            Instant asked = clock.instant();
            try (Copy copy = request.copy(login, new Copy.Options(count, limit == null ? 0 : limit, dryRun))) {
                return run(copy, request, asked);
            }
        } catch (RemoteException e) {
            throw new Failure(exitCode(e.reason()), Login.visible(String.valueOf(e.getMessage())));
        } catch (IOException e) {
            throw new Failure(Exit.UNAVAILABLE, Login.visible(String.valueOf(e)));
        }
    }

    private int run(Copy copy, CopyRequest request, Instant asked) throws IOException, InterruptedException {
        CopyMeter meter = CopyMeter.of(copy, commandLineOf().getErr(), manner());
        Thread atSignal = new Thread(() -> interrupted(copy, meter), "tell of the interruption");
        Runtime.getRuntime().addShutdownHook(atSignal);
        try (meter) {
            Progress end = copy.run(finding -> meter.say(report.add(finding)));
            meter.close();
            tell(end, request, asked);
            boolean well = dryRun ? end.counted() : end.complete();
            return well && !report.hasFindings() ? Exit.WELL : Exit.NOT_SAFE;
        } catch (IOException e) {
            tell(copy.progress(), request, asked);
            throw e;
        } finally {
            forget(atSignal);
        }
    }

    private void tell(Progress end, CopyRequest request, Instant asked) {
        Instant ended = clock.instant();
        if (over.getAndSet(true)) {
            return;
        }
        // Asked for only now: it takes longer than many a copy.
        Instant started =
                Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
        double seconds = seconds(started, ended);
        String where = (request.toSite() ? "at " : "here, from ") + request.host();
        PrintWriter out = commandLineOf().getOut();
        out.println(
                json
                        ? report.json(end, seconds, seconds(started, asked))
                        : dryRun ? CopyReport.dryLine(end) : report.line(end, where, seconds));
        out.flush();
    }

    /** In the thread that ends the process at a signal; the copy is cut off where it is, as by a power failure. */
    private void interrupted(Copy copy, CopyMeter meter) {
        if (!over.getAndSet(true)) {
            meter.close();
            meter.say("dozo: " + CopyReport.interrupted(copy.progress()));
        }
    }

    private static void forget(Thread atSignal) {
        try {
            Runtime.getRuntime().removeShutdownHook(atSignal);
        } catch (IllegalStateException ending) {
            // It is running already, and has seen whether there is something to tell.
        }
    }

    private int laneCount() {
        if (lanes == null) {
            return 0;
        }
        if (lanes < 1 || lanes > Lanes.LANES_MAX) {
            throw new Failure(Exit.USAGE, "--lanes: a number from 1 to %d is accepted".formatted(Lanes.LANES_MAX));
        }
        return lanes;
    }

    private CopyMeter.Manner manner() {
        if (quiet) {
            return CopyMeter.Manner.NOTHING;
        }
        return Terminal.takesErrors() ? CopyMeter.Manner.TERMINAL : CopyMeter.Manner.LINES;
    }

    private CommandLine commandLineOf() {
        return Objects.requireNonNull(spec).commandLine();
    }

    private static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toMillis() / 1e3;
    }

    private static int exitCode(RemoteException.Reason reason) {
        return switch (reason) {
            case HOST_KEY, LOGIN_REFUSED, PERMISSION_DENIED -> Exit.NOT_ALLOWED;
            case NO_SUCH_FILE, EXISTS -> Exit.REFUSED;
            case UNREACHABLE, NO_SFTP, LOST, READ_ONLY, FULL, UNSUPPORTED, REFUSED, PROTOCOL -> Exit.UNAVAILABLE;
        };
    }
}
