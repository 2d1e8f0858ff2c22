package dozo.remote;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A decision about the number of lanes.
 *
 * @param lanes SSH connections wanted from then on
 * @param channels wanted on each of them
 * @param bytesPerSecond the measured rate that it follows from; null if nothing had been measured by then
 */
public record TuningDecision(
        Instant decidedAt,
        int lanes,
        int channels,
        @Nullable Double bytesPerSecond,
        TuningReason reason) {}
