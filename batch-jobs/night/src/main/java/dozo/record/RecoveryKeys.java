package dozo.record;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/** The public keys that records are encrypted to. The ledger has a row for each key of the service. */
@Component
@EnableConfigurationProperties(RecoverySettings.class)
public class RecoveryKeys {

    private static final String INTRODUCED = "key.introduced";

    private final RecoveryKey key;
    private final RecoverySettings settings;
    private final Ledger ledger;

    /**
     * The public keys that the catalogue's records are encrypted to.
     *
     * @param publicKey the service's own, {@code age1…}
     * @param file where its private key is, on the service's machine
     * @param former the service's own key before this one, which can read the records until it is dropped; missing: none
     * @param others more public keys that can read the records, as configured
     */
    public record PublishedKeys(
            String publicKey, String file, @Nullable String former, List<String> others) {}

    public RecoveryKeys(RecoveryKey key, RecoverySettings settings, Ledger ledger) {
        this.key = key;
        this.settings = settings;
        this.ledger = ledger;
    }

    /**
     * Returns the keys, and creates nothing.
     *
     * @throws Refusal if the file of the service's own is missing, or is not a key
     */
    public PublishedKeys published() {
        return new PublishedKeys(
                key.published(), key.file().toString(), key.former().orElse(null), settings.list());
    }

    /** Returns the public keys to encrypt to. */
    List<String> recipients() {
        List<String> all = new ArrayList<>();
        all.add(introduced());
        // Until its successor is in the safe, too, the key in the safe must read what is written.
        key.former().ifPresent(all::add);
        all.addAll(settings.list());
        return all;
    }

    /** Puts a new key in the place of the service's own, and returns it. */
    synchronized String replace(String actor) {
        return key.replace(change -> ledger.append(
                actor, INTRODUCED, change.now(), Map.of("purpose", "recovery", "after", change.before())));
    }

    /**
     * Returns when the service's own key was introduced.
     *
     * @throws Refusal if there is no key before it
     */
    Instant introducedAt() {
        if (key.former().isEmpty()) {
            throw Refusal.conflict(
                    "key", "there is no key before %s", key.file().getFileName());
        }
        return introductions(introduced()).getFirst().at();
    }

    /** Removes the service's key before its own. */
    void drop(boolean anyway, String actor) {
        // The row first: a key is never removed without one.
        ledger.append(actor, "key.dropped", key.former().orElse(""), Map.of("purpose", "recovery", "anyway", anyway));
        SiteKey.drop(key.file());
    }

    private List<LedgerEntry> introductions(String recipient) {
        return ledger.newest(new Filter(recipient, INTRODUCED, null, null, null), Long.MAX_VALUE, 1);
    }

    private synchronized String introduced() {
        String recipient = key.recipient();
        if (introductions(recipient).isEmpty()) {
            ledger.append(Ledger.SYSTEM, INTRODUCED, recipient, Map.of("purpose", "recovery"));
        }
        return recipient;
    }
}
