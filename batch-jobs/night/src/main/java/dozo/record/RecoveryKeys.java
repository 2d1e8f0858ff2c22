package dozo.record;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
     * @param others more public keys that can read the records, as configured
     */
    public record PublishedKeys(String publicKey, String file, List<String> others) {}

    public RecoveryKeys(RecoveryKey key, RecoverySettings settings, Ledger ledger) {
        this.key = key;
        this.settings = settings;
        this.ledger = ledger;
    }

    /**
     * Returns the keys, and creates nothing.
     *
     * @throws dozo.registry.Refusal if the file of the service's own is missing, or is not a key
     */
    public PublishedKeys published() {
        return new PublishedKeys(key.published(), key.file().toString(), settings.list());
    }

    /** Returns the public keys to encrypt to. */
    List<String> recipients() {
        List<String> all = new ArrayList<>();
        all.add(introduced());
        all.addAll(settings.list());
        return all;
    }

    private synchronized String introduced() {
        String recipient = key.recipient();
        if (ledger.newest(new Filter(recipient, INTRODUCED, null, null, null), Long.MAX_VALUE, 1)
                .isEmpty()) {
            ledger.append(Ledger.SYSTEM, INTRODUCED, recipient, Map.of("purpose", "recovery"));
        }
        return recipient;
    }
}
