package dozo.api;

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
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> start(@RequestBody NewReplication asked, Principal actor, Sight sight) {
        return view.accepted(sight, operations.replicate(asked.request(), actor.getName()));
    }
}
