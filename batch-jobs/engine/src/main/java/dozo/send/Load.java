package dozo.send;

import dozo.remote.LinkLoad;

/**
 * What the engine's workers are doing at the moment. Where many of them are is the bottleneck; one sample says little,
 * some dozens over a few seconds do.
 *
 * @param sending units whose files are being sent
 * @param proving units whose digests the site computes
 * @param naming verified units that are being renamed and synced to the site's disks
 * @param recording units whose outcomes are being recorded
 * @param files files being sent; those neither read nor digested wait for the site
 * @param reading files waiting for the source
 * @param digesting files whose bytes are being digested here
 * @param limited threads that wait because of a limit; a large file has several
 * @param yielding threads that wait because others use the source or the site
 * @param link what the lanes do
 */
public record Load(
        int sending,
        int proving,
        int naming,
        int recording,
        int files,
        int reading,
        int digesting,
        int limited,
        int yielding,
        LinkLoad link) {

    public static final Load NONE = new Load(0, 0, 0, 0, 0, 0, 0, 0, 0, LinkLoad.NONE);

    /** Returns whether any unit is under way. */
    public boolean isWork() {
        return sending + proving + naming + recording > 0;
    }
}
