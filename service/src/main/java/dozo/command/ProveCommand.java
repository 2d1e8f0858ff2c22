package dozo.command;

import dozo.api.ProofApi.ShownProofs;
import dozo.file.FilePath;
import dozo.verify.Proofs.FileProof;
import dozo.verify.Proofs.FileReceipt;
import java.io.PrintWriter;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Shows the evidence that one file is safe. */
@Command(
        name = "prove",
        mixinStandardHelpOptions = true,
        description = "Shows the evidence that a file is safe: every content it had, and the receipts of each.",
        footer = {"", "Exit code 0: the latest content has a receipt; 1: it has none, or its copy was found damaged."})
final class ProveCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Parameters(index = "0", paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @Parameters(index = "1", paramLabel = "PATH", description = "The file's path below the experiment's source.")
    private String path = "";

    @Option(names = "--csv", description = "Prints CSV only.")
    private boolean csv;

    @Override
    public Integer call() {
        service.checkFormat(csv);
        Query query = new Query(Dozo.experimentAddress(service.commandLine(), experiment) + "/proof")
                .with("pathBytes", Base64.getEncoder().encodeToString(RawArgument.typed(path)))
                .with("site", site);
        Answer<ShownProofs> proofs = service.get(query.toString(), ShownProofs.class);
        if (csv) {
            service.printCsv(query);
        } else {
            service.print(proofs, out -> print(out, proofs.value(), proofs.sent()));
        }
        return isSafe(proofs.value().items()) ? Exit.WELL : Exit.NOT_SAFE;
    }

    /** Returns whether the latest content is safe. Its latest receipt comes first: if that is void, all are. */
    private static boolean isSafe(List<FileProof> proofs) {
        FileReceipt latest = proofs.isEmpty() ? null : proofs.getFirst().receipt();
        return latest != null && latest.damagedAt() == null;
    }

    private static void print(PrintWriter out, ShownProofs proofs, JsonNode sent) {
        out.println("%s: %s".formatted(proofs.experiment(), FilePath.render(proofs.pathBytes())));
        int shown = 0;
        for (JsonNode proof : sent.path("items")) {
            if (proof.path("entry").intValue() != shown) {
                shown = proof.path("entry").intValue();
                Phrase.print(
                        out,
                        proof,
                        "  {kind}, {bytes size}, modified {modified raw}",
                        "    since manifest {sinceManifest}, sealed {sealedAt},"
                                + " [until manifest {untilManifest}, sealed {goneAt}|holds]");
            }
            Phrase.print(
                    out,
                    proof,
                    "    sha256 {receipt.sha256}|    not safe: no receipt",
                    "    computed at the site {receipt.verifiedAt} by {receipt.method}, worker {receipt.worker}"
                            + " (receipt {receipt.id}, run {receipt.run}, unit {receipt.unit})",
                    "{receipt.wayIn?}    sent [{receipt.wayIn=archive?}in an archive"
                            + "|{receipt.wayIn=link?}not again, as a hard link to a stored file|by SFTP]",
                    "    void: the copy was found damaged {receipt.damagedAt}");
        }
    }
}
