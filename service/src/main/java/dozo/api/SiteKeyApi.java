package dozo.api;

import dozo.api.http.Verb;
import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import dozo.registry.SiteTerms;
import dozo.remote.HostKey;
import dozo.remote.RemoteException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The two public keys that people need before they register a site: the service's own, and the host's. */
@RestController
@RequestMapping("/api/v1")
public record SiteKeyApi(SiteKey key) {

    /**
     * The service's own public key.
     *
     * @param publicKey a line for the {@code authorized_keys} of the user at the site
     */
    public record ShownSiteKey(String publicKey) {}

    /**
     * A host's public key.
     *
     * @param hostKey as for registering a site
     * @param kind for example {@code ssh-ed25519}
     * @param fingerprint as {@code ssh-keygen -l} prints it
     */
    public record ShownHostKey(String hostKey, String kind, String fingerprint) {}

    /** Returns the public key with which the service logs in at sites that are registered without another key. */
    @Verb(value = "site key", says = "{publicKey}", example = "dozo site key")
    @GetMapping("/site-key")
    ShownSiteKey own() {
        return new ShownSiteKey(key.publicKey());
    }

    /**
     * Asks a host for its public key. Compare the fingerprint with one from a trusted person before you use the key. 502:
     * the host does not answer as an SSH server.
     *
     * @param host its name or address
     * @param port its SSH port
     */
    @GetMapping("/host-key")
    ShownHostKey presented(@RequestParam String host, @RequestParam(defaultValue = "22") int port)
            throws RemoteException, InterruptedException {
        if (!SiteTerms.isHost(host)) {
            throw new Refusal("host", "expected a host name or an address");
        }
        if (!SiteTerms.isPort(port)) {
            throw new Refusal("port", "expected 1 to 65535");
        }
        HostKey presented = HostKey.presentedBy(host, port);
        return new ShownHostKey(presented.line(), presented.kind(), presented.fingerprint());
    }
}
