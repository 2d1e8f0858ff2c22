package dozo.worklist;

import dozo.file.Message;
import dozo.registry.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * The result for a received booking.
 *
 * @param line where it begins in the file; for a worklist, its place in the answer, counted from 1
 * @param accession null if it could not be read
 * @param booking as it is known now; null if refused
 * @param field the faulty field of a refused booking; {@code message} says what was expected
 */
public record JudgedBooking(
        int line,
        Outcome outcome,
        @Nullable String accession,
        @Nullable Booking booking,
        @Nullable String field,
        @Nullable Message message) {

    /** The outcome. */
    public enum Outcome {
        BOOKED,
        /** It was known and has been replaced by the received values. */
        CHANGED,
        UNCHANGED,
        /** It could be stored but was not: this was a dry run, or another line is refused. */
        ACCEPTED,
        REFUSED
    }

    static JudgedBooking accepted(int line, Booking booking) {
        return new JudgedBooking(line, Outcome.ACCEPTED, booking.accession(), booking, null, null);
    }

    static JudgedBooking refused(int line, @Nullable String accession, Refusal refusal) {
        return new JudgedBooking(line, Outcome.REFUSED, accession, null, refusal.field(), refusal.message());
    }

    JudgedBooking with(Outcome other, Booking known) {
        return new JudgedBooking(line, other, accession, known, null, null);
    }

    boolean refused() {
        return outcome == Outcome.REFUSED;
    }
}
