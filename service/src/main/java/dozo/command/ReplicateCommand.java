package dozo.command;

import dozo.api.ShownRun;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Copies experiments from one site to another. */
@Command(
        name = "replicate",
        mixinStandardHelpOptions = true,
        description = "Copies experiments from one site to another, and verifies them there. No source is read.",
        footer = {
            "",
            "The current manifest is copied, and only what the other site lacks. The digest of every file, as it is read",
            "and as it is computed at the other site, must be that of its receipt. Repeat the command after findings."
        })
final class ReplicateCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Parameters(
            arity = "0..1",
            paramLabel = "PROJECT[/EXPERIMENT]",
            description = "Only this experiment, or all of this project.")
    private @Nullable String what;

    @Option(
            names = "--from",
            paramLabel = "S",
            required = true,
            description = "The site whose verified copies are read, also a removed one.")
    private String from = "";

    @Option(names = "--to", paramLabel = "S", required = true, description = "The site that gets copies.")
    private String to = "";

    @Option(
            names = "--source-gone",
            description = "Only experiments whose source folder is missing or empty, as open findings say.")
    private boolean sourceGone;

    @Option(names = "--wait", description = "Waits for the end; the exit code is that of the run.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        Map<String, Object> asked = new HashMap<>(Map.of("from", from, "to", to, "sourceGone", sourceGone));
        if (what != null) {
            asked.put(what.contains("/") ? "experiment" : "project", what);
        }
        Answer<ShownRun> answer = service.post("/api/v1/replications", asked, ShownRun.class);
        ShownRun started = answer.value();
        return Dozo.startedOrFollowed(
                service,
                answer,
                wait,
                "run %d has started: %s is copied to %s (experiments: %s)"
                        .formatted(
                                started.id(),
                                from,
                                to,
                                started.replication() == null
                                        ? "?"
                                        : started.replication().experiments()));
    }
}
