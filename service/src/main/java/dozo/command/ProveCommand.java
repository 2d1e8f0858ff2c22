package dozo.command;

import dozo.api.ProofApi.ShownProofs;
import dozo.file.FilePath;
import dozo.file.Size;
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
            service.print(proofs, out -> print(out, proofs.value()));
        }
        return isSafe(proofs.value().items()) ? Exit.WELL : Exit.NOT_SAFE;
    }

    /** Returns whether the latest content is safe. Its latest receipt comes first: if that is void, all are. */
    private static boolean isSafe(List<FileProof> proofs) {
        FileReceipt latest = proofs.isEmpty() ? null : proofs.getFirst().receipt();
        return latest != null && latest.damagedAt() == null;
    }

    private static void print(PrintWriter out, ShownProofs proofs) {
        out.println("%s: %s".formatted(proofs.experiment(), FilePath.render(proofs.pathBytes())));
        int shown = 0;
        for (FileProof proof : proofs.items()) {
            if (proof.entry() != shown) {
                shown = proof.entry();
                printContent(out, proof);
            }
            printReceipt(out, proof.receipt());
        }
    }

    private static void printContent(PrintWriter out, FileProof proof) {
        String until = proof.untilManifest() == null
                ? "holds"
                : "until manifest %d, sealed %s".formatted(proof.untilManifest(), Times.text(proof.goneAt()));
        out.println("  %s, %s, modified %s".formatted(proof.kind().word(), Size.text(proof.bytes()), proof.modified()));
        out.println("    since manifest %d, sealed %s, %s"
                .formatted(proof.sinceManifest(), Times.text(proof.sealedAt()), until));
    }

    private static void printReceipt(PrintWriter out, @Nullable FileReceipt receipt) {
        if (receipt == null) {
            out.println("    not safe: no receipt");
            return;
        }
        out.println("    sha256 %s".formatted(receipt.sha256()));
        out.println("    computed at the site %s by %s, worker %s (receipt %d, run %d, unit %d)"
                .formatted(
                        Times.text(receipt.verifiedAt()),
                        receipt.method(),
                        Connection.visible(receipt.worker()),
                        receipt.id(),
                        receipt.run(),
                        receipt.unit()));
        if (receipt.wayIn() != null) {
            out.println("    sent "
                    + switch (receipt.wayIn()) {
                        case "archive" -> "in an archive";
                        case "link" -> "not again, as a hard link to a stored file";
                        default -> "by SFTP";
                    });
        }
        if (receipt.damagedAt() != null) {
            out.println("    void: the copy was found damaged %s".formatted(Times.text(receipt.damagedAt())));
        }
    }
}
