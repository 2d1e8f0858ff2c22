package dozo.worklist;

import java.time.Duration;
import java.time.ZoneId;

/**
 * When a booked visit is due.
 *
 * @param after so long after it is booked for
 * @param zone whose clocks bookings are by
 */
public record Lateness(Duration after, ZoneId zone) {}
