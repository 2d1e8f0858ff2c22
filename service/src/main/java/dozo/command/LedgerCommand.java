package dozo.command;

import dozo.api.LedgerApi.ShownRow;
import dozo.api.http.Page;
import dozo.verify.LedgerVerification.ComparedSite;
import dozo.verify.LedgerVerification.Verdict;
import dozo.verify.LedgerVerification.Verified;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;

/** Lists and verifies the ledger. */
@Command(name = "ledger", mixinStandardHelpOptions = true, description = "The ledger: list, verify.")
final class LedgerCommand {

    /** The verification reads every row. */
    private static final Duration VERIFY_LIMIT = Duration.ofHours(1);

    private static final int PAGE = 500;

    /** Selects rows. */
    static final class Filter {

        @Option(
                names = "--subject",
                paramLabel = "S",
                description = "Only this subject: P1/S1 (with its manifests), P1/S1#3.")
        private @Nullable String subject;

        @Option(names = "--action", paramLabel = "A", description = "Only this action, such as run.started.")
        private @Nullable String action;

        @Option(names = "--actor", paramLabel = "NAME", description = "Only what this user did; dozo: the program.")
        private @Nullable String actor;

        @Option(
                names = {"--since", "--from"},
                paramLabel = "WHEN",
                description = "From this day or time on: yesterday, 7d, 2026-11-28.",
                converter = When.Begin.class)
        private @Nullable String from;

        @Option(
                names = "--until",
                paramLabel = "WHEN",
                description = "To the end of this day, or before this moment.",
                converter = When.End.class)
        private @Nullable String until;

        @Option(names = "--after", defaultValue = "0", paramLabel = "SEQ", description = "Only rows after this number.")
        private long after;

        Query query(String last) {
            return new Query("/api/v1/ledger")
                    .with("limit", PAGE)
                    .with("subject", subject)
                    .with("action", action)
                    .with("actor", actor)
                    .with("from", from)
                    .with("until", until)
                    .with("after", last);
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists what happened, oldest first: number, time, actor, action, subject, details.")
    int list(
            @Mixin Connection service,
            @Mixin Filter filter,
            @Option(names = "--csv", description = "Prints CSV only.") boolean csv) {
        service.checkFormat(csv);
        if (csv) {
            service.printCsv(filter.query(String.valueOf(filter.after)));
            return Exit.WELL;
        }
        String next = String.valueOf(filter.after);
        // Page by page, because a ledger may not fit into memory.
        while (next != null) {
            Answer<Page<ShownRow>> page = service.get(filter.query(next).toString(), new TypeReference<>() {});
            if (service.json()) {
                page.sent().path("items").forEach(row -> service.out().println(row.toString()));
            } else {
                page.value().items().forEach(row -> service.out().println(line(row)));
            }
            service.out().flush();
            next = page.value().next();
        }
        return Exit.WELL;
    }

    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description = {
                "Checks whether any ledger row was changed, removed or moved, by the hash chain and the sites' anchors."
            },
            footer = {
                "",
                "Exit code 0: the ledger is intact, and an anchor at a site proves it. 1: it is broken, or no anchor",
                "was written yet. 69: it is not broken, but a site could not be reached."
            })
    int verify(@Mixin Connection service) {
        Answer<Verified> answer = service.get("/api/v1/ledger/verification", Verified.class, VERIFY_LIMIT);
        Verified found = answer.value();
        service.print(answer, out -> print(out, found.verdict(), answer.sent()));
        return switch (found.verdict()) {
            case INTACT -> Exit.WELL;
            case INCOMPLETE ->
                found.sites().stream().allMatch(ComparedSite::compared) ? Exit.NOT_SAFE : Exit.UNAVAILABLE;
            case BROKEN -> Exit.NOT_SAFE;
        };
    }

    private static void print(PrintWriter out, Verdict verdict, JsonNode found) {
        List<JsonNode> sites = found.path("sites").valueStream().toList();
        List<JsonNode> breaches = Stream.concat(Stream.of(found), sites.stream())
                .flatMap(each -> each.path("breaches").valueStream())
                .toList();
        if (verdict == Verdict.BROKEN) {
            Phrase.print(out, breaches.getFirst(), "The ledger is BROKEN: {message}");
        }
        Phrase.print(
                out,
                found,
                "{verdict=INTACT?}The ledger is intact: every row is as it was written.",
                "{verdict=INCOMPLETE?}Nothing is broken, but it is not proven that no rows were removed at the end or rewritten.",
                "{why}",
                "  rows     {rows number} checked",
                "  head     row {head.seq} of {head.at}",
                "           {head.hash}");
        sites.forEach(site -> Phrase.print(
                out,
                site,
                "{compared?}  site     {site}: [{anchors=1?}1 anchor|{anchors number} anchors], the last one confirms rows up to"
                        + " {provenUpTo}"
                        + "|{compared?}  site     {site}: {anchors number} anchors, none confirms a row"
                        + "[{anchors=0?} yet; every run writes one at its end]"
                        + "|  site     {site}: not compared with the site: {trouble}"));
        if (sites.isEmpty()) {
            out.println("  site     none registered: no anchors");
        }
        breaches.forEach(breach -> Phrase.print(out, breach, "  - {kind}: {message}"));
        long more = Stream.concat(Stream.of(found), sites.stream())
                .mapToLong(each -> each.path("breachesLeftOff").longValue())
                .sum();
        if (more > 0) {
            out.println("  and %,d more".formatted(more));
        }
    }

    private static String line(ShownRow row) {
        String detail = row.detail().properties().stream()
                .map(more -> more.getKey() + "=" + more.getValue().asString(""))
                .collect(Collectors.joining(", "));
        return Connection.visible("%d  %s  %s  %s  %s  %s"
                        .formatted(row.seq(), Times.text(row.at()), row.actor(), row.action(), row.subject(), detail))
                .stripTrailing();
    }
}
