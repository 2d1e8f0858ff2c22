package dozo.registry;

import dozo.ledger.Ledger;
import dozo.registry.Sites.Site;
import dozo.remote.AcceptedKey;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The service's own key at the sites that use it: replaced by a new one, which each site has to accept before the former one goes. */
@Component
public class SiteKeys {

    private final SiteKey key;
    private final Sites sites;
    private final Ledger ledger;

    /**
     * Which key a site accepts now.
     *
     * @param accepts null: unknown
     * @param problem why it is unknown, for people
     */
    public record Acceptance(
            String site,
            @Nullable AcceptedKey accepts,
            @Nullable String problem) {}

    public SiteKeys(SiteKey key, Sites sites, Ledger ledger) {
        this.key = key;
        this.sites = sites;
        this.ledger = ledger;
    }

    /** Asks each site that uses the service's own key, also on the way, by a login. */
    public List<Acceptance> acceptances() throws InterruptedException {
        KeyFile.checkThere(key.file());
        List<Acceptance> all = new ArrayList<>();
        for (Site site : sites.all()) {
            if (uses(site.address())) {
                all.add(acceptance(site));
            }
        }
        return all;
    }

    private static Acceptance acceptance(Site site) throws InterruptedException {
        try {
            return new Acceptance(site.name(), AcceptedKey.at(site.address()), null);
        } catch (RemoteException e) {
            return new Acceptance(site.name(), null, e.getMessage());
        }
    }

    private boolean uses(SiteAddress address) {
        return Stream.concat(Stream.of(address), address.way().jump().stream())
                .map(SiteAddress::identity)
                .anyMatch(this::isOurs);
    }

    private boolean isOurs(Path identity) {
        try {
            return identity.equals(key.file()) || (Files.exists(identity) && Files.isSameFile(identity, key.file()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Puts a new key in the place of the present one. Logins offer both until {@link #drop}, the new one first.
     *
     * @throws Refusal if the key before the present one is still there
     */
    public synchronized void replace(String actor) {
        settle();
        KeyFile.checkAlone(key.file());
        SiteKey next = new SiteKey(KeyFile.next(key.file()));
        next.created();
        ledger.append(
                actor, KeyFile.INTRODUCED, next.fingerprint(), Map.of("purpose", "sites", "after", key.fingerprint()));
        settle();
    }

    private void settle() {
        KeyFile.settle(key.file(), ledger, SiteKeys::fingerprint, true);
    }

    private static String fingerprint(Path file) {
        return new SiteKey(file).fingerprint();
    }

    /** Creates the key unless something has its name. Ends a rotation that was interrupted. */
    public synchronized void create() {
        settle();
        key.created();
    }

    /**
     * Removes the key before the present one. No other key can come meanwhile that the sites were not asked about.
     *
     * @param anyway also if a site needs it, or it is unknown whether it does
     * @throws Refusal if there is none, or it may be needed
     */
    public synchronized void drop(boolean anyway, String actor) throws InterruptedException {
        KeyFile.checkFormer(key.file());
        if (!anyway) {
            acceptances().forEach(SiteKeys::refuseIfNeeded);
        }
        // The row first: a key is never removed without one.
        ledger.append(
                actor,
                "key.dropped",
                fingerprint(KeyFile.former(key.file())),
                Map.of("purpose", "sites", "anyway", anyway));
        KeyFile.drop(key.file());
    }

    private static void refuseIfNeeded(Acceptance site) {
        if (site.accepts == null) {
            throw Refusal.conflict(
                    "key",
                    "it is unknown whether site %s accepts the present key: %s",
                    site.site,
                    String.valueOf(site.problem));
        }
        if (site.accepts == AcceptedKey.FORMER) {
            throw Refusal.conflict(
                    "key", "site %s does not accept the present key yet; add it to authorized_keys there", site.site);
        }
    }
}
