package dozo.manifest;

import dozo.manifest.Manifests.Manifest;

/**
 * Decides whether too much of an experiment or a project vanished or changed at once. It counts files and links.
 * Folders need no count, because they vanish with their content. This covers {@code rm -rf} and mass encryption,
 * whether it renames files (gone and new) or not (changed). An entry that moved with its name, size and time has not
 * vanished; new files and new permissions are no loss.
 *
 * @param percent the percentage of files and links, or of bytes, whose loss freezes the experiment
 * @param entriesMin the least number of lost entries that freezes it; in a smaller experiment {@code percent} of it,
 *     but at least half, and at least {@value #FEW}
 */
record Tripwire(int percent, int entriesMin) {

    static final int FEW = 10;

    /** The percentage of a small experiment's entries that is too much. */
    private static final int HALF_PERCENT = 50;

    /**
     * The percentage of a project's experiments that makes a sweep if they lose their share within a day, from a
     * minimum number on.
     */
    private static final int SWEEP_PERCENT = 5;

    private static final int SWEEP_EXPERIMENTS_MIN = 5;

    /**
     * What vanished or has other content.
     *
     * @param entries files and links
     */
    record Lost(long entries, long bytes) {

        static final Lost NOTHING = new Lost(0, 0);

        /** Returns the loss on top of an earlier one. */
        Lost since(Lost earlier) {
            return new Lost(Math.max(0, entries - earlier.entries), Math.max(0, bytes - earlier.bytes));
        }

        /** Returns the percentage of a manifest's files and links, or of its bytes, whichever is more; rounded down. */
        int percentOf(Manifest before) {
            return Math.max(percent(entries, entriesOf(before)), percent(bytes, before.bytes()));
        }

        private static int percent(long lost, long all) {
            return all == 0 ? 0 : (int) Math.min(100, 100.0 * lost / all);
        }
    }

    /** Returns whether an experiment has lost too much. */
    boolean holds(Manifest before, Lost lost) {
        long all = entriesOf(before);
        long least = Math.max(FEW, Math.min(entriesMin, Math.max(HALF_PERCENT, percent) * all / 100));
        return lost.entries() >= least && loses(before, lost);
    }

    /** Returns whether an experiment has lost its share: enough for a sweep if others of its project do too. */
    boolean loses(Manifest before, Lost lost) {
        return lost.percentOf(before) >= percent;
    }

    /** Returns whether so many of a project's experiments with manifests have lost their share. */
    static boolean isSweep(long losing, long experiments) {
        return losing >= Math.max(SWEEP_EXPERIMENTS_MIN, SWEEP_PERCENT * experiments / 100.0);
    }

    private static long entriesOf(Manifest manifest) {
        return manifest.files() + manifest.links();
    }
}
