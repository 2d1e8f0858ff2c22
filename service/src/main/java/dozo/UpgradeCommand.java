package dozo;

import static java.util.Objects.requireNonNull;

import dozo.backup.DatabaseUpgrade;
import dozo.backup.DatabaseUpgrade.Back;
import dozo.backup.DatabaseUpgrade.Upgraded;
import dozo.backup.ServiceRestore.Restored;
import dozo.start.Settings;
import java.io.IOException;
import java.nio.file.Path;
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
            return back ? back(settings) : upgraded(settings);
        });
    }

    private static String upgraded(Settings settings) throws IOException {
        Upgraded done = DatabaseUpgrade.upgrade(settings, InstantSource.system());
        Path kept = done.kept();
        Restored restored = done.restored();
        return kept == null || restored == null
                ? "the embedded database has PostgreSQL %d already; nothing was changed".formatted(done.to())
                : "upgraded the embedded database from PostgreSQL %d to %d: %,d rows; the ledger is intact. Start the service: dozo serve%nThe old database stays in %s. Delete it when you do not need the way back (dozo upgrade-database --back)%s"
                        .formatted(
                                done.from(),
                                done.to(),
                                restored.contents().database().rows(),
                                kept,
                                BackupCommand.readers(restored));
    }

    private String back(Settings settings) throws IOException {
        Back done = DatabaseUpgrade.back(settings, yes, InstantSource.system());
        String lost = "%s is the database before the upgrade, of PostgreSQL %d. Not in it: %s. Files at sites stay as they are"
                .formatted(done.earlier(), done.to(), done.lost());
        return done.kept() == null
                ? lost + "%nNothing was changed. To return: dozo upgrade-database --back --yes".formatted()
                : lost
                        + "%nReturned to it; the other database stays in %s. Start the version of Dozo that has PostgreSQL %d"
                                .formatted(done.kept(), done.to());
    }
}
