package dozo.schedule;

import dozo.db.ActiveService;
import dozo.search.Names;
import java.time.Duration;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Lists the names of files that were sealed since, for searches. */
@Component
record SearchSchedule(Names names, ActiveService active) {

    /** The longest turn: other schedules have the same threads. */
    private static final Duration TURN = Duration.ofSeconds(2);

    /** Lists some of them, a step at a time. What fails is repeated, and searches read what is not listed themselves. */
    @Scheduled(initialDelay = 2_000, fixedDelay = 2_000)
    void list() {
        long end = System.nanoTime() + TURN.toNanos();
        boolean more = true;
        while (more && active.isHere() && System.nanoTime() < end) {
            more = names.listSome();
        }
    }
}
