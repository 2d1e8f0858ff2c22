package dozo.command;

import dozo.file.FilePath;
import dozo.file.Size;
import java.io.PrintWriter;
import java.util.Base64;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** How it is known that one file is safe. */
@Command(
        name = "prove",
        mixinStandardHelpOptions = true,
        description = "Shows how it is known that a file is safe: every content it had, and the receipts of each.",
        footer = {"", "Exit code 0: the latest content has a receipt; 1: it has none, or its copy was found damaged."})
final class ProveCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--site", paramLabel = "S", description = "At which site; not needed for the only one.")
    private @Nullable String site;

    @Parameters(index = "0", paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @Parameters(index = "1", paramLabel = "PATH", description = "The file's path below the experiment's source.")
    private String path = "";

    @Option(names = "--csv", description = "Print CSV, and nothing else.")
    private boolean csv;

    @Override
    public Integer call() {
        var commandLine = java.util.Objects.requireNonNull(spec).commandLine();
        if (csv && service.json()) {
            throw new Failure(Exit.USAGE, "either --json or --csv");
        }
        String address = "%s/proof?pathBytes=%s%s"
                .formatted(
                        Dozo.experimentAddress(commandLine, experiment),
                        Connection.encoded(Base64.getEncoder().encodeToString(RawArgument.typed(path))),
                        site == null ? "" : "&site=" + Connection.encoded(site));
        JsonNode proofs = service.get(address);
        PrintWriter out = commandLine.getOut();
        if (csv) {
            service.printCsv(address, out);
        } else if (service.json()) {
            out.println(Connection.JSON.writeValueAsString(proofs));
        } else {
            print(out, proofs);
        }
        out.flush();
        return isSafe(proofs.path("items").path(0).path("receipt")) ? Exit.WELL : Exit.NOT_SAFE;
    }

    /** The latest receipt comes first: where it is void, all are. */
    private static boolean isSafe(JsonNode receipt) {
        return !receipt.isMissingNode() && !receipt.has("damagedAt");
    }

    private static void print(PrintWriter out, JsonNode proofs) {
        byte[] name = Base64.getDecoder().decode(proofs.path("pathBytes").asString());
        out.println("%s: %s".formatted(proofs.path("experiment").asString(), FilePath.render(name)));
        int shown = 0;
        for (JsonNode proof : proofs.path("items")) {
            if (proof.path("entry").asInt() != shown) {
                shown = proof.path("entry").asInt();
                printContent(out, proof);
            }
            printReceipt(out, proof.path("receipt"));
        }
    }

    private static void printContent(PrintWriter out, JsonNode proof) {
        String until = proof.has("untilManifest")
                ? "until manifest %d, sealed %s"
                        .formatted(
                                proof.path("untilManifest").asInt(),
                                proof.path("goneAt").asString())
                : "holds";
        out.println("  %s, %s, modified %s"
                .formatted(
                        proof.path("kind").asString(),
                        Size.text(proof.path("bytes").asLong()),
                        proof.path("modified").asString()));
        out.println("    since manifest %d, sealed %s, %s"
                .formatted(
                        proof.path("sinceManifest").asInt(),
                        proof.path("sealedAt").asString(),
                        until));
    }

    private static void printReceipt(PrintWriter out, JsonNode receipt) {
        if (receipt.isMissingNode()) {
            out.println("    not safe: there is no receipt");
            return;
        }
        out.println("    sha256 %s".formatted(receipt.path("sha256").asString()));
        out.println("    computed at the site %s by %s, worker %s (receipt %d, run %d, unit %d)"
                .formatted(
                        receipt.path("verifiedAt").asString(),
                        receipt.path("method").asString(),
                        Connection.visible(receipt.path("worker").asString()),
                        receipt.path("id").asLong(),
                        receipt.path("run").asLong(),
                        receipt.path("unit").asLong()));
        if (receipt.has("damagedAt")) {
            out.println("    void: the copy was found damaged %s"
                    .formatted(receipt.path("damagedAt").asString()));
        }
    }
}
