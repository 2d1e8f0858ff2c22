package dozo.record;

/** A record of the catalogue that cannot be used: it is damaged, cut or missing, or is not the one that another continues. */
public final class DamagedRecord extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean opened;

    DamagedRecord(String message) {
        this(message, true);
    }

    /** @param opened whether a private key decrypts it */
    DamagedRecord(String message, boolean opened) {
        super(message);
        this.opened = opened;
    }

    boolean isOpened() {
        return opened;
    }
}
