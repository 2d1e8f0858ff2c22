package dozo.run;

import org.jspecify.annotations.Nullable;

/**
 * A request to copy experiments from one site to another.
 *
 * @param from the site whose verified copies are read, also a removed one
 * @param to the site that gets copies
 * @param project only this project
 * @param experiment only this experiment, {@code project/experiment}
 * @param sourceGone only experiments whose source folder is missing or empty, as open findings say
 */
public record ReplicationRequest(
        String from,
        String to,
        @Nullable String project,
        @Nullable String experiment,
        boolean sourceGone) {}
