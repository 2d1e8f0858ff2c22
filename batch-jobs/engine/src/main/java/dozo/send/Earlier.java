package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.send.Arrival.Arrived;
import dozo.send.Outcome.Failed;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What is known of copies that are at a site already.
 *
 * @param proven digests that the source must have, by entry number: those of copies to repair, and of copies at other sites. A
 *     file with a different digest does not get its final name, and a damaged copy stays in place
 * @param shared the numbers of the entries under whose names may be files that have other names, too (ADR 0072)
 */
public record Earlier(Map<Integer, Digest> proven, Set<Integer> shared) {

    static final Earlier NOTHING = new Earlier(Map.of(), Set.of());

    boolean mayBeShared(Entry entry) {
        return shared.contains(entry.number());
    }

    /**
     * Turns an arrival into a failure if the source knows another digest of the file, or if the file does not have the digest that
     * was verified before: nobody knows which is right.
     */
    Arrival check(Route route, Arrival arrival) throws InterruptedException {
        if (arrival instanceof Arrived(Entry file, Content(Digest digest, var _, var _), var _, var _, var _)) {
            Optional<Failed> differs = route.source().differs(file, digest);
            if (differs.isPresent()) {
                return differs.get();
            }
            Digest expected = proven.get(file.number());
            if (expected != null && !expected.equals(digest)) {
                return new Failed(
                        file,
                        Problem.SOURCE_DIFFERS,
                        ("%s: the source now has digest %s instead of %s, which was verified before, although its size and"
                                        + " time are unchanged. Nothing was stored or replaced; find out which is right")
                                .formatted(file.path(), digest, expected));
            }
        }
        return arrival;
    }
}
