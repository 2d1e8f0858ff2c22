package dozo.remote;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * How connections reach a site.
 *
 * @param jump a host that forwards them to the site, as with {@code ssh -J}. It has a host key of its own, and resolves
 *     the site's name. Its root is not used
 * @param dscp the DSCP mark of their packets (RFC 2474), 0 to 63; 0: none
 * @param agent the socket of an agent that signs. If the site's identity cannot be read and its public key is beside it, only with
 *     that key; otherwise with any
 * @param passwords who is asked for a password if no key is accepted; empty: only keys are used, as by a service
 */
public record Way(Optional<SiteAddress> jump, int dscp, Optional<Path> agent, Optional<Passwords> passwords) {

    public static final Way DIRECT = new Way(Optional.empty(), 0);

    public static final int DSCP_MAX = 63;

    /**
     * The names besides class selectors ({@code cs0} to {@code cs7}) and assured forwarding ({@code af11} to {@code
     * af43}).
     */
    private static final Map<String, Integer> NAMES = Map.of("le", 1, "ef", 46);

    /** A way without an agent, and without passwords. */
    public Way(Optional<SiteAddress> jump, int dscp) {
        this(jump, dscp, Optional.empty(), Optional.empty());
    }

    public Way {
        if (dscp < 0 || dscp > DSCP_MAX) {
            throw new IllegalArgumentException("DSCP must be 0 to 63: " + dscp);
        }
    }

    /** Parses a DSCP mark: a name as in ssh's IPQoS, or a number. Empty if it is neither. */
    public static Optional<Integer> dscp(String typed) {
        String name = typed.toLowerCase(Locale.ROOT);
        if (name.matches("cs[0-7]")) {
            return Optional.of(8 * (name.charAt(2) - '0'));
        }
        if (name.matches("af[1-4][1-3]")) {
            return Optional.of(8 * (name.charAt(2) - '0') + 2 * (name.charAt(3) - '0'));
        }
        if (name.matches("[0-9]{1,2}") && Integer.parseInt(name) <= DSCP_MAX) {
            return Optional.of(Integer.parseInt(name));
        }
        return Optional.ofNullable(NAMES.get(name));
    }
}
