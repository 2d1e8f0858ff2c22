package dozo.command;

import dozo.api.ErasureApi.ErasureDetail;
import dozo.registry.Erasures.Erasure;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Erasures. */
@Command(
        name = "erasure",
        mixinStandardHelpOptions = true,
        description = "Erasures of experiments: list, show, request, approve, withdraw, state.")
final class ErasureCommand {

    private static final String ERASURES = "/api/v1/erasures";

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists erasures, the latest first.")
    int list(@Mixin Connection service) {
        Answer<List<Erasure>> erasures = service.all(ERASURES, Erasure.class);
        Table table = new Table(">ERASURE", "OF", "STATE", "REQUESTED", "BY", "APPROVED BY", "NOT BEFORE", "ERASED");
        erasures.value()
                .forEach(erasure -> table.row(
                        erasure.id(),
                        erasure.subject(),
                        state(erasure),
                        Times.text(erasure.requestedAt()),
                        erasure.requestedBy(),
                        known(erasure.approvedBy()),
                        Times.text(erasure.notBefore()),
                        Times.text(erasure.completedAt())));
        service.print(erasures, out -> {
            if (erasures.value().isEmpty()) {
                out.println("There was no erasure yet.");
            } else {
                table.print(out);
            }
        });
        return Exit.WELL;
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Shows an erasure, and how far it is at each site.")
    int show(@Mixin Connection service, @Parameters(paramLabel = "ERASURE", description = "Its number.") long id) {
        Answer<ErasureDetail> shown = service.get("%s/%d".formatted(ERASURES, id), ErasureDetail.class);
        service.print(shown, out -> print(out, shown.value()));
        return Exit.WELL;
    }

    @Command(
            name = "request",
            mixinStandardHelpOptions = true,
            description =
                    "Requests that an experiment is removed from the catalogue and from every site. Another person has to"
                            + " approve it. The source is not touched.")
    int request(
            @Mixin Connection service,
            @Parameters(paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.") String subject,
            @Option(names = "--reason", paramLabel = "TEXT", required = true, description = "Why, in one line.")
                    String reason) {
        List<String> codes = Dozo.codes(service.commandLine(), subject);
        Map<String, Object> body = Map.of("project", codes.getFirst(), "experiment", codes.getLast(), "reason", reason);
        Answer<Erasure> asked = service.post(ERASURES, body, Erasure.class);
        service.confirm(
                asked,
                "erasure %d of %s is requested; another person has to approve it"
                        .formatted(asked.value().id(), subject));
        return Exit.WELL;
    }

    @Command(
            name = "approve",
            mixinStandardHelpOptions = true,
            description = "Approves an erasure that another person requested; its waiting time begins.")
    int approve(@Mixin Connection service, @Parameters(paramLabel = "ERASURE", description = "Its number.") long id) {
        Answer<Erasure> approved = service.post("%s/%d/approve".formatted(ERASURES, id), Map.of(), Erasure.class);
        service.confirm(
                approved,
                "erasure %d of %s is approved; the first night after %s begins it"
                        .formatted(
                                id,
                                approved.value().subject(),
                                Times.text(approved.value().notBefore())));
        return Exit.WELL;
    }

    @Command(
            name = "withdraw",
            mixinStandardHelpOptions = true,
            description = "Withdraws an erasure that has not begun.")
    int withdraw(@Mixin Connection service, @Parameters(paramLabel = "ERASURE", description = "Its number.") long id) {
        service.confirm(
                service.post("%s/%d/withdraw".formatted(ERASURES, id), Map.of(), Erasure.class),
                "erasure %d is withdrawn".formatted(id));
        return Exit.WELL;
    }

    @Command(
            name = "state",
            mixinStandardHelpOptions = true,
            description =
                    "States that nothing of an erased experiment is left at a site: it was removed there by hand, or the site"
                            + " is destroyed.")
    int state(
            @Mixin Connection service,
            @Parameters(paramLabel = "ERASURE", description = "Its number.") long id,
            @Option(names = "--site", paramLabel = "SITE", required = true, description = "The site.") String site,
            @Option(
                            names = "--reason",
                            paramLabel = "TEXT",
                            required = true,
                            description = "How it is known, in one line.")
                    String reason) {
        Answer<ErasureDetail> stated = service.post(
                "%s/%d/sites/%s/statement".formatted(ERASURES, id, Connection.encoded(site)),
                Map.of("reason", reason),
                ErasureDetail.class);
        service.confirm(
                stated,
                "it is recorded that nothing of %s is left at %s"
                        .formatted(stated.value().erasure().subject(), site));
        return Exit.WELL;
    }

    private static void print(PrintWriter out, ErasureDetail shown) {
        Erasure erasure = shown.erasure();
        out.printf("erasure %d of %s: %s%n", erasure.id(), erasure.subject(), state(erasure));
        out.printf(
                "requested by %s at %s: %s%n",
                erasure.requestedBy(), Times.text(erasure.requestedAt()), Connection.visible(erasure.reason()));
        if (erasure.approvedBy() != null) {
            out.printf(
                    "approved by %s at %s; not before %s%n",
                    erasure.approvedBy(), Times.text(erasure.approvedAt()), Times.text(erasure.notBefore()));
        }
        if (!erasure.message().isEmpty()) {
            out.printf("not begun: %s%n", Connection.visible(erasure.message()));
        }
        if (erasure.begunAt() != null) {
            out.printf(
                    "erased in the catalogue at %s: %d manifests, the last with %d files and %d bytes; %d receipts%n",
                    Times.text(erasure.begunAt()),
                    erasure.manifests(),
                    erasure.files(),
                    erasure.bytes(),
                    erasure.receipts());
            Table table = new Table("SITE", ">FILES", "REMOVED", "STATED BY", "DONE", "MESSAGE");
            shown.sites()
                    .forEach(site -> table.row(
                            site.site(),
                            site.files(),
                            Times.text(site.removedAt()),
                            known(site.statedBy()),
                            Times.text(site.doneAt()),
                            Connection.visible(site.message())));
            table.print(out);
        }
    }

    private static String known(@Nullable String person) {
        return person == null ? "" : Connection.visible(person);
    }

    private static String state(Erasure erasure) {
        return erasure.state().name().toLowerCase(Locale.ROOT);
    }
}
