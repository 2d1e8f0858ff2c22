package dozo;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dozo.backup.Contents;
import dozo.backup.ServiceBackup;
import dozo.backup.ServiceBackup.Made;
import dozo.backup.ServiceRestore;
import dozo.backup.ServiceRestore.Restored;
import dozo.command.Exit;
import dozo.command.Failure;
import dozo.start.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Backs up Dozo itself, beside the running service or without it. */
@Command(
        name = "backup",
        mixinStandardHelpOptions = true,
        description = {
            "Backs up Dozo itself into a new folder: the database, every key in the work folder, and the settings without secrets. Then it",
            "reads all of it again. It takes the settings of the service: run it as the service's user, with the same environment, beside the running",
            "service or without it. Keep the folder as secret as the service's keys, which are in it, and on another machine.",
            "dozo restore-service FOLDER puts it back."
        })
final class BackupCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(paramLabel = "FOLDER", description = "A folder that exists; the backup gets one of its own in it.")
    private Path folder = Path.of("");

    @Override
    public Integer call() {
        return answered(requireNonNull(spec), () -> {
            requireFolder(folder);
            Made made = ServiceBackup.make(Application.settings(), folder.toAbsolutePath(), InstantSource.system());
            return "%s: %,d rows of %d tables, %d files of the work folder, the ledger %s. Everything was read again and is as it was written"
                    .formatted(
                            made.folder(),
                            made.rows(),
                            made.tables(),
                            made.keys(),
                            made.ledgerRow() == null ? "without rows" : "up to row " + made.ledgerRow());
        });
    }

    /** Restores Dozo itself. */
    @Command(
            name = "restore-service",
            mixinStandardHelpOptions = true,
            description = {
                "Puts a backup of Dozo itself back, on this machine or a new one, into an empty database and an empty work folder (DOZO_DB_URL,",
                "DOZO_WORK). The database may be embedded or your own, whichever it was before. The command checks the backup before it changes",
                "anything, and the ledger at the end. Then start the service. The earlier service must not run any more: both would write to the sites."
            })
    static final class Restore implements Callable<Integer> {

        @Spec
        private @Nullable CommandSpec spec;

        @Parameters(paramLabel = "FOLDER", description = "The backup's folder, such as dozo-20261129T040352Z.")
        private Path folder = Path.of("");

        @Override
        public Integer call() {
            return answered(requireNonNull(spec), () -> {
                requireFolder(folder);
                Restored restored =
                        ServiceRestore.restore(Application.settings().of(Settings.class), folder.toAbsolutePath());
                Contents contents = restored.contents();
                return "restored the backup of %s (dozo %s, schema %s); the ledger is intact%s%nThe settings were those in %s; secrets are not in it. Start the service: dozo serve%s"
                        .formatted(
                                contents.madeAt(),
                                contents.version(),
                                contents.schema(),
                                contents.head() == null
                                        ? ""
                                        : ", up to row %d at least"
                                                .formatted(contents.head().row()),
                                folder.resolve("settings"),
                                restored.remaining());
            });
        }
    }

    private static void requireFolder(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new Failure(Exit.USAGE, "%s: expected a folder that exists".formatted(folder));
        }
    }

    interface Work {
        String done() throws IOException;
    }

    static int answered(CommandSpec spec, Work work) {
        PrintWriter err = spec.commandLine().getErr();
        try {
            PrintWriter out = spec.commandLine().getOut();
            out.println(work.done());
            out.flush();
            return Exit.WELL;
        } catch (FileAlreadyExistsException e) {
            err.println("dozo: %s exists already: another backup is being made, or one was made in the same second"
                    .formatted(e.getMessage()));
            return Exit.UNAVAILABLE;
        } catch (NoSuchFileException e) {
            err.println("dozo: %s does not exist".formatted(e.getMessage()));
            return Exit.UNAVAILABLE;
        } catch (AccessDeniedException e) {
            err.println("dozo: no permission for %s".formatted(e.getMessage()));
            return Exit.UNAVAILABLE;
        } catch (FileSystemException e) {
            // Some failures have only a type, such as DirectoryNotEmptyException.
            err.println("dozo: %s cannot be used: %s"
                    .formatted(
                            e.getFile(),
                            requireNonNullElse(e.getReason(), e.getClass().getSimpleName())));
            return Exit.UNAVAILABLE;
        } catch (IOException e) {
            err.println("dozo: " + e.getMessage());
            return Exit.UNAVAILABLE;
        }
    }
}
