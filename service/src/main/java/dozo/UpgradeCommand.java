package dozo;

import static java.util.Objects.requireNonNull;

import dozo.backup.DatabaseUpgrade;
import dozo.command.Exit;
import dozo.command.Failure;
import dozo.start.Settings;
import java.time.InstantSource;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Upgrades the embedded database to this program's major version of PostgreSQL. */
@Command(
        name = "upgrade-database",
        mixinStandardHelpOptions = true,
        description = {
            "Upgrades the embedded database to the major version of PostgreSQL in this version of Dozo. Stop the service first, and run it as the service's",
            "user, with the same environment. It makes a new database from all rows of the old one, checks the ledger, and only then replaces the old one,",
            "which stays beside it. It needs as much free space as the database has now. After an interruption, run it again.",
            "With --back it says what would be lost by a return to the old database, and with --back --yes it returns."
        })
final class UpgradeCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--back", description = "Say what a return to the database before the last upgrade would lose.")
    private boolean back;

    @Option(names = "--yes", description = "With --back: return to it. Nothing is deleted.")
    private boolean yes;

    @Override
    public Integer call() {
        return BackupCommand.answered(requireNonNull(spec), () -> {
            Settings settings = Application.settings().of(Settings.class);
            if (yes && !back) {
                throw new Failure(Exit.USAGE, "--yes is only for --back");
            }
            return back
                    ? DatabaseUpgrade.back(settings, yes, InstantSource.system())
                    : DatabaseUpgrade.upgrade(settings, InstantSource.system());
        });
    }
}
