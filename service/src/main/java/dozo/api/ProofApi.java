package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Sheet;
import dozo.export.Columns;
import dozo.file.FilePath;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.verify.Proofs;
import dozo.verify.Proofs.FileProof;
import dozo.verify.Proofs.FileReceipt;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The evidence that one file is safe. */
@RestController
@RequestMapping("/api/v1/experiments/{project}/{code}/proof")
public record ProofApi(Experiments experiments, Proofs proofs, SiteChoice sites) {

    private static final int PROOFS_MAX = 100;

    /** The evidence for a path. {@code path} is a rendering for people, {@code pathBytes} the exact path in base64. */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record ShownProofs(String experiment, String path, byte[] pathBytes, List<FileProof> items) {}

    /** Shows the evidence that a file is safe: its contents, latest first, with their receipts; at most 100. */
    @GetMapping
    @Nullable
    ShownProofs proof(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(required = false) @Nullable String path,
            @RequestParam(required = false) @Nullable String pathBytes,
            @RequestParam(required = false) @Nullable String site,
            Sheet sheet) {
        Experiment experiment =
                experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
        FilePath asked = path(path, pathBytes);
        List<FileProof> found = proofs.of(experiment.id(), sites.idOf(site), asked, PROOFS_MAX);
        if (found.isEmpty()) {
            throw Missing.thing("entry of any manifest of " + experiment.name() + " at", asked)
                    .get();
        }
        ShownProofs shown = new ShownProofs(experiment.name(), asked.toString(), asked.bytes(), found);
        return sheet.or(() -> shown, "proof." + project + "." + code, columns(shown), shown.items()::forEach);
    }

    private static Columns<FileProof> columns(ShownProofs of) {
        return Columns.of(ShownProofs.class)
                .without("items")
                .in((FileProof proof) -> of)
                .and(Columns.of(FileProof.class).without("receipt"))
                .and(Columns.of("receipt", FileReceipt::id)
                        .and(Columns.of(FileReceipt.class).without("id"))
                        .in(FileProof::receipt));
    }

    /** Returns the path that one of the two parameters names. */
    static FilePath path(@Nullable String text, @Nullable String base64) {
        try {
            if (text != null && base64 == null) {
                return notRoot(FilePath.of(text.getBytes(StandardCharsets.UTF_8)));
            }
            if (base64 != null && text == null) {
                return notRoot(FilePath.of(Base64.getDecoder().decode(base64)));
            }
        } catch (IllegalArgumentException e) {
            throw new Refusal("path", "expected a path below the source: %s", String.valueOf(e.getMessage()));
        }
        throw new Refusal("path", "expected either path or pathBytes: a path below the source");
    }

    private static FilePath notRoot(FilePath path) {
        if (path.isRoot()) {
            throw new IllegalArgumentException("this path is the source itself");
        }
        return path;
    }
}
