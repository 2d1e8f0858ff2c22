package dozo.demo;

import dozo.command.CoverageTable;
import dozo.command.Exit;
import dozo.command.Meter;
import dozo.command.Pace;
import dozo.command.RunReport;
import dozo.file.FilePath;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.loopback.Ports;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.start.StartFailure;
import dozo.transfer.TransferUnits.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Demonstrates Dozo on one machine: experiments, a database, a DR site on loopback, and a night. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description =
                "Runs everything on this machine: generates experiments, backs them up to a DR site on loopback, "
                        + "prints what is safe, and serves the pages until Ctrl-C. The same command again continues in the same folder.",
        footer = {"", "Exit code 0: everything is verified at the DR site."})
public final class Demo implements Callable<Integer> {

    private static final String ACTOR = "demo";
    private static final String PROJECT = "demo";
    private static final String EXPERIMENT = "E%04d";
    private static final int PORT_USUAL = 8080;
    private static final int FINDINGS_SHOWN = 50;
    private static final int EXPERIMENTS_PAGE = 500;
    private static final Duration POLL = Duration.ofMillis(250);

    /** The longest time without a line of output. */
    private static final Duration QUIET_MAX = Duration.ofSeconds(2);

    private final Function<Map<String, ?>, ConfigurableApplicationContext> service;
    private final Function<ConfigurableApplicationContext, URI> address;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "Your own tree instead of generated experiments: each folder in it is an experiment. It is only read.")
    private @Nullable Path data;

    @Option(
            names = "--work",
            paramLabel = "DIR",
            defaultValue = "demo-work",
            description = "The folder for the database, the DR site and generated experiments (${DEFAULT-VALUE}).")
    private Path work = Path.of("demo-work");

    @Option(names = "--once", description = "Exits after printing the table.")
    private boolean once;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "The port of the pages (8080, or another one if 8080 is in use).")
    private @Nullable Integer port;

    /**
     * A demonstration that has begun nothing yet.
     *
     * @param service starts the service in this process with these settings
     * @param address says where a started service is
     */
    public Demo(
            Function<Map<String, ?>, ConfigurableApplicationContext> service,
            Function<ConfigurableApplicationContext, URI> address) {
        this.service = service;
        this.address = address;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path home = work.toAbsolutePath().normalize();
        List<Path> sources = sources(home);
        Path root = Files.createDirectories(home.resolve("dr-site"));
        try (LoopbackSite site = site(home, root)) {
            say("DR site: %s at %s, its folder is %s".formatted(site.kind(), site.address(), root));
            try (ConfigurableApplicationContext started = during("starting the service", () -> start(home))) {
                return show(started, site, sources);
            }
        }
    }

    private interface Work<T> {
        T result() throws IOException;
    }

    /** Does work that takes a while, and prints its description every two seconds. */
    private <T> T during(String what, Work<T> work) throws IOException {
        say(what + " …");
        try (ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
            AtomicInteger ticks = new AtomicInteger();
            ScheduledFuture<?> saying = clock.scheduleAtFixedRate(
                    () -> say("%s … (%d s)".formatted(what, ticks.incrementAndGet() * QUIET_MAX.toSeconds())),
                    QUIET_MAX.toMillis(),
                    QUIET_MAX.toMillis(),
                    TimeUnit.MILLISECONDS);
            try {
                return work.result();
            } finally {
                saying.cancel(false);
            }
        }
    }

    private int show(ConfigurableApplicationContext started, LoopbackSite site, List<Path> sources)
            throws InterruptedException {
        try {
            started.getBean(Sites.class).save("dr", site.address(), ACTOR);
            register(started, sources);
            boolean safe = night(started);
            sayWhatNext(address.apply(started), safe);
            if (!once) {
                awaitEnd(started);
            }
            return safe ? Exit.WELL : Exit.NOT_SAFE;
        } catch (RuntimeException e) {
            if (started.isActive()) {
                throw e;
            }
            // Ctrl-C has closed the service. It has already reported what is unfinished.
            return Exit.NOT_SAFE;
        }
    }

    /** Returns the experiments' folders: those of the given tree, or generated ones. */
    private List<Path> sources(Path home) throws IOException {
        if (data == null) {
            Path made = home.resolve("source");
            return during("generating synthetic experiments in " + made, () -> SyntheticExperiments.make(made));
        }
        if (!Files.isDirectory(data)) {
            throw usage("--data: there is no folder " + data);
        }
        Path tree = data.toRealPath();
        if (home.startsWith(tree) || tree.startsWith(home.resolve("dr-site"))) {
            throw usage("--work %s and --data %s must not contain each other".formatted(home, tree));
        }
        List<Path> folders = new ArrayList<>();
        int others = 0;
        try (DirectoryStream<Path> children = Files.newDirectoryStream(tree)) {
            for (Path child : children) {
                if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    folders.add(child);
                } else {
                    others++;
                }
            }
        }
        if (folders.isEmpty()) {
            throw usage("--data: %s contains no folders: expected one folder for each experiment".formatted(tree));
        }
        if (others > 0) {
            say("%d files and links directly in %s belong to no experiment and are not backed up"
                    .formatted(others, tree));
        }
        folders.sort(Comparator.comparing(folder -> FilePath.between(tree, folder)));
        return folders;
    }

    /** Starts the DR site on the port of its first start, because an interrupted run connects to that port. */
    private static LoopbackSite site(Path home, Path root) throws IOException {
        Path known = home.resolve("dr-port");
        if (!Files.exists(known)) {
            Files.writeString(known, String.valueOf(Ports.free()));
        }
        return LoopbackSite.start(
                home.resolve("dr-sshd"),
                root,
                Integer.parseInt(Files.readString(known).strip()));
    }

    /** Starts the service at the given port; without one, at the usual port, or at any free port if that is in use. */
    private ConfigurableApplicationContext start(Path home) {
        if (port != null) {
            return service.apply(settings(home, port));
        }
        try {
            return service.apply(settings(home, PORT_USUAL));
        } catch (RuntimeException e) {
            if (StartFailure.of(e).filter(StartFailure::portInUse).isEmpty()) {
                throw e;
            }
            return service.apply(settings(home, 0));
        }
    }

    private static Map<String, ?> settings(Path home, int port) {
        return Map.of(
                "dozo.work", home.resolve("service").toString(),
                "dozo.db.url", "",
                "dozo.schedule.cron", "-",
                "dozo.drill.cron", "-",
                "dozo.drill.site-cron", "-",
                "dozo.http.address", "127.0.0.1",
                "dozo.http.port", port);
    }

    /**
     * Registers the folders that are not yet experiments, under opaque codes, so that their names stay on this machine.
     */
    private void register(ConfigurableApplicationContext started, List<Path> sources) {
        Projects projects = started.getBean(Projects.class);
        Experiments experiments = started.getBean(Experiments.class);
        if (projects.find(PROJECT).isEmpty()) {
            projects.create(PROJECT, "Demonstration", ACTOR);
        }
        int number = 0;
        for (Path source : sources) {
            if (experiments.withSource(source).isPresent() || isMoved(experiments, source)) {
                continue;
            }
            String code;
            do {
                code = EXPERIMENT.formatted(++number);
            } while (experiments.find(PROJECT, code).isPresent());
            String title =
                    FilePath.render(FilePath.between(Path.of("/"), source).name());
            experiments.register(PROJECT, code, title.substring(0, Math.min(200, title.length())), source, ACTOR);
        }
    }

    /** If the demonstration's own folder was moved or copied, gives a generated experiment its present path. */
    private boolean isMoved(Experiments experiments, Path source) {
        Path name = source.subpath(source.getNameCount() - 2, source.getNameCount());
        Optional<Experiment> known = data != null
                ? Optional.empty()
                : experiments.page(0, EXPERIMENTS_PAGE).stream()
                        .filter(each ->
                                each.project().equals(PROJECT) && each.source().endsWith(name))
                        .findFirst();
        known.ifPresent(experiment -> experiments.moved(experiment, source, ACTOR));
        return known.isPresent();
    }

    /**
     * Finishes an interrupted night, if there is one, runs a new one and prints the table. Returns whether everything
     * is verified.
     */
    private boolean night(ConfigurableApplicationContext started) throws InterruptedException {
        Runs runs = started.getBean(Runs.class);
        for (Run cutOff = runs.running().orElse(null);
                cutOff != null;
                cutOff = runs.running().orElse(null)) {
            say("run %d was interrupted; it continues".formatted(cutOff.id()));
            follow(runs, cutOff.id());
        }
        Run ended = follow(
                runs, started.getBean(Operations.class).start("dr", ACTOR).id());
        PrintWriter out = out();
        RunReport.print(out, ended, runs.progress(Sight.EVERYTHING, ended.id()));
        RunReport.findings(out, started.getBean(Findings.class).of(Sight.EVERYTHING, ended.id(), 0, FINDINGS_SHOWN));
        if (ended.findings() > FINDINGS_SHOWN) {
            say("  … and more: dozo status");
        }
        out.println();
        Coverage coverage = started.getBean(Coverage.class);
        Site site = started.getBean(Sites.class).find("dr").orElseThrow();
        Coverage.Totals all = coverage.all(site.id());
        CoverageTable.print(out, all, 0, experiments(coverage, site.id()), Map.of());
        return all.safe() && ended.state() == RunState.COMPLETE;
    }

    private static List<ExperimentCoverage> experiments(Coverage coverage, int site) {
        List<ExperimentCoverage> all = new ArrayList<>();
        List<ExperimentCoverage> page = coverage.experiments(Sight.EVERYTHING, site, 0, EXPERIMENTS_PAGE);
        while (!page.isEmpty()) {
            all.addAll(page);
            page = coverage.experiments(Sight.EVERYTHING, site, page.getLast().experimentId(), EXPERIMENTS_PAGE);
        }
        return all;
    }

    /** Shows a run's progress until it ends. */
    private Run follow(Runs runs, long id) throws InterruptedException {
        Pace pace = new Pace();
        Run run = runs.find(id).orElseThrow();
        try (Meter meter = Meter.on(out())) {
            while (run.goesOn()) {
                Progress progress = runs.progress(Sight.EVERYTHING, id);
                meter.show(RunReport.progress(
                        run, progress, pace.add(System.nanoTime(), progress.bytesMoved(), progress.entriesDone())));
                Thread.sleep(POLL);
                run = runs.find(id).orElseThrow();
            }
        }
        return run;
    }

    /** Prints the address of the pages and what to try next. */
    private void sayWhatNext(URI pages, boolean safe) {
        say(
                once
                        ? "Pages: ./dozo demo (without --once) serves them at %s".formatted(pages)
                        : "Pages: %s (REST: %sapi/v1), until Ctrl-C. Log in as admin with the password in %s"
                                .formatted(pages, pages, work.resolve("service").resolve("admin-password")));
        say(
                safe
                        ? "Next:  check a copy without Dozo: " + check()
                        : "Next:  read the findings above; run ./dozo demo again to send the missing files");
    }

    /** Returns a shell command that checks the first experiment's copy. */
    private String check() {
        Path bag = work.resolve("dr-site").resolve(PROJECT).resolve(EXPERIMENT.formatted(1));
        // sha256sums.txt is there when the bag has names that BagIt and sha256sum write differently.
        String list = Files.exists(bag.resolve("sha256sums.txt")) ? "sha256sums.txt" : "manifest-sha256.txt";
        return "(cd '%s' && sha256sum -c --quiet %s && echo all as listed)".formatted(bag, list);
    }

    private static void awaitEnd(ConfigurableApplicationContext started) throws InterruptedException {
        CountDownLatch closed = new CountDownLatch(1);
        ApplicationListener<ContextClosedEvent> atClose = event -> closed.countDown();
        started.addApplicationListener(atClose);
        closed.await();
    }

    private ParameterException usage(String message) {
        return new ParameterException(commandSpec().commandLine(), message);
    }

    private void say(String line) {
        out().println(line);
        out().flush();
    }

    private PrintWriter out() {
        return commandSpec().commandLine().getOut();
    }

    private CommandSpec commandSpec() {
        return Objects.requireNonNull(spec);
    }
}
