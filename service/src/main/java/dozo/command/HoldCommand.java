package dozo.command;

import dozo.registry.Holds.Hold;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Retention holds. */
@Command(name = "hold", mixinStandardHelpOptions = true, description = "Retention holds: list, add, end.")
final class HoldCommand {

    private static final String HOLDS = "/api/v1/holds";

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists holds, the latest first.")
    int list(
            @Mixin Connection service,
            @Option(names = "--all", description = "Also those that do not stand any more.") boolean all) {
        Answer<List<Hold>> holds = service.all(HOLDS + "?all=" + all, Hold.class);
        Table table = new Table(">HOLD", "ON", "SINCE", "BY", "UNTIL", "REASON", "ENDED");
        holds.value()
                .forEach(hold -> table.row(
                        hold.id(),
                        hold.subject(),
                        Times.text(hold.placedAt()),
                        hold.placedBy(),
                        Times.text(hold.until()),
                        Connection.visible(hold.reason()),
                        Times.text(hold.endedAt())));
        service.print(holds, out -> {
            if (holds.value().isEmpty()) {
                out.println(all ? "There was no hold yet." : "No hold stands.");
            } else {
                table.print(out);
            }
        });
        return Exit.WELL;
    }

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description =
                    "Places a hold: until it is ended, nothing of the experiment or project is forgotten or erased.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "P[/E]", description = "A project, or an experiment.") String subject,
            @Option(names = "--reason", paramLabel = "TEXT", required = true, description = "Why, in one line.")
                    String reason,
            @Option(
                            names = "--until",
                            paramLabel = "TIME",
                            description = "From then on it does not stand any more, such as 2036-10-01T00:00:00Z.")
                    @Nullable
                    String until) {
        int slash = subject.indexOf('/');
        Map<String, Object> body = new HashMap<>(Map.of("reason", reason));
        body.put("project", slash < 0 ? subject : subject.substring(0, slash));
        body.put("experiment", slash < 0 ? null : subject.substring(slash + 1));
        body.put("until", until);
        Answer<Hold> placed = service.post(HOLDS, body, Hold.class);
        service.confirm(placed, "hold %d stands on %s".formatted(placed.value().id(), subject));
        return Exit.WELL;
    }

    @Command(name = "end", mixinStandardHelpOptions = true, description = "Ends a hold.")
    int end(
            @Mixin Connection service,
            @Parameters(paramLabel = "HOLD", description = "Its number.") long hold,
            @Option(names = "--reason", paramLabel = "TEXT", required = true, description = "Why, in one line.")
                    String reason) {
        service.confirm(
                service.post("%s/%d/end".formatted(HOLDS, hold), Map.of("reason", reason), Hold.class),
                "hold %d is ended".formatted(hold));
        return Exit.WELL;
    }
}
