package dozo.manifest;

import dozo.manifest.Manifests.Manifest;

/**
 * Says when too much of an experiment vanished or changed for one night. Looked at are files and links, not folders; those
 * that hold or vanished with what was in them, as rm -rf and an encrypting sweep do, whether it renames (gone and new) or not
 * (changed). What is only elsewhere now, with its name, size and time, has not vanished; new files and new permissions are no
 * loss.
 *
 * @param percent how many of a hundred files and links, or of a hundred bytes, may be lost before it holds the experiment
 * @param entriesMin fewer lost ones never do, but in a smaller experiment nine tenths of it (and at least {@value #FEW})
 */
record Tripwire(int percent, int entriesMin) {

    static final int FEW = 10;

    /** Of a small experiment's entries, so many of a hundred are as good as all. */
    private static final int NEARLY_ALL_PERCENT = 90;

    /**
     * What vanished or has other content.
     *
     * @param entries files and links
     */
    record Lost(long entries, long bytes) {

        static final Lost NOTHING = new Lost(0, 0);

        /** What came on top of what was lost earlier. */
        Lost since(Lost earlier) {
            return new Lost(Math.max(0, entries - earlier.entries), Math.max(0, bytes - earlier.bytes));
        }
    }

    boolean holds(Manifest before, Lost lost) {
        long all = before.files() + before.links();
        long least = Math.max(FEW, Math.min(entriesMin, (all * NEARLY_ALL_PERCENT + 99) / 100));
        return lost.entries() >= least && (share(lost.entries(), all) || share(lost.bytes(), before.bytes()));
    }

    private boolean share(long lost, long all) {
        return all > 0 && lost >= all / 100.0 * percent;
    }
}
