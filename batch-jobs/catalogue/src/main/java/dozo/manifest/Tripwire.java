package dozo.manifest;

import dozo.manifest.Manifests.Manifest;

/**
 * Says when too much of an experiment or a project vanished or changed at once. Looked at are files and links, not folders; those
 * that hold or vanished with what was in them, as rm -rf and an encrypting sweep do, whether it renames (gone and new) or not
 * (changed). What is only elsewhere now, with its name, size and time, has not vanished; new files and new permissions are no
 * loss.
 *
 * @param percent how many of a hundred files and links, or of a hundred bytes, may be lost before it holds the experiment
 * @param entriesMin fewer lost ones never do, but in a smaller experiment half of it (and at least {@value #FEW})
 */
record Tripwire(int percent, int entriesMin) {

    static final int FEW = 10;

    /** Of a small experiment's entries, so many of a hundred are too many. */
    private static final int HALF_PERCENT = 50;

    /** Of a project's experiments, so many of a hundred that lose their share within a day are a sweep, but not fewer than a few. */
    private static final int SWEEP_PERCENT = 5;

    private static final int SWEEP_EXPERIMENTS_MIN = 5;

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

        /** How many of a hundred files and links of a manifest it is, or of a hundred bytes, whichever is more; rounded down. */
        int percentOf(Manifest before) {
            return Math.max(percent(entries, entriesOf(before)), percent(bytes, before.bytes()));
        }

        private static int percent(long lost, long all) {
            return all == 0 ? 0 : (int) Math.min(100, 100.0 * lost / all);
        }
    }

    /** Whether an experiment has lost too much. */
    boolean holds(Manifest before, Lost lost) {
        long all = entriesOf(before);
        long least = Math.max(FEW, Math.min(entriesMin, Math.max(HALF_PERCENT, percent) * all / 100));
        return lost.entries() >= least && loses(before, lost);
    }

    /** Whether an experiment has lost as much as is a sweep when others of its project do too. */
    boolean loses(Manifest before, Lost lost) {
        return lost.percentOf(before) >= percent;
    }

    /** Whether so many experiments of a project have lost their share, of those that have manifests. */
    static boolean isSweep(long losing, long experiments) {
        return losing >= Math.max(SWEEP_EXPERIMENTS_MIN, SWEEP_PERCENT * experiments / 100.0);
    }

    private static long entriesOf(Manifest manifest) {
        return manifest.files() + manifest.links();
    }
}
