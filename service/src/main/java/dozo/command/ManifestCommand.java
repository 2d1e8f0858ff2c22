package dozo.command;

import dozo.api.ManifestApi.ShownManifest;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints what an experiment held, in the format of {@code sha256sum}. */
@Command(
        name = "manifest",
        mixinStandardHelpOptions = true,
        description = "Prints the files of a manifest with their digests, in the format of sha256sum.",
        footer = {
            "",
            "Check a copy of the source with it: dozo manifest P1/S1 > list && cd COPY && sha256sum -c list",
            "With --json, the manifest's totals. Exit code 3: files have no receipt. 69: download interrupted. The output is",
            "complete only with exit code 0. On a terminal control characters in names are shown as \\x1B; elsewhere names are bytes."
        })
final class ManifestCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @ArgGroup
    private @Nullable Which which;

    /** Selects a manifest, by one of two options; by default the latest. */
    private static final class Which {

        @Option(names = "--number", paramLabel = "N", description = "The manifest with this number.")
        private @Nullable Integer number;

        @Option(
                names = "--as-of",
                paramLabel = "WHEN",
                description = "The latest manifest at the end of a day, or at a time: yesterday, 7d, 2026-11-28.",
                converter = When.End.class)
        private @Nullable String asOf;
    }

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Option(
            names = "--partial",
            description = "Allows an incomplete list; its first line says how many files have no receipt.")
    private boolean partial;

    @Override
    public Integer call() {
        String address = Dozo.experimentAddress(service.commandLine(), experiment) + "/manifests";
        Answer<ShownManifest> manifest = find(
                service, address, experiment, which == null ? null : which.number, which == null ? null : which.asOf);
        if (service.json()) {
            service.print(manifest, "");
            return Exit.WELL;
        }
        Query list = new Query(
                        "%s/%d/sha256sums".formatted(address, manifest.value().number()))
                .with("partial", partial)
                .with("site", site);
        // NB: names are bytes, so the list must not pass through a text writer, unless a person reads it.
        service.download(list.toString(), Terminal.takesOutput() ? service::show : in -> in.transferTo(System.out));
        System.out.flush();
        if (System.out.checkError()) {
            throw new Failure(Exit.UNAVAILABLE, "cannot write the output; it is incomplete");
        }
        return Exit.WELL;
    }

    /**
     * Returns a manifest of an experiment: that with a number, the latest at a time, or the latest.
     *
     * @param address of the experiment's manifests
     */
    static Answer<ShownManifest> find(
            Connection service, String address, String experiment, @Nullable Integer number, @Nullable String asOf) {
        if (number != null) {
            return service.get(address + "/" + number, ShownManifest.class);
        }
        Answer<List<ShownManifest>> found =
                service.page(new Query(address).with("asOf", asOf).toString(), ShownManifest.class);
        if (found.value().isEmpty()) {
            throw new Failure(
                    Exit.REFUSED,
                    asOf == null
                            ? experiment + " has no manifest yet"
                            : "%s had no manifest yet at %s: choose a later time"
                                    .formatted(experiment, Times.text(Instant.parse(asOf))));
        }
        return Answer.first(found);
    }
}
