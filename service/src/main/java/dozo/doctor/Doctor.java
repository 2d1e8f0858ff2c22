package dozo.doctor;

import dozo.broker.BrokerSettings;
import dozo.db.LostDatabase;
import dozo.message.MailSettings;
import dozo.schedule.ScheduleSettings;
import dozo.security.DirectorySettings;
import dozo.start.HttpSettings;
import dozo.start.Settings;
import dozo.start.WorklistSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Checks an installation. All checks run at the same time, and none runs longer than the installation's limit. */
public final class Doctor {

    /** In the order of the output. */
    private static final List<Check> CHECKS = List.of(
            new Check("Java", JavaCheck::look),
            new Check("memory", JavaCheck::memory),
            new Check("open files", JavaCheck::openFiles),
            new Check("settings", SettingsCheck::look),
            new Check("secrets", SettingsCheck::secrets),
            Check.ofSettings("work folder", Settings.class, WorkFolderCheck::look),
            Check.ofSettings("HTTP", HttpSettings.class, HttpCheck::look),
            new Check("database", DatabaseCheck::look),
            new Check("service", ServiceCheck::look),
            Check.ofSettings("schedule", ScheduleSettings.class, ScheduleCheck::look),
            Check.ofSettings("first steps", ScheduleSettings.class, StepsCheck::look),
            Check.ofSettings("broker", BrokerSettings.class, BrokerCheck::look),
            Check.ofSettings("directory", DirectorySettings.class, DirectoryCheck::look),
            new Check("oidc", OidcCheck::look),
            Check.ofSettings("worklist", WorklistSettings.class, WorklistCheck::look),
            Check.ofSettings("mail", MailSettings.class, MailCheck::look),
            Check.ofCatalogue("users", UsersCheck::look),
            Check.ofCatalogue("sites", SitesCheck::look),
            Check.ofCatalogue("origins", OriginsCheck::look),
            Check.ofCatalogue("sources", SourcesCheck::look));

    /** A check that waits for parts of its own gets this much longer than they. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    private record Running(Check check, FutureTask<List<Result>> results) {}

    private Doctor() {}

    /** Runs all checks, and returns their results. */
    public static List<Result> examine(Installation installation) {
        return together(CHECKS, installation, GRACE);
    }

    /** Runs the parts of a check at the same time. */
    static List<Result> together(List<Check> parts, Installation installation) {
        return together(parts, installation, Duration.ZERO);
    }

    private static List<Result> together(List<Check> checks, Installation installation, Duration grace) {
        List<Running> running = new ArrayList<>();
        for (Check check : checks) {
            FutureTask<List<Result>> results =
                    new FutureTask<>(() -> check.look().at(installation));
            // NB: platform threads. One that hangs in a file system never ends; a virtual one would keep its carrier.
            Thread.ofPlatform().daemon().name("check " + check.about()).start(results);
            running.add(new Running(check, results));
        }
        List<Result> all = new ArrayList<>();
        for (Running each : running) {
            all.addAll(results(each, installation, grace));
        }
        return all;
    }

    private static List<Result> results(Running each, Installation installation, Duration grace) {
        String about = each.check.about();
        try {
            return each.results.get(installation.nanosLeft() + grace.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException hangs) {
            var _ = each.results.cancel(true);
            return List.of(
                    Result.broken(
                            about,
                            "no answer within %d s"
                                    .formatted(installation.limit().toSeconds()),
                            "Find out what does not answer: a network, a file server or a database; or allow more time with --timeout."));
        } catch (ExecutionException e) {
            return List.of(failed(about, e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of(Result.warning(about, "the check was interrupted", "Run dozo doctor again."));
        }
    }

    private static Result failed(String about, @Nullable Throwable failure) {
        return LostDatabase.isBehind(failure)
                ? Result.broken(
                        about,
                        "the connection to the database was lost during the check",
                        "Check the database server and the network, and run dozo doctor again.")
                : Result.broken(
                        about,
                        "the check failed: " + failure,
                        "Run dozo doctor again; if it fails again, send this line to the developers.");
    }
}
