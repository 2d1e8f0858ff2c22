package dozo.api;

import dozo.api.http.Verb;
import dozo.record.RecoveryKeys;
import dozo.record.RecoveryKeys.PublishedKeys;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The key that can read the catalogue's records at the sites. */
@RestController
@RequestMapping("/api/v1")
public class RecoveryApi {

    private final RecoveryKeys keys;

    /**
     * The public keys that the catalogue's records are encrypted to.
     *
     * @param publicKey the service's own, {@code age1…}
     * @param file where its private key is, on the service's machine
     * @param others more public keys that can read the records, as configured
     */
    public record ShownRecoveryKey(String publicKey, String file, List<String> others) {}

    RecoveryApi(RecoveryKeys keys) {
        this.keys = keys;
    }

    /**
     * Returns the public keys that the catalogue's records at the sites are encrypted to, and where the service's private key
     * is. Keep a copy of that one outside of the building.
     */
    @Verb(
            value = "recovery-key",
            lines = {"# private key: {file}", "{publicKey}", "{others?}# dozo.recovery.recipients:", "{others lines}"},
            example = "dozo recovery-key")
    @GetMapping("/recovery-key")
    ShownRecoveryKey key() {
        PublishedKeys keys = this.keys.published();
        return new ShownRecoveryKey(keys.publicKey(), keys.file(), keys.others());
    }
}
