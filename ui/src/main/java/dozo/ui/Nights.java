package dozo.ui;

import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;

/**
 * When the nightly backup is due.
 *
 * @param after the first time after a moment; empty: never
 */
public record Nights(Function<Instant, Optional<Instant>> after) {}
