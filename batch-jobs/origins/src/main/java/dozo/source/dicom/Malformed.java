package dozo.source.dicom;

import dozo.source.dicom.Damaged.Damage;

/** Where and why reading a header stopped. Never leaves this package. */
final class Malformed extends Exception {

    private static final long serialVersionUID = 1L;

    private final Damage damage;
    private final long offset;

    Malformed(Damage damage, long offset) {
        // No stack trace: there may be thousands of damaged files.
        super(damage.name(), null, false, false);
        this.damage = damage;
        this.offset = offset;
    }

    Damage damage() {
        return damage;
    }

    long offset() {
        return offset;
    }
}
