package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Verb;
import dozo.certificate.Checkpoints;
import dozo.certificate.Checkpoints.Made;
import dozo.web.Change;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Signed checkpoints of the ledger, and proofs that it only grows. */
@Verb.Group(name = "checkpoint", about = "Signed checkpoints of the ledger, and proofs", section = "Audit")
@RestController
@RequestMapping("/api/v1/checkpoint")
public record CheckpointApi(Checkpoints checkpoints) {

    /**
     * The last checkpoint.
     *
     * @param origin the name of the log
     * @param size the rows in it
     * @param vkey the log's verifier key
     * @param note the signed checkpoint, with the cosignatures of witnesses
     */
    public record ShownCheckpoint(String origin, long size, Instant madeAt, String vkey, String note) {}

    /** A proof as text that can be checked without Dozo. */
    public record RowProof(String proof) {}

    /** The hashes of a consistency proof, in base64. */
    public record Consistency(List<String> hashes) {}

    /**
     * A new log.
     *
     * @param reason why, in one line; the ledger keeps only its SHA-256
     */
    record Declaration(@Nullable String reason) {}

    /** The log by its new name, and its verifier key. */
    public record Declared(String origin, String vkey) {}

    /** Shows the last signed checkpoint of the ledger. */
    @Verb(
            value = "checkpoint show",
            lines = {"# verifier key {vkey}", "{note lines}"},
            example = "dozo checkpoint show")
    @GetMapping
    ShownCheckpoint show() {
        Made made = checkpoints.latest().orElseThrow(Missing.thing("checkpoint", "last"));
        return new ShownCheckpoint(
                made.origin(),
                made.size(),
                made.madeAt(),
                checkpoints.key().vkey(),
                checkpoints.withCosignatures(made));
    }

    /**
     * Proves that a row is in the last cosigned checkpoint of the ledger. 409: there is no checkpoint with it yet.
     *
     * @param row its number
     */
    @Verb(value = "checkpoint proof ROW", lines = "{proof lines}", example = "dozo checkpoint proof 42 > 42.proof.txt")
    @GetMapping("/proof")
    RowProof proof(@RequestParam long row) {
        return new RowProof(checkpoints.proof(row));
    }

    /**
     * Proves that the ledger of a later checkpoint begins with all rows of an earlier one.
     *
     * @param from the number of rows in the earlier one
     * @param to the number of rows in the later one
     */
    @Verb(
            value = "checkpoint consistency FROM TO",
            lines = "{hashes lines}",
            example = "dozo checkpoint consistency 42 1042")
    @GetMapping("/consistency")
    Consistency consistency(@RequestParam long from, @RequestParam long to) {
        return new Consistency(checkpoints.consistency(from, to));
    }

    /**
     * Declares the ledger as a new log, because it does not begin as before: an older database was restored. The ledger's row names
     * the last checkpoint of the former log.
     */
    @Verb(
            value = "checkpoint declare --reason=TEXT",
            says = "the ledger is now the log {origin}, with the verifier key {vkey}",
            example = "dozo checkpoint declare --reason restored-from-2026-11-29")
    @Change(destroys = true)
    @PostMapping("/declaration")
    Declared declare(@RequestBody Declaration said, Principal actor) {
        String origin = checkpoints.declare(said.reason == null ? "" : said.reason, actor.getName());
        return new Declared(origin, checkpoints.key().vkey());
    }
}
