package dozo.command;

import dozo.file.Size;
import dozo.restore.Chosen.Order;
import dozo.restore.RestoreBatch;
import dozo.restore.Restores.RestoreState;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The options of {@code dozo restore} for many experiments, which the service restores one after the other. */
final class ManyRestores {

    private static final String BATCHES = "/api/v1/restore-batches";

    /** 100,000 names of 160 bytes. */
    private static final int LIST_BYTES_MAX = 16_000_000;

    @ArgGroup
    private @Nullable Which which;

    @Option(
            names = "--order",
            paramLabel = "ORDER",
            description =
                    "Of --project and --all: newest (default), or bookings: projects with the next booking first.")
    private @Nullable Word order;

    /** Orders as they are typed. */
    enum Word {
        newest,
        bookings
    }

    /** Which experiments. */
    static final class Which {

        @Option(names = "--project", paramLabel = "P", description = "All experiments of this project; by the service.")
        @Nullable
        String project;

        @Option(names = "--all", description = "All experiments that you may see; by the service.")
        boolean all;

        @Option(
                names = "--list",
                paramLabel = "FILE",
                description =
                        "The experiments in this list (- for standard input), one in a line, in its order; by the service.")
        @Nullable
        String list;
    }

    /** Returns whether one of them is given. */
    boolean areAsked() {
        if (which == null && order != null) {
            throw new Failure(Exit.USAGE, "--order: only with --project or --all");
        }
        return which != null;
    }

    /**
     * Requests the restores and follows them to their end.
     *
     * @param wanted the other fields of the request
     * @param archive whether they go into an archive
     * @return the exit code
     */
    int run(Connection service, Map<String, @Nullable Object> wanted, boolean archive) throws InterruptedException {
        if (which == null) {
            throw new IllegalStateException("no experiments are given");
        }
        if (which.list != null) {
            String text = new String(RawArgument.content("--list", which.list, LIST_BYTES_MAX), StandardCharsets.UTF_8);
            // NB: with blank ones, so that the service can name a line by its number.
            wanted.put("experiments", text.lines().toList());
        }
        wanted.put("project", which.project);
        wanted.put("all", which.all);
        wanted.put("order", order == null ? null : Order.valueOf(order.name().toUpperCase(Locale.ROOT)));
        Answer<RestoreBatch> requested =
                service.post(archive ? BATCHES + "/archive" : BATCHES, wanted, RestoreBatch.class);
        long id = requested.value().id();
        String address = BATCHES + "/" + id;
        Answer<RestoreBatch> batch = Following.end(
                service,
                requested,
                address,
                RestoreBatch.class,
                each -> each.endedAt() == null,
                ManyRestores::line,
                "batch %d goes on in the service; to stop it: dozo restore-batch stop %d".formatted(id, id));
        service.print(batch, out -> {
            out.println(line(batch.value()));
            Stream.of(RestoreState.FINDINGS, RestoreState.FAILED, RestoreState.STOPPED)
                    .map(state -> new Query(address + "/items").with("state", state))
                    .map(query -> service.all(query.toString(), JsonNode.class).value())
                    .flatMap(List::stream)
                    .forEach(each -> Phrase.print(
                            out, each, "  {experiment}  {state words}[, findings: {findings}]  [{message raw}]"));
        });
        return batch.value().state() == RestoreState.COMPLETE ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static String line(RestoreBatch batch) {
        String time = batch.endedAt() != null
                ? ""
                : batch.forecast() == null
                        ? ", time unknown yet"
                        : ", about %s (%s to %s)"
                                .formatted(
                                        PlanReport.time(batch.forecast().seconds()),
                                        PlanReport.time(batch.forecast().leastSeconds()),
                                        PlanReport.time(batch.forecast().mostSeconds()));
        return "batch %d: %s, %,d of %,d experiments complete, with findings: %,d, failed: %,d; left: %,d, %,d files, %s%s"
                .formatted(
                        batch.id(),
                        batch.state().name().toLowerCase(Locale.ROOT),
                        batch.complete(),
                        batch.experiments(),
                        batch.withFindings(),
                        batch.failed(),
                        batch.running() + batch.waiting() + batch.stopped(),
                        batch.filesLeft(),
                        Size.text(batch.bytesLeft()),
                        time);
    }
}
