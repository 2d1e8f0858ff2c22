package dozo.send;

/**
 * What the engine's workers are at in this moment. Where they crowd is what holds the others up; one look says little, some dozens
 * over a few seconds do.
 *
 * @param sending units whose files are on their way
 * @param proving units whose digests the site computes
 * @param naming units that are proven, and are given their names and brought to the site's disks
 * @param recording units whose outcomes are being recorded
 * @param files files on their way; those that are neither read nor digested wait for the site
 * @param reading files that the source is asked for
 * @param digesting files whose bytes are being digested here
 */
public record Load(int sending, int proving, int naming, int recording, int files, int reading, int digesting) {

    public static final Load NONE = new Load(0, 0, 0, 0, 0, 0, 0);
}
