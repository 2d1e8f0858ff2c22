package dozo.worklist;

import java.time.Duration;
import java.time.ZoneId;

/**
 * When a booked visit is due.
 *
 * @param after the delay after the booked time
 * @param zone the time zone of bookings
 */
public record Lateness(Duration after, ZoneId zone) {}
