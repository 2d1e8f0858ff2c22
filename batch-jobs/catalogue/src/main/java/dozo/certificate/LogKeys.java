package dozo.certificate;

/**
 * The keys that only checkpoints are signed with.
 *
 * @param log signs the checkpoints of this ledger
 * @param witness cosigns those of others
 * @param origin what this ledger is called when it is first declared as a log
 */
public record LogKeys(SigningKey log, SigningKey witness, String origin) {

    /** Creates both unless something has their names. */
    public void create() {
        log.create();
        witness.create();
    }
}
