package dozo.command;

import dozo.alert.Alerts.Alert;
import dozo.api.AlertApi.ShownRecipient;
import dozo.api.AlertApi.Written;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Conditions that need a person, and who is told about them. */
@Command(
        name = "alert",
        mixinStandardHelpOptions = true,
        description = "Conditions that need a person, and who is told: list, recipients, save, remove, test.")
final class AlertCommand {

    private static final String ALERTS = "/api/v1/alerts";
    private static final String RECIPIENTS = ALERTS + "/recipients";

    /** Where messages go. */
    static final class To {

        @Option(names = "--mail", paramLabel = "ADDRESS", description = "A mail address.")
        @Nullable
        String mail;

        @Option(
                names = "--webhook-file",
                paramLabel = "FILE",
                description = "The file with the webhook's URL, on the service's machine.")
        @Nullable
        String webhookFile;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists conditions, the newest first.")
    int list(
            @Mixin Connection service,
            @Option(names = "--all", description = "Also those that are over.") boolean all) {
        Answer<List<Alert>> alerts = service.all(ALERTS + "?open=" + !all, Alert.class);
        Table table = new Table("SINCE", "CONDITION", "SITE", "PROJECT", "COUNT", "FIRST", "OVER");
        alerts.value()
                .forEach(alert -> table.row(
                        Times.text(alert.raisedAt()),
                        alert.kind().word(),
                        Connection.text(alert.site()),
                        Connection.text(alert.project()),
                        "%,d".formatted(alert.count()),
                        Connection.text(alert.subject()),
                        Times.text(alert.clearedAt())));
        service.print(alerts, out -> {
            if (alerts.value().isEmpty()) {
                out.println(all ? "No condition has needed a person yet." : "Nothing needs a person.");
            } else {
                table.print(out);
            }
        });
        return Exit.WELL;
    }

    @Command(name = "recipients", mixinStandardHelpOptions = true, description = "Lists who is told.")
    int recipients(@Mixin Connection service) {
        Answer<ShownRecipient[]> answer = service.get(RECIPIENTS, ShownRecipient[].class);
        Table table = new Table("NAME", "TO", "PROJECTS", "LANGUAGE", "REMINDERS", "QUIET", "REPORT", "STATE");
        for (ShownRecipient each : answer.value()) {
            table.row(
                    Connection.text(each.name()),
                    Connection.text(each.mail() == null ? each.webhookFile() : each.mail()),
                    each.projects().isEmpty() ? "all" : UserCommand.words(each.projects()),
                    each.language(),
                    each.remindHours() == null ? "never" : "every %d h".formatted(each.remindHours()),
                    each.quietFrom() == null ? "never" : "%s-%s".formatted(each.quietFrom(), each.quietUntil()),
                    each.morningReport() ? "daily" : "no",
                    state(each));
        }
        service.print(answer, out -> {
            if (answer.value().length == 0) {
                out.println("Nobody is told yet; `dozo alert save` registers a recipient.");
            } else {
                table.print(out);
            }
        });
        return Exit.WELL;
    }

    private static String state(ShownRecipient recipient) {
        if (recipient.waiting() > 0) {
            return "%,d not delivered: %s".formatted(recipient.waiting(), Connection.text(recipient.error()));
        }
        return recipient.active() ? "active" : "inactive";
    }

    @Command(
            name = "save",
            mixinStandardHelpOptions = true,
            description = "Registers a recipient, or replaces all settings of an existing one.")
    int save(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "Its name in Dozo.") String name,
            @ArgGroup(multiplicity = "1") To to,
            @Option(
                            names = "--project",
                            paramLabel = "P",
                            description = "It is told only about this project; repeatable. Default: everything.")
                    @Nullable
                    List<String> projects,
            @Option(names = "--language", paramLabel = "LANGUAGE", description = "en or ja. Default: en.") @Nullable
                    String language,
            @Option(
                            names = "--remind-hours",
                            paramLabel = "N",
                            description = "Repeats a condition that continues every N hours. Default: never.")
                    @Nullable
                    Integer remindHours,
            @Option(
                            names = "--quiet-hours",
                            paramLabel = "FROM-UNTIL",
                            description = "Only the gravest conditions are told then, such as 22:00-07:00.")
                    @Nullable
                    String quiet,
            @Option(
                            names = "--morning-report",
                            paramLabel = "YES|NO",
                            description =
                                    "Whether it is told every morning what the night did. Default: yes for mail, no for a webhook.")
                    @Nullable
                    String morningReport,
            @Option(names = "--inactive", description = "It is told nothing.") boolean inactive) {
        Map<String, Object> body = new HashMap<>(Map.of("active", !inactive));
        body.put("mail", to.mail);
        body.put("webhookFile", to.webhookFile);
        body.put("projects", projects);
        body.put("language", language);
        body.put("remindHours", remindHours);
        body.put("morningReport", morningReport == null ? null : isYes(morningReport));
        if (quiet != null) {
            int dash = quiet.indexOf('-');
            body.put("quietFrom", dash < 0 ? quiet : quiet.substring(0, dash));
            body.put("quietUntil", dash < 0 ? quiet : quiet.substring(dash + 1));
        }
        service.confirm(
                service.put(recipient(name), body, ShownRecipient.class),
                "%s will be told; try it: dozo alert test %s".formatted(name, name));
        return Exit.WELL;
    }

    private static boolean isYes(String typed) {
        return switch (typed) {
            case "yes" -> true;
            case "no" -> false;
            default -> throw new Failure(Exit.USAGE, "--morning-report %s: expected yes or no".formatted(typed));
        };
    }

    @Command(name = "remove", mixinStandardHelpOptions = true, description = "Removes a recipient.")
    int remove(@Mixin Connection service, @Parameters(paramLabel = "NAME") String name) {
        service.confirm(service.delete(recipient(name), Void.class), "%s is no longer told".formatted(name));
        return Exit.WELL;
    }

    @Command(
            name = "test",
            mixinStandardHelpOptions = true,
            description = "Sends a message that says only that messages arrive.")
    int test(@Mixin Connection service, @Parameters(paramLabel = "NAME") String name) {
        service.confirm(
                service.post(recipient(name) + "/test", Map.of(), Written.class),
                "message to %s written; `dozo alert recipients` shows if it cannot be delivered".formatted(name));
        return Exit.WELL;
    }

    private static String recipient(String name) {
        return RECIPIENTS + "/" + Connection.encoded(name);
    }
}
