package dozo.command;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.KeptFinding;
import dozo.run.Runs.Run;
import dozo.transfer.TransferUnits.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** The root of the command line; a method for each command that asks the service. */
@Command(
        name = "dozo",
        mixinStandardHelpOptions = true,
        description = "Backs up experiments to a DR site, and proves it.",
        subcommands = {
            PlanCommand.class,
            ProjectCommand.class,
            RegisterCommand.class,
            ExperimentsCommand.class,
            SourceCommand.class,
            SiteCommand.class,
            CoverageCommand.class,
            ManifestCommand.class,
            ProveCommand.class,
            FlywheelCommand.class,
            OriginCommand.class,
            LedgerCommand.class,
            RestoreCommand.class,
            ScrubCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            RetryCommand.class,
            FindingsCommand.class,
            GapsCommand.class,
            BookingsCommand.class,
            StopCommand.class,
            TokenCommand.class,
            UserCommand.class,
            CommandLine.HelpCommand.class
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all is well: done, the run complete, everything safe",
            "1:there are findings, or not everything is safe",
            "2:the command line cannot be understood",
            "3:refused: the message says the field and what is accepted",
            "69:the service cannot be reached, or cannot start for want of something",
            "70:a defect of Dozo; the log says more",
            "77:name or password are missing or wrong, or it is not allowed to you",
            "78:a setting is wrong: the message says which and what is allowed"
        },
        footer = {
            "",
            "Commands that ask the service log in as DOZO_USER (admin) with the password in the file",
            "DOZO_PASSWORD_FILE (admin-password in DOZO_WORK), or with the token in DOZO_TOKEN or the file",
            "DOZO_TOKEN_FILE. DOZO_URL is the service's address."
        })
public final class Dozo {

    private static final Duration POLL = Duration.ofMillis(500);

    @Spec
    private @Nullable CommandSpec spec;

    private Dozo() {}

    /** The command line; add further commands to it. */
    public static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new Dozo());
        commandLine.setExecutionExceptionHandler(Dozo::failed);
        commandLine.setUsageHelpAutoWidth(true);
        java.util.Objects.requireNonNull(commandLine.getSubcommands().get("copy"))
                .setUnmatchedOptionsArePositionalParams(true)
                .setExpandAtFiles(false);
        commandLine.getCommandSpec().version("dozo " + version());
        return commandLine;
    }

    @Command(
            name = "release",
            mixinStandardHelpOptions = true,
            description = "Releases a frozen experiment: the next run seals what its source holds.")
    int release(
            @Mixin Connection service,
            @Parameters(paramLabel = "PROJECT/EXPERIMENT", description = "Its codes, as in the finding.") String name) {
        JsonNode experiment = service.post(experimentAddress(commandLineOf(), name) + "/release", Map.of());
        say(service, experiment, "released %s: the next run seals what its source holds".formatted(name));
        return Exit.WELL;
    }

    @Command(name = "run", mixinStandardHelpOptions = true, description = "Starts the nightly backup now.")
    int run(
            @Mixin Connection service,
            @Option(names = "--site", paramLabel = "S", description = "To which site; not needed for the only one.")
                    @Nullable
                    String site,
            @Option(names = "--wait", description = "Follow it to its end; the exit code is that of its result.")
                    boolean wait)
            throws InterruptedException {
        JsonNode started = service.post("/api/v1/runs", site == null ? Map.of() : Map.of("site", site));
        return startedOrFollowed(
                commandLineOf(),
                service,
                started,
                wait,
                "run %d is started".formatted(run(started).id()));
    }

    /** Says that a run goes on, or follows it to its end; the exit code. */
    static int startedOrFollowed(CommandLine commandLine, Connection service, JsonNode run, boolean wait, String line)
            throws InterruptedException {
        if (!wait) {
            say(commandLine.getOut(), service, run, line);
            return Exit.WELL;
        }
        JsonNode ended = followed(commandLine.getErr(), service, run);
        print(commandLine.getOut(), service, ended);
        return RunReport.exitCode(run(ended).state());
    }

    @Command(name = "status", mixinStandardHelpOptions = true, description = "Shows a run, its progress and findings.")
    int status(
            @Mixin Connection service,
            @Parameters(arity = "0..1", paramLabel = "RUN", description = "Its number; the last one if none is given.")
                    @Nullable
                    Long number) {
        JsonNode shown;
        if (number == null) {
            JsonNode latest = service.get("/api/v1/runs?limit=1").path("items");
            if (latest.isEmpty()) {
                say(service, latest, "No run yet.");
                return Exit.WELL;
            }
            shown = latest.get(0);
        } else {
            shown = service.get("/api/v1/runs/" + number);
        }
        print(out(), service, shown);
        return run(shown).findings() > 0
                ? Exit.NOT_SAFE
                : RunReport.exitCode(run(shown).state());
    }

    @Command(
            name = "copy",
            description = "Copies files to a site or from one, and proves it; needs no service. --help says how.")
    int copy(
            @Parameters(arity = "0..*", paramLabel = "ARGUMENT", description = "See there.") @Nullable
                    List<String> arguments) {
        CommandLine commandLine = commandLineOf();
        return CopyCommand.execute(
                arguments == null ? List.of() : arguments, commandLine.getOut(), commandLine.getErr());
    }

    /** Where REST has the experiment PROJECT/EXPERIMENT. */
    static String experimentAddress(CommandLine commandLine, String name) {
        String[] codes = name.split("/", -1);
        if (codes.length != 2 || codes[0].isEmpty() || codes[1].isEmpty()) {
            throw new ParameterException(commandLine, "\"%s\" is not PROJECT/EXPERIMENT".formatted(name));
        }
        return "/api/v1/experiments/%s/%s".formatted(Connection.encoded(codes[0]), Connection.encoded(codes[1]));
    }

    /** Prints an answer: as it is for programs, in a line for people. */
    private void say(Connection service, JsonNode answer, String line) {
        say(out(), service, answer, line);
    }

    static void say(PrintWriter out, Connection service, JsonNode answer, String line) {
        out.println(service.json() ? Connection.JSON.writeValueAsString(answer) : line);
        out.flush();
    }

    /** Prints a run with its findings, and how the promise stands after it. */
    static void print(PrintWriter out, Connection service, JsonNode shown) {
        if (service.json()) {
            out.println(Connection.JSON.writeValueAsString(shown));
            out.flush();
            return;
        }
        Run run = run(shown);
        RunReport.print(out, run, progress(shown, true));
        if (run.findings() > 0) {
            RunReport.findings(
                    out,
                    service.all("/api/v1/runs/%d/findings".formatted(run.id())).stream()
                            .map(Dozo::finding)
                            .toList());
        }
        FrozenReport.print(out, service, service.get("/api/v1/coverage?site=" + Connection.encoded(run.site())));
        PromiseReport.print(out, service, run.site());
    }

    /** The run when it has ended; tells on {@code err} how far it is meanwhile. */
    static JsonNode followed(PrintWriter err, Connection service, JsonNode started) throws InterruptedException {
        boolean terminal = Terminal.attached();
        JsonNode shown = started;
        String last = "";
        while (run(shown).goesOn()) {
            String line = progress(shown, terminal);
            if (terminal) {
                err.print("\r\u001b[K" + line);
            } else if (!line.equals(last)) {
                err.println(line);
            }
            err.flush();
            last = line;
            Thread.sleep(POLL);
            shown = service.get("/api/v1/runs/" + run(shown).id());
        }
        if (terminal) {
            err.print("\r\u001b[K");
            err.flush();
        }
        return shown;
    }

    private static String progress(JsonNode shown, boolean moved) {
        if (shown.hasNonNull("scrub")) {
            return RunReport.progress(
                    run(shown), Connection.JSON.treeToValue(shown.path("scrub"), RunReport.Scrubbed.class));
        }
        Progress progress = Connection.JSON.treeToValue(shown.path("progress"), Progress.class);
        return RunReport.progress(run(shown), moved ? progress : progress.recorded());
    }

    private static String version() {
        String built = Dozo.class.getPackage().getImplementationVersion();
        return built == null ? "from source" : built;
    }

    static Run run(JsonNode shown) {
        return Connection.JSON.treeToValue(shown, Run.class);
    }

    static KeptFinding finding(JsonNode finding) {
        String path = finding.path("pathBytes").asString("");
        return new KeptFinding(
                finding.path("id").asLong(),
                finding.path("run").asLong(),
                finding.hasNonNull("experiment") ? finding.path("experiment").asString() : null,
                Problem.valueOf(finding.path("reason").asString()),
                finding.hasNonNull("pathBytes")
                        ? FilePath.of(Base64.getDecoder().decode(path))
                        : null,
                finding.path("message").asString(""),
                Instant.parse(finding.path("foundAt").asString()),
                finding.hasNonNull("supersededBy")
                        ? finding.path("supersededBy").asLong()
                        : null,
                finding.hasNonNull("acknowledgement")
                        ? Connection.JSON.treeToValue(finding.path("acknowledgement"), Acknowledgement.class)
                        : null);
    }

    private PrintWriter out() {
        return commandLineOf().getOut();
    }

    private CommandLine commandLineOf() {
        return java.util.Objects.requireNonNull(spec).commandLine();
    }

    private static int failed(Exception failure, CommandLine commandLine, CommandLine.ParseResult parsed) {
        if (failure instanceof ParameterException usage) {
            throw usage;
        }
        if (failure instanceof Failure known) {
            commandLine.getErr().println("dozo: " + known.getMessage());
            return known.exitCode();
        }
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            return Exit.UNAVAILABLE;
        }
        commandLine.getErr().println("dozo: this is a defect:");
        failure.printStackTrace(commandLine.getErr());
        return Exit.DEFECT;
    }
}
