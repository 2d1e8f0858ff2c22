package dozo.api;

import dozo.api.http.Verb;
import dozo.record.RecoveryKeys;
import dozo.record.RecoveryKeys.PublishedKeys;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The key that can read the catalogue's records at the sites. */
@RestController
@RequestMapping("/api/v1")
public record RecoveryApi(RecoveryKeys keys) {

    /**
     * Returns the public keys that the catalogue's records at the sites are encrypted to, and where the service's private key
     * is. Keep a copy of that one outside of the building.
     */
    @Verb(
            value = "recovery-key",
            lines = {
                "# private key: {file}",
                "{publicKey}",
                "{former?}# until dozo key drop-old recovery-key: {former}",
                "{others?}# dozo.recovery.recipients:",
                "{others lines}"
            },
            example = "dozo recovery-key")
    @GetMapping("/recovery-key")
    PublishedKeys key() {
        return keys.published();
    }
}
