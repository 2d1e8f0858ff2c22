package dozo.source.flywheel;

import dozo.source.delivery.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** A reader of an emulator; its waits are recorded and end at once. */
final class Readers {

    static final Instant NOW = Instant.parse("2026-11-20T22:00:00Z");

    /** Long enough for a busy machine, and short where a test waits for a time-out. */
    static final Limits LIMITS = new Limits(
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            Duration.ofMillis(700),
            4,
            Duration.ofSeconds(1),
            Duration.ofSeconds(60));

    final List<Duration> waits = Collections.synchronizedList(new ArrayList<>());
    final Flywheel flywheel;

    Readers(Emulator emulator) {
        this(ApiKey.of(emulator.key()), Set.of());
    }

    Readers(ApiKey key, Set<String> storageHosts) {
        flywheel = new Flywheel(key, LIMITS, storageHosts, waits::add, InstantSource.fixed(NOW));
    }
}
