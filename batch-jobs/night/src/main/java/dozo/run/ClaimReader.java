package dozo.run;

import dozo.transfer.TransferUnits;
import dozo.transfer.TransferUnits.Claim;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.infrastructure.item.ItemReader;

/**
 * Claims a partition's units one after the other, inside the chunk's transaction. A failed chunk ends its step, so nothing
 * is passed over: the restarted step begins with the first unit that is still planned.
 */
class ClaimReader implements ItemReader<Claim> {

    private final Runs runs;
    private final TransferUnits units;
    private final long run;
    private final int partition;
    private long last;

    ClaimReader(Runs runs, TransferUnits units, long run, int partition) {
        this.runs = runs;
        this.units = units;
        this.run = run;
        this.partition = partition;
    }

    @Override
    public @Nullable Claim read() {
        runs.enter(run);
        Optional<Claim> next = units.claim(run, partition, last);
        next.ifPresent(claim -> last = claim.unitId());
        return next.orElse(null);
    }
}
