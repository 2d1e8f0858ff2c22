package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import java.util.Map;
import java.util.Set;

/**
 * What is known of copies that are at a site already.
 *
 * @param proven digests that the source must have, by entry number: those of copies to repair. A file with a different
 *     digest does not get its final name, and the damaged copy stays in place
 * @param shared the numbers of the entries under whose names may be files that have other names, too (ADR 0072)
 */
public record Earlier(Map<Integer, Digest> proven, Set<Integer> shared) {

    static final Earlier NOTHING = new Earlier(Map.of(), Set.of());

    boolean mayBeShared(Entry entry) {
        return shared.contains(entry.number());
    }
}
