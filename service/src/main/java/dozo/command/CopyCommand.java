package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.command.CopyReport.Compared;
import dozo.command.CopyReport.DryRun;
import dozo.copy.Copy;
import dozo.copy.Copy.Progress;
import dozo.copy.Copy.Proofs;
import dozo.copy.ProofList;
import dozo.copy.UserCache;
import dozo.crypto.Libcrypto;
import dozo.file.Build;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.plan.Work;
import dozo.remote.Passwords;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies to or from a site, or between two, as scp does, and verifies the copy. Needs no service and no database, and loads no classes
 * of either: the time to the first byte matters.
 */
public final class CopyCommand {

    /**
     * The property that the launcher sets if it limits Java to the first compiler: the file in which the rehearsal
     * noted its libcrypto.
     */
    private static final String QUICK = "copy.crypto";

    private static final InstantSource CLOCK = InstantSource.system();

    private final PrintWriter out;
    private final PrintWriter err;
    private final CopyOptions options;
    private final CopyRequest request;
    private final EarlierCopies earlier;
    private final CopyReport report = new CopyReport();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable CopyMeter meter;

    private CopyCommand(CopyOptions options, PrintWriter out, PrintWriter err, EarlierCopies earlier) {
        this.out = out;
        this.err = err;
        this.earlier = earlier;
        this.options = options;
        this.request = CopyRequest.of(options.places(), options.folders());
        options.login()
                .passwords(
                        Terminal.canAsk()
                                ? Passwords.typed(this::secret)
                                : Passwords.none("there is no terminal to ask for a password"));
    }

    /** Runs the program if it needs no other command. */
    public static void main(String[] arguments) throws IOException {
        startNoLogger();
        // Loading libcrypto takes as long as loading everything for the first connection, so both run at the same time.
        Thread.ofPlatform().daemon().name("load libcrypto").start(Libcrypto::isUsed);
        if (arguments.length == 2 && arguments[0].equals(Rehearsal.ARGUMENT)) {
            System.exit(Rehearsal.in(Path.of(arguments[1])));
        }
        PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
        PrintWriter err = new PrintWriter(System.err, true, System.err.charset());
        System.exit(execute(List.of(arguments), out, err));
    }

    /**
     * Replaces the logger by none, before the first use: the code that meets the cause of an SSH library's warning
     * reports it, and a logger takes time to start.
     */
    public static void startNoLogger() {
        System.setProperty("slf4j.internal.verbosity", "ERROR");
        System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
    }

    /** Executes the command and returns the exit code. */
    static int execute(List<String> arguments, PrintWriter out, PrintWriter err) {
        return execute(arguments, out, err, EarlierCopies.in(UserCache.folder()));
    }

    static int execute(List<String> arguments, PrintWriter out, PrintWriter err, EarlierCopies earlier) {
        try {
            CopyOptions options = CopyOptions.of(arguments);
            if (options.help()) {
                out.print(CopyOptions.HELP);
                out.flush();
                return Exit.WELL;
            }
            if (options.version()) {
                out.println("dozo %s%ncrypto: %s".formatted(Build.VERSION, Libcrypto.note()));
                return Exit.WELL;
            }
            warn(System.getProperty(QUICK), err);
            return new CopyCommand(options, out, err, earlier).copy();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Exit.UNAVAILABLE;
        } catch (RuntimeException e) {
            return Complaint.print(err, arguments, e);
        }
    }

    /** Warns that a copy will be slow: Java's compiler was limited in favour of a libcrypto that is not used now. */
    private static void warn(@Nullable String note, PrintWriter err) {
        if (note != null && !Libcrypto.isUsed()) {
            err.println("dozo: this copy is slow because it uses %s. Remove %s to make later copies faster"
                    .formatted(Libcrypto.note(), note));
        }
    }

    private int copy() throws InterruptedException {
        try {
            Instant asked = CLOCK.instant();
            SiteAddress site = request.site(options.login());
            String file = options.manifest();
            try (ProofList manifest = file == null ? null : list(file);
                    Copy copy = request.copy(
                            site,
                            options.login(),
                            options.copy().taking(options.filter()).proving(proofs(manifest)))) {
                return run(copy, manifest, site, asked);
            }
        } catch (RemoteException e) {
            throw new Failure(exitCode(e.reason()), Login.visible(String.valueOf(e.getMessage())));
        } catch (UncheckedIOException e) {
            throw new Failure(
                    Exit.UNAVAILABLE, Login.visible("%s: %s".formatted(e.getMessage(), requireNonNull(e.getCause()))));
        } catch (IOException e) {
            // Java's exceptions say by their class what went wrong, Dozo's by their message.
            String why = e.getClass() == IOException.class ? e.getMessage() : e.toString();
            throw new Failure(Exit.UNAVAILABLE, Login.visible(String.valueOf(why)));
        }
    }

    private char @Nullable [] secret(String question) {
        CopyMeter shown = meter;
        return shown == null ? Terminal.secret(question) : shown.without(() -> Terminal.secret(question));
    }

    /** Returns who is told of each file: a list, and with {@code -v} whoever reads along. */
    private Proofs proofs(@Nullable ProofList manifest) {
        Proofs kept = manifest == null ? Proofs.NONE : manifest;
        return options.verbose() ? new Told(kept, this::tell) : kept;
    }

    private void tell(FilePath file) {
        requireNonNull(meter).say(Login.visible(file.toString()));
    }

    /** Passes on what it is told, and tells the names. */
    private record Told(Proofs kept, Consumer<FilePath> reader) implements Proofs {
        @Override
        public void file(FilePath path, Digest digest) {
            kept.file(path, digest);
            reader.accept(path);
        }

        @Override
        public void found(FilePath path) {
            reader.accept(path);
        }
    }

    private static ProofList list(String file) {
        try {
            return new ProofList(Path.of(file));
        } catch (IOException e) {
            throw new Failure(Exit.USAGE, "--manifest cannot be written: " + Login.visible(e.toString()));
        }
    }

    private int run(Copy copy, @Nullable ProofList manifest, SiteAddress site, Instant asked)
            throws IOException, InterruptedException {
        CopyMeter meter = CopyMeter.of(copy, err, options.quiet(), null);
        this.meter = meter;
        Thread atSignal = new Thread(() -> interrupted(copy, meter), "tell of the interruption");
        Runtime.getRuntime().addShutdownHook(atSignal);
        try (meter) {
            Progress end = copy.run(finding -> meter.say(report.add(finding)));
            meter.close();
            boolean well = (options.dryRun() ? end.counted() : end.complete()) && !report.hasFindings();
            if (manifest != null && well) {
                manifest.complete();
            }
            tell(end, site, asked);
            if (manifest != null && !well) {
                err.println("dozo: no manifest was written, because not everything is verified");
            }
            return well ? Exit.WELL : Exit.NOT_SAFE;
        } catch (IOException e) {
            // After a signal, its thread tells what there is, and nobody waits for this one.
            if (forget(atSignal)) {
                tell(copy.progress(), site, asked);
            }
            throw e;
        } finally {
            forget(atSignal);
        }
    }

    private void tell(Progress end, SiteAddress site, Instant asked) {
        Instant ended = CLOCK.instant();
        if (over.getAndSet(true)) {
            return;
        }
        // Read only now: this takes longer than many copies.
        Instant started =
                Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
        double seconds = seconds(started, ended);
        long limit = options.copy().limitBytesPerSecond();
        Optional<CopyForecast> forecast = options.dryRun()
                ? CopyForecast.of(earlier.of(way(site)), new Work(end.bytes(), end.entries()), limit)
                : Optional.empty();
        if (options.json()) {
            DryRun dry = options.dryRun() ? DryRun.of(end.bytes(), limit, forecast) : null;
            Compared compared = options.isComparison() ? report.compared(end) : null;
            out.println(report.json(end, seconds, seconds(started, asked), dry, compared));
        } else if (options.isComparison()) {
            out.println(report.comparedLine(end, request.where(), seconds));
        } else if (options.dryRun()) {
            out.println(CopyReport.dryLine(end, limit, forecast));
        } else {
            out.println(report.line(end, request.where(), seconds));
        }
        out.flush();
        // Other copies say nothing about how fast the link is.
        boolean moved = !options.isComparison() && end.bytesMoved() >= end.bytes();
        if (end.complete() && !report.hasFindings() && limit == 0 && moved) {
            earlier.add(way(site), new Work(end.bytes(), end.entries()), seconds);
        }
    }

    private String way(SiteAddress site) {
        return EarlierCopies.way(site, request.direction(), options.copy());
    }

    /** Runs in the thread that ends the process at a signal. The copy is cut off where it is, as by a power failure. */
    private void interrupted(Copy copy, CopyMeter meter) {
        if (!over.getAndSet(true)) {
            meter.close();
            meter.say("dozo: " + CopyReport.interrupted(copy.progress()));
        }
    }

    /** Returns false if the hook is already running. */
    private static boolean forget(Thread atSignal) {
        try {
            Runtime.getRuntime().removeShutdownHook(atSignal);
            return true;
        } catch (IllegalStateException ending) {
            return false;
        }
    }

    private static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toMillis() / 1e3;
    }

    /** Returns the exit code if the site cannot be used. */
    static int exitCode(RemoteException.Reason reason) {
        return switch (reason) {
            case HOST_KEY, LOGIN_REFUSED, PERMISSION_DENIED -> Exit.NOT_ALLOWED;
            case NO_SUCH_FILE, EXISTS -> Exit.REFUSED;
            case UNREACHABLE, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, UNSUPPORTED, REFUSED, PROTOCOL -> Exit.UNAVAILABLE;
        };
    }
}
