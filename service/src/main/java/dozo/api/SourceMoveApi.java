package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.SourceMoves;
import dozo.run.SourceMoves.Compared;
import dozo.run.SourceMoves.SourceMove;
import dozo.run.SourceMoves.Wanted;
import java.nio.file.Path;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The move of sources to another path, after a storage was migrated: one at a time. */
@RestController
@RequestMapping("/api/v1/source-move")
public record SourceMoveApi(SourceMoves moves) {

    /** What a command says of a move. */
    private static final String LINE = "{experiments?}{state words}: {same} of {experiments} experiments are the same"
            + "[, {left?}{left} differ: dozo source differences][, {added?}new entries: {added}]"
            + "[, {facts?}files with other rights, owners or hard links, which are backed up again: {facts}]"
            + ", files read: {filesRead} ({bytesRead size})[. {message}]|{state words}[: {message}]";

    /**
     * Where sources were, and where they are now.
     *
     * @param from the folder as it was: an experiment's, or one above many; it need not exist any more
     * @param fromBytes the same in base64, instead of {@code from}
     * @param to the folder with the same content now, on the service's machine
     * @param toBytes the same in base64, instead of {@code to}
     * @param check only compares, and moves nothing
     * @param sameOnly moves the experiments that are the same, and leaves the others
     * @param sample how many files of each experiment are read and compared with their digest, at most 1 GiB; 0 to 1,000,
     *     by default 20
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewMove(
            @Nullable String from,
            byte @Nullable [] fromBytes,
            @Nullable String to,
            byte @Nullable [] toBytes,
            @Nullable Boolean check,
            @Nullable Boolean sameOnly,
            @Nullable Integer sample) {

        Wanted wanted() {
            return new Wanted(
                    folder("from", from, fromBytes),
                    folder("to", to, toBytes),
                    Boolean.TRUE.equals(check),
                    Boolean.TRUE.equals(sameOnly),
                    sample == null ? SourceMoves.SAMPLE : sample);
        }

        private static Path folder(String field, @Nullable String text, byte @Nullable [] bytes) {
            if ((text == null) == (bytes == null)) {
                throw new Refusal(field, "expected a folder's absolute path, either as text or in base64");
            }
            return NewExperiment.path(field, text, bytes);
        }
    }

    /**
     * Moves all sources in a folder to another path, after their content was compared with the manifests. Roots of projects
     * and folders of origins move, too, if an administrator requests it. 409: another move has not ended.
     */
    @Verb(
            value = "source move OLD:fromBytes NEW:toBytes [--check] [--same-only] [--sample=N] [--wait:-]",
            arguments = {
                "OLD=the folder as it was: an experiment's, or one above many",
                "NEW=the folder with the same content now, on the service's machine",
                "--wait=waits for the end"
            },
            about = "Moves the sources of all experiments in a folder to another path, after a storage was migrated.",
            footer = {
                "First, everything is compared with the last manifests by name, kind, size and time, and the content of some",
                "files by digest. If something is missing or differs, nothing changes. The next night sends nothing.",
                "Exit code of --wait: 0: everything is the same, and has moved unless --check was given; 1: it has not."
            },
            says = "the sources in {from} are being compared with {to}",
            lines = LINE,
            exit = "{goesOn?}0|{left?}1|{state=MOVED?}0|{state=CHECKED?}0|1",
            follows = Verb.Follow.MOVE,
            example = {"dozo source move /mnt/old /mnt/new --check --wait", "dozo source move /mnt/old /mnt/new --wait"
            })
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    SourceMove begin(@RequestBody NewMove asked, Principal actor, Sight sight) {
        return moves.begin(sight, asked.wanted(), actor.getName());
    }

    /** Shows the move that began last since the service started: of users who see only some projects, their own. 404: none has begun. */
    @Verb(
            value = "source moving",
            lines = {"from {from} to {to}, requested by {requestedBy} at {requestedAt}", LINE},
            example = "dozo source moving")
    @GetMapping
    SourceMove latest(Principal actor, Sight sight) {
        return moves.latest(sight, actor.getName()).orElseThrow(Missing.thing("move of sources", "latest"));
    }

    /** Lists the experiments of that move that differ from their manifest, or have more files. */
    @Verb(
            value = "source differences",
            columns = {
                "EXPERIMENT={experiment}",
                ">MISSING={found.missing number}",
                ">CHANGED={found.changed number}",
                ">TIMES={found.times number}",
                ">ROUNDED={found.rounded number}",
                ">NEW={found.added number}",
                "CONTENT={otherContent list}",
                "FIRST={found.problem}|{found.first list}"
            },
            none = "No differences.",
            example = "dozo source differences")
    @GetMapping("/differences")
    Page<Compared> differences(
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Principal actor,
            Sight sight) {
        return Page.of(limit, most -> moves.differences(sight, actor.getName(), after, most), Compared::id);
    }

    /** Stops that move; nothing has changed. 409: it has ended. */
    @Verb(value = "source stop", says = "the move from {from} is being stopped", example = "dozo source stop")
    @PostMapping("/stop")
    @ResponseStatus(HttpStatus.ACCEPTED)
    SourceMove stop(Principal actor, Sight sight) {
        return moves.stop(sight, actor.getName());
    }
}
