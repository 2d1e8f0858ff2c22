package dozo.worklist;

import dozo.file.Message;
import dozo.registry.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * What came of a booking that was told.
 *
 * @param line where it begins in the file; of a worklist, its place in the answer from 1 on
 * @param accession null: it could not be understood
 * @param booking as it is known now; null where it is refused
 * @param field of a refused one: which is at fault; {@code message}: what is expected
 */
public record JudgedBooking(
        int line,
        Outcome outcome,
        @Nullable String accession,
        @Nullable Booking booking,
        @Nullable String field,
        @Nullable Message message) {

    /** What came of it. */
    public enum Outcome {
        BOOKED,
        /** It was known, and is now as it was told. */
        CHANGED,
        UNCHANGED,
        /** Could be kept and was not: it was only asked, or another line is refused. */
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
