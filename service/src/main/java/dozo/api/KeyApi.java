package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.certificate.Certificates;
import dozo.record.RecoveryKeys;
import dozo.record.RecoveryKeys.PublishedKeys;
import dozo.registry.KeyFile;
import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import dozo.registry.SiteKeys;
import dozo.registry.SiteKeys.Acceptance;
import java.security.Principal;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The service's own keys in its work folder, each with the name of its file: which they are, and their rotation. */
@Verb.Group(name = "key", about = "The service's own keys, and their rotation", section = "Set-up")
@RestController
@RequestMapping("/api/v1")
public record KeyApi(SiteKey siteKey, SiteKeys siteKeys, Certificates certificates, RecoveryKeys recoveryKeys) {

    private static final String SITE = "site-key";
    private static final String CERTIFICATE = "certificate-key";
    private static final String RECOVERY = "recovery-key";

    private static final String INSTALL =
            "Add this line to the authorized_keys of every site, and copy the file to the workers and the service that stands by.";
    private static final String PUBLISH =
            "Publish the new key (dozo certificate-key), and copy the file to the service that stands by.";
    private static final String PRINT =
            "Print its file and put it into the safe. The next night writes all records anew; then drop the old one.";

    /**
     * One of the service's keys.
     *
     * @param name that of its file in the work folder
     * @param identifies the fingerprint of the present key, or its public key, as its own commands print it
     * @param former whether the key before it is valid as well
     */
    public record ShownKey(String name, String identifies, boolean former) {}

    /**
     * A new key.
     *
     * @param publicKey its public part
     * @param next what a person has to do now
     */
    public record NewKey(String name, String publicKey, String next) {}

    /** Lists the service's keys that can be replaced. */
    @Verb(
            value = "key list",
            columns = {"NAME={name}", "PRESENT={identifies}", "BEFORE={former?}valid|-"},
            example = "dozo key list")
    @GetMapping("/keys")
    Page<ShownKey> keys() {
        PublishedKeys recovery = recoveryKeys.published();
        return new Page<>(
                List.of(
                        new ShownKey(SITE, siteKey.fingerprint(), KeyFile.isFormerThere(siteKey.file())),
                        new ShownKey(CERTIFICATE, certificates.key().fingerprint(), false),
                        new ShownKey(RECOVERY, recovery.publicKey(), recovery.former() != null)),
                null);
    }

    /**
     * Logs in at each site that uses the service's own key, and lists which one it accepts. {@code FORMER}: the present one has to be added
     * to its {@code authorized_keys}.
     */
    @Verb(
            value = "key sites",
            columns = {"SITE={site}", "ACCEPTS={accepts word}|unknown", "WHY={problem}"},
            none = "No site uses the service's own key.",
            exit = "{accepts=PRESENT?}0|1",
            example = "dozo key sites")
    @GetMapping("/site-key/sites")
    Page<Acceptance> sites() throws InterruptedException {
        return new Page<>(siteKeys.acceptances(), null);
    }

    /**
     * Replaces a key of the service by a new one. A {@code site-key}: logins offer both, the new one first. A {@code recovery-key}: the next
     * night writes all records anew, for both. A {@code certificate-key}: what was signed stays valid, and the old key vouches for
     * the new one in the ledger. 409: the key before this one is still valid, or a run is active that may sign or write records.
     *
     * @param name {@code site-key}, {@code certificate-key} or {@code recovery-key}
     */
    @Verb(
            value = "key rotate KEY:name",
            arguments = "KEY=site-key, certificate-key or recovery-key",
            lines = {"{publicKey lines}", "# {next}"},
            result = true,
            example = "dozo key rotate site-key")
    @PostMapping("/keys/{name}/rotation")
    NewKey rotate(@PathVariable String name, Principal actor) {
        return switch (name) {
            case SITE -> {
                siteKeys.replace(actor.getName());
                yield new NewKey(name, siteKey.publicKey(), INSTALL);
            }
            case CERTIFICATE -> {
                recoveryKeys.requireNoRun();
                yield new NewKey(name, certificates.replace(actor.getName()).publicKey(), PUBLISH);
            }
            case RECOVERY -> new NewKey(name, recoveryKeys.replace(actor.getName()), PRINT);
            default -> throw Missing.thing("key", name).get();
        };
    }

    /**
     * Removes the key before the present one. 409: it is needed, or that is unknown: a site does not accept the present {@code site-key},
     * or has records that the present {@code recovery-key} cannot read.
     *
     * @param name {@code site-key} or {@code recovery-key}
     * @param force removes it also if it is needed: somebody else may have it
     */
    @Verb(
            value = "key drop-old KEY:name [--force]",
            arguments = "KEY=site-key or recovery-key",
            says = "removed the key before {name}",
            example = "dozo key drop-old site-key")
    @DeleteMapping("/keys/{name}/former")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void dropFormer(@PathVariable String name, @RequestParam(defaultValue = "false") boolean force, Principal actor)
            throws InterruptedException {
        switch (name) {
            case SITE -> siteKeys.drop(force, actor.getName());
            case CERTIFICATE ->
                throw Refusal.conflict("name", "the private part of the key before it is gone since the rotation");
            case RECOVERY -> recoveryKeys.drop(force, actor.getName());
            default -> throw Missing.thing("key", name).get();
        }
    }
}
