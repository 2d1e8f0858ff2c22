package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.CoverageApi.Stand;
import dozo.api.ScrubApi.ShownPromise;
import dozo.api.ShownRun;
import dozo.api.ShownRun.ShownScrub;
import dozo.api.ShownService;
import dozo.file.Build;
import dozo.ledger.Findings.KeptFinding;
import dozo.transfer.TransferUnits.Progress;
import java.io.PrintWriter;
import java.lang.reflect.AnnotatedElement;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IFactory;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The root of the command line, with a method for each short command. */
@Command(
        name = "dozo",
        mixinStandardHelpOptions = true,
        description = "Backs up experiments to a DR site, and verifies every file.",
        addMethodSubcommands = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success: done, the run complete, everything safe",
            "1:there are findings, or not everything is safe, or a promise cannot be kept",
            "2:invalid command line",
            "3:refused: the message names the field and what was expected",
            "69:the service or the site cannot be reached, or the service cannot start because something is missing",
            "70:a defect of Dozo; see the log",
            "77:name or password are missing or wrong, or you have no permission",
            "78:a setting is wrong: the message names it and what was expected",
            "130, 143:ended by a signal (Ctrl-C, kill)"
        },
        footer = {
            "",
            "Commands that ask the service log in as DOZO_USER (admin) with the password in the file",
            "DOZO_PASSWORD_FILE (admin-password in DOZO_WORK), or with the token in DOZO_TOKEN or the file",
            "DOZO_TOKEN_FILE. DOZO_URL is the service's address, DOZO_CA_FILE the authority of its certificate",
            "if Java does not know it."
        })
public final class Dozo {

    /** The commands that are classes. All others are methods here. */
    private static final List<Class<?>> CLASSES = List.of(
            PlanCommand.class,
            ForecastCommand.class,
            RegisterCommand.class,
            SiteCommand.class,
            TuneCommand.class,
            CoverageCommand.class,
            AuditCommand.class,
            ManifestCommand.class,
            ProveCommand.class,
            CertificateCommand.class,
            FlywheelCommand.class,
            OriginCommand.class,
            LedgerCommand.class,
            RestoreCommand.class,
            ScrubCommand.class,
            FindingsCommand.class,
            CommandLine.HelpCommand.class);

    /** Those of them that have further commands from REST, and those from REST with a word that is one of them. */
    private static final List<String> EXTENDED = List.of("drill", "findings", "origin", "site");

    private static final String RUNS = "/api/v1/runs";

    @Spec
    private @Nullable CommandSpec spec;

    private Dozo() {}

    /**
     * Returns the command line. Commands that are not needed get no options, only a name and a description: building
     * all of them takes several times as long as a typical command.
     *
     * @param others the classes of further commands
     * @param isNeeded accepts the names of the commands that are executed, or whose help is printed
     */
    public static CommandLine commandLine(
            Collection<? extends Class<?>> others, IFactory factory, Predicate<String> isNeeded) {
        CommandLine dozo = new CommandLine(new Dozo(), factory);
        Stream.of(CLASSES, CommandLine.getCommandMethods(Dozo.class, null), others)
                .flatMap(Collection::stream)
                .forEach(command -> add(dozo, command, isNeeded));
        if (EXTENDED.stream().anyMatch(isNeeded)
                || dozo.getSubcommands().keySet().stream()
                        .noneMatch(name -> !name.equals("help") && isNeeded.test(name))) {
            Verbs.addTo(dozo, isNeeded);
        }
        dozo.setExecutionExceptionHandler(Dozo::failed);
        IParameterExceptionHandler usual = dozo.getParameterExceptionHandler();
        dozo.setParameterExceptionHandler((wrong, arguments) -> misused(usual, wrong, arguments));
        dozo.setUsageHelpAutoWidth(true);
        requireNonNull(dozo.getSubcommands().get("copy"))
                .setUnmatchedOptionsArePositionalParams(true)
                .setExpandAtFiles(false);
        dozo.getCommandSpec().version("dozo " + Build.VERSION);
        return dozo;
    }

    private static void add(CommandLine dozo, AnnotatedElement command, Predicate<String> isNeeded) {
        Command about = requireNonNull(command.getAnnotation(Command.class));
        if (isNeeded.test(about.name())) {
            dozo.addSubcommand(command);
        } else {
            CommandSpec outline = CommandSpec.create();
            outline.usageMessage().description(about.description());
            dozo.getCommandSpec().addSubcommand(about.name(), outline);
        }
    }

    /** Prints that a run is in progress, or follows it to its end. Returns the exit code. */
    static int startedOrFollowed(Connection service, Answer<ShownRun> run, boolean wait, String line)
            throws InterruptedException {
        if (!wait) {
            service.confirm(run, line);
            return Exit.WELL;
        }
        long id = run.value().id();
        String goesOn = "run %d goes on in the service; to stop it: dozo stop %d".formatted(id, id);
        Answer<ShownRun> ended = followed(service, run, goesOn);
        print(service, ended);
        return RunReport.exitCode(ended.value().state());
    }

    /** Follows a run that was asked to stop to its end, whatever its result. */
    static int stopped(Connection service, Answer<ShownRun> run) throws InterruptedException {
        long id = run.value().id();
        String goesOn = "run %d is stopping in the service; to see it: dozo status %d".formatted(id, id);
        print(service, followed(service, run, goesOn));
        return Exit.WELL;
    }

    /** Waits until nothing of a paused run is under way, and returns the run. */
    static Answer<JsonNode> paused(Connection service, Answer<JsonNode> run) throws InterruptedException {
        long id = run.sent().path("id").longValue();
        String goesOn = "run %d stays paused, and the service finishes the units under way; to stop it: dozo stop %d"
                .formatted(id, id);
        return Following.end(
                service,
                run,
                RUNS + "/" + id,
                JsonNode.class,
                shown -> shown.path("underWay").booleanValue(),
                _ -> "",
                goesOn);
    }

    /** Returns the run in progress, paused or not. There is at most one, and it is the latest. */
    static long goingOn(Connection service) {
        return service.page(RUNS + "?limit=1", ShownRun.class).value().stream()
                .filter(latest -> latest.run().goesOn())
                .findFirst()
                .orElseThrow(() -> new Failure(Exit.REFUSED, "no run is in progress"))
                .id();
    }

    @Command(
            name = "status",
            mixinStandardHelpOptions = true,
            description =
                    "Says whether everything is safe, and shows the last run with its progress and findings, or another run.")
    int status(
            @Mixin Connection service,
            @Option(
                            names = {"-v", "--verbose"},
                            description = "Also shows what slowed the run.")
                    boolean verbose,
            @Option(
                            names = "--nagios",
                            description =
                                    "Prints one line for Nagios or Icinga. Exit code 0: OK, 1: WARNING, 2: CRITICAL, 3: UNKNOWN.")
                    boolean nagios,
            @Parameters(arity = "0..1", paramLabel = "RUN", description = "The run's number; by default the last run.")
                    @Nullable
                    Long number) {
        if (nagios && number != null) {
            throw new ParameterException(
                    requireNonNull(spec).commandLine(), "--nagios checks all sites: expected no RUN beside it");
        }
        if (nagios) {
            return StatusCheck.print(service);
        }
        if (number != null) {
            Answer<ShownRun> shown = service.get(RUNS + "/" + number, ShownRun.class);
            service.print(shown, out -> print(out, service, shown.value(), verbose, true));
            return exitCode(shown.value());
        }
        Answer<List<Stand>> stands = service.page("/api/v1/coverage/sentences", Stand.class);
        Answer<List<ShownRun>> latest = service.page(RUNS + "?limit=1", ShownRun.class);
        Optional<ShownRun> last = latest.value().stream().findFirst();
        ObjectNode sent = last.isPresent() ? (ObjectNode) latest.sent().get(0) : Connection.JSON.createObjectNode();
        service.print(new Answer<>(stands.value(), sent.set("sentences", stands.sent())), out -> {
            RiskReport.print(out, stands.value());
            last.ifPresentOrElse(run -> print(out, service, run, verbose, false), () -> out.println("No run yet."));
        });
        return stands.value().stream().allMatch(RiskReport::isWell)
                ? last.map(Dozo::exitCode).orElse(Exit.WELL)
                : Exit.NOT_SAFE;
    }

    private static int exitCode(ShownRun run) {
        return run.findings() > 0 ? Exit.NOT_SAFE : RunReport.exitCode(run.state());
    }

    @Command(
            name = "copy",
            description =
                    "Copies files to a site, from one, or between two, and verifies them; needs no service. See dozo copy --help.")
    int copy(
            @Parameters(arity = "0..*", paramLabel = "ARGUMENT", description = "See there.") @Nullable
                    List<String> arguments) {
        CommandLine commandLine = requireNonNull(spec).commandLine();
        return CopyCommand.execute(
                arguments == null ? List.of() : arguments, commandLine.getOut(), commandLine.getErr());
    }

    @Command(name = "version", mixinStandardHelpOptions = true, description = "Prints the version.")
    int version() {
        CommandLine root = requireNonNull(spec).commandLine();
        root.printVersionHelp(root.getOut());
        return Exit.WELL;
    }

    @Command(
            name = "completion",
            mixinStandardHelpOptions = true,
            description = "Prints a script with which a shell completes commands and options.")
    int completion(
            @Parameters(
                            arity = "0..1",
                            paramLabel = "SHELL",
                            defaultValue = "bash",
                            description = "bash, zsh or fish; by default bash.")
                    String shell) {
        CommandLine root = requireNonNull(spec).commandLine();
        root.getOut()
                .println(
                        switch (shell) {
                            case "bash", "zsh" -> AutoComplete.bash("dozo", root);
                            case "fish" -> FishCompletion.script(root.getCommandSpec());
                            default ->
                                throw new ParameterException(
                                        requireNonNull(root.getSubcommands().get("completion")),
                                        "\"%s\": expected bash, zsh or fish".formatted(shell));
                        });
        root.getOut().flush();
        return Exit.WELL;
    }

    @Command(name = "man", mixinStandardHelpOptions = true, description = "Prints a manual page with all commands.")
    int man() {
        CommandLine root = requireNonNull(spec).commandLine();
        root.getOut().print(ManPage.page(root.getCommandSpec(), "dozo " + Build.VERSION));
        root.getOut().flush();
        return Exit.WELL;
    }

    /** Returns the REST address of the experiment PROJECT/EXPERIMENT. */
    static String experimentAddress(CommandLine commandLine, String name) {
        List<String> codes = codes(commandLine, name);
        return "/api/v1/experiments/%s/%s"
                .formatted(Connection.encoded(codes.getFirst()), Connection.encoded(codes.getLast()));
    }

    /** Returns the codes of the project and of the experiment in PROJECT/EXPERIMENT. */
    static List<String> codes(CommandLine commandLine, String name) {
        String[] codes = name.split("/", -1);
        if (codes.length != 2 || codes[0].isEmpty() || codes[1].isEmpty()) {
            throw new ParameterException(commandLine, "\"%s\": expected PROJECT/EXPERIMENT".formatted(name));
        }
        return List.of(codes);
    }

    /** Prints a run with its findings, and then whether the promises are kept. */
    static void print(Connection service, Answer<ShownRun> answer) {
        service.print(answer, out -> print(out, service, answer.value(), true, true));
    }

    private static void print(
            PrintWriter out, Connection service, ShownRun run, boolean bottlenecks, boolean sentence) {
        RunReport.print(out, run.run(), progress(run));
        if (bottlenecks) {
            RunReport.bottlenecks(out, run.bottlenecks());
        }
        RunReport.workers(out, run.workers());
        if (run.chosen() != null) {
            out.println("  only chosen experiments: %,d".formatted(run.chosen().experiments()));
        }
        if (!run.kind().isScrub()) {
            out.println("  its experiments: dozo run experiments " + run.id());
        }
        if (run.findings() > 0) {
            RunReport.findings(
                    out,
                    service.all(RUNS + "/%d/findings".formatted(run.id()), KeptFinding.class)
                            .value());
        }
        ShownCoverage coverage = service.get(
                        "/api/v1/coverage?site=" + Connection.encoded(run.site()), ShownCoverage.class)
                .value();
        if (sentence) {
            RiskReport.print(out, service, coverage);
        } else {
            RiskReport.printRisks(out, service, coverage);
        }
        PromiseReport.print(out, service, run.site());
        PromiseReport.printDrills(out, service);
        ShownService shown = service.get("/api/v1/service", ShownService.class).value();
        ServiceReport.print(out, shown.services(), shown.workers());
    }

    /** Follows a run to its end, and returns it. */
    private static Answer<ShownRun> followed(Connection service, Answer<ShownRun> run, String ifInterrupted)
            throws InterruptedException {
        Pace pace = new Pace();
        ShownScrub scrub = run.value().scrub();
        long bytesAll = scrub != null && scrub.all()
                ? service.get(
                                "/api/v1/scrubs/promise?site="
                                        + Connection.encoded(run.value().site()),
                                ShownPromise.class)
                        .value()
                        .promise()
                        .bytes()
                : Done.UNKNOWN;
        return Following.end(
                service,
                run,
                RUNS + "/" + run.value().id(),
                ShownRun.class,
                shown -> shown.run().goesOn(),
                shown -> progress(shown, bytesAll, pace),
                ifInterrupted);
    }

    private static String progress(ShownRun shown, long bytesAll, Pace pace) {
        ShownScrub scrub = shown.scrub();
        long now = System.nanoTime();
        if (scrub != null) {
            return RunReport.progress(
                    shown.run(), scrub, bytesAll, pace.add(now, scrub.bytesRead(), scrub.copiesRead()));
        }
        Progress done = shown.progress();
        return RunReport.progress(shown.run(), done, pace.add(now, done.bytesMoved(), done.entriesDone()));
    }

    private static String progress(ShownRun shown) {
        ShownScrub scrub = shown.scrub();
        return scrub == null
                ? RunReport.progress(shown.run(), shown.progress())
                : RunReport.progress(shown.run(), scrub.copiesRead(), scrub.bytesRead(), scrub.copiesDamaged());
    }

    private static int failed(Exception failure, CommandLine commandLine, CommandLine.ParseResult parsed) {
        if (failure instanceof ParameterException usage) {
            throw usage;
        }
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            return Exit.UNAVAILABLE;
        }
        return Complaint.print(commandLine.getErr(), parsed.originalArgs(), failure);
    }

    /** Prints what is wrong with a command line. */
    private static int misused(IParameterExceptionHandler others, ParameterException wrong, String... arguments)
            throws Exception {
        CommandLine command = wrong.getCommandLine();
        return Complaint.isAskedBy(List.of(arguments))
                ? Complaint.print(
                        command.getErr(),
                        List.of(arguments),
                        new Failure(
                                Exit.USAGE,
                                Connection.text(wrong.getMessage()),
                                "See %s --help"
                                        .formatted(command.getCommandSpec().qualifiedName()),
                                null))
                : others.handleParseException(wrong, arguments);
    }
}
