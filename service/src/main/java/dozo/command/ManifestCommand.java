package dozo.command;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** What an experiment held, as {@code sha256sum} lists it. */
@Command(
        name = "manifest",
        mixinStandardHelpOptions = true,
        description = "Prints the files of a manifest with their digests, as sha256sum does.",
        footer = {
            "",
            "Check a copy of the source with it: dozo manifest P1/S1 > list && cd COPY && sha256sum -c list",
            "With --json, the manifest's totals. Any exit code but 0: what was printed is not the whole list."
        })
final class ManifestCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @ArgGroup
    private @Nullable Which which;

    /** One of them; the latest manifest without. */
    private static final class Which {

        @Option(names = "--number", paramLabel = "N", description = "The manifest with this number.")
        private @Nullable Integer number;

        @Option(
                names = "--as-of",
                paramLabel = "DAY",
                description = "The one that was the latest when the day was over, or at a time.")
        private @Nullable String asOf;
    }

    @Option(names = "--site", paramLabel = "S", description = "Proven at which site; not needed for the only one.")
    private @Nullable String site;

    @Option(
            names = "--partial",
            description = "Also a list without the files that were never proven; its first line says how many.")
    private boolean partial;

    @Override
    public Integer call() {
        CommandLine commandLine = requireNonNull(spec).commandLine();
        String address = Dozo.experimentAddress(commandLine, experiment) + "/manifests";
        JsonNode manifest = manifest(address);
        if (service.json()) {
            Dozo.say(commandLine.getOut(), service, manifest, "");
            return Exit.WELL;
        }
        String list = "%s/%d/sha256sums?partial=%s%s"
                .formatted(
                        address,
                        manifest.path("number").asInt(),
                        partial,
                        site == null ? "" : "&site=" + Connection.encoded(site));
        // NB: names are bytes, so nothing of it goes through a writer of text.
        service.download(list, in -> in.transferTo(System.out));
        System.out.flush();
        if (System.out.checkError()) {
            throw new Failure(Exit.UNAVAILABLE, "it could not be printed: what was printed is not all of it");
        }
        return Exit.WELL;
    }

    private JsonNode manifest(String address) {
        if (which != null && which.number != null) {
            return service.get(address + "/" + which.number);
        }
        String moment = which == null || which.asOf == null ? "" : "?asOf=" + Connection.encoded(which.asOf);
        JsonNode found = service.get(address + moment).path("items");
        if (found.isEmpty()) {
            throw new Failure(
                    Exit.REFUSED,
                    moment.isEmpty()
                            ? "no manifest of %s is sealed yet".formatted(experiment)
                            : "no manifest of %s was sealed then".formatted(experiment));
        }
        return found.get(0);
    }
}
