package dozo.ledger;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.file.Message;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A verification of the whole ledger.
 *
 * @param beganAt when it began
 * @param verdict {@code INTACT}; {@code INCOMPLETE}: nothing is broken, but not every site could be compared; {@code BROKEN}
 * @param rowsChecked the number of rows
 * @param breaches the number of rows, guards and anchors that are not as they were
 * @param unproven why an incomplete one proves less than all; missing: the verdict is another one, or that was not recorded
 * @param unprovenSites the sites that this is about
 */
public record Verification(
        Instant beganAt,
        String verdict,
        long rowsChecked,
        long breaches,
        @Nullable Unproven unproven,
        List<String> unprovenSites) {

    /** The verdict if something is not as Dozo left it. */
    public static final String BROKEN = "BROKEN";

    /** The verdict if nothing is broken, but something is not proven. */
    public static final String INCOMPLETE = "INCOMPLETE";

    /** Why the verification of a ledger in which nothing is broken proves less than all. */
    public enum Unproven {
        NO_SITE,
        /** A site could not be compared. */
        NOT_COMPARED,
        /** A site has no anchor that matches a row. */
        NO_ANCHOR;

        /** Returns why the ledger is not proven to be complete, and what to do. */
        Message sentence(List<String> sites) {
            String named = String.join(", ", sites);
            return switch (this) {
                case NO_SITE ->
                    Message.of(
                            "No site is registered, so nothing outside the database proves the ledger. Add a site: each run writes an anchor there, and the service verifies the ledger again.");
                case NOT_COMPARED ->
                    Message.of(
                            "Not compared with site %s, which could not be read. Check it: dozo site check %s. Then run dozo ledger verify.",
                            named, sites.isEmpty() ? "" : sites.getFirst());
                case NO_ANCHOR ->
                    Message.of(
                            "Site %s has no matching anchor yet. Each run writes one at its end, and the service verifies the ledger again. If runs have ended since, see their findings.",
                            named);
            };
        }
    }

    /** Returns why an incomplete one proves less than all, and what to do; missing: it is not incomplete. */
    @JsonProperty
    public @Nullable Message sentence() {
        if (!verdict.equals(INCOMPLETE)) {
            return null;
        }
        return unproven == null
                ? Message.of("Not every site was compared. Run dozo ledger verify.")
                : unproven.sentence(unprovenSites);
    }
}
