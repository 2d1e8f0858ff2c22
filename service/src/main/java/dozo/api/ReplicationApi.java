package dozo.api;

import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.run.Operations;
import dozo.run.ReplicationRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Replications: copies of experiments from one site to another, which are runs. */
@RestController
@RequestMapping("/api/v1/replications")
record ReplicationApi(Operations operations, ShownRun.View view) {

    /**
     * A copy of experiments from one site to another: of one experiment, of a project, or of all whose source is gone.
     *
     * @param from the site whose verified copies are read, also a removed one
     * @param to the site that gets copies
     * @param project only this project
     * @param experiment only this experiment, {@code project/experiment}
     * @param sourceGone only experiments whose source folder is missing or empty, as open findings say
     */
    record NewReplication(
            String from,
            String to,
            @Nullable String project,
            @Nullable String experiment,
            @Nullable Boolean sourceGone) {

        ReplicationRequest request() {
            return new ReplicationRequest(from, to, project, experiment, Boolean.TRUE.equals(sourceGone));
        }
    }

    /**
     * Starts a copy of experiments from one site to another, and returns the new run. No source is read. Asks a running scrub to
     * stop, and waits up to 60 s for it. 409: there is nothing to copy, or a run is in progress.
     */
    @Verb(
            value = "replicate [PROJECT[/EXPERIMENT]:project|experiment] --from=S --to=S [--source-gone] [--wait:-]",
            arguments = {
                "PROJECT[/EXPERIMENT]=only this experiment, or all of this project",
                "--wait=waits for the end; the exit code is that of the run"
            },
            about = "Copies experiments from one site to another, and verifies them there. No source is read.",
            footer = {
                "The current manifest is copied, and only what the other site lacks. The digest of every file, as it is read",
                "and as it is computed at the other site, must be that of its receipt. Repeat the command after findings."
            },
            says = "run {id} has started: {from} is copied to {to} (experiments: [{replication.experiments}|?])",
            follows = Verb.Follow.RUN,
            example = {
                "dozo replicate P001/S0001 --from dr --to second",
                "dozo replicate --from dr --to second --source-gone --wait"
            })
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> start(@RequestBody NewReplication asked, Principal actor, Sight sight) {
        return view.accepted(sight, operations.replicate(asked.request(), actor.getName()));
    }
}
