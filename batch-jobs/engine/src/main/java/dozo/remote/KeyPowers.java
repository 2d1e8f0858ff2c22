package dozo.remote;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * What somebody who has the site's key can do to stored files, as tried by {@link KeyProbe}. What is in neither set is
 * unknown.
 */
public record KeyPowers(Set<Power> could, Set<Power> couldNot) {

    /** What can be done with the key. */
    public enum Power {
        /** Read stored files. */
        READ,
        /** Add files under new names. */
        ADD,
        /** Overwrite a stored file in place, or cut it. */
        CHANGE,
        /** Give a stored file any other name. */
        RENAME,
        /** Put another file in the place of a stored one. */
        REPLACE,
        /** Delete a stored file. */
        DELETE
    }

    /** The worst that can be done to stored files. */
    public enum Harm {
        DELETE,
        /** They cannot be deleted, but changed, renamed or replaced. */
        ALTER,
        NONE,
        UNKNOWN
    }

    private static final Set<Power> ALTERING = EnumSet.of(Power.CHANGE, Power.RENAME, Power.REPLACE);

    /** Nothing was tried. */
    static final KeyPowers UNKNOWN = new KeyPowers(Set.of(), Set.of());

    public KeyPowers {
        could = sorted(could);
        couldNot = sorted(couldNot);
    }

    /** Returns what is neither known to be possible nor to be impossible. */
    public Set<Power> unknown() {
        EnumSet<Power> unknown = EnumSet.allOf(Power.class);
        unknown.removeAll(could);
        unknown.removeAll(couldNot);
        return unknown;
    }

    /** Returns the worst that is possible; {@code NONE} only if the site refused all of it. */
    public Harm harm() {
        if (could.contains(Power.DELETE)) {
            return Harm.DELETE;
        }
        if (!Collections.disjoint(could, ALTERING)) {
            return Harm.ALTER;
        }
        return couldNot.contains(Power.DELETE) && couldNot.containsAll(ALTERING) ? Harm.NONE : Harm.UNKNOWN;
    }

    private static Set<Power> sorted(Set<Power> some) {
        EnumSet<Power> sorted = EnumSet.noneOf(Power.class);
        sorted.addAll(some);
        return Collections.unmodifiableSet(sorted);
    }
}
