package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.registry.PartnerFile;
import dozo.registry.Partners;
import dozo.registry.Partners.Offer;
import dozo.registry.Partners.Partner;
import dozo.run.PartnerStates;
import dozo.run.PartnerStates.PartnerState;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.security.Principal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Centres that keep copies of ours, and whose copies we keep. */
@Verb.Group(name = "partner", about = "Centres with a Dozo: each keeps the other's copies", section = "Set-up")
@RestController
@RequestMapping("/api/v1/partners")
public record PartnerApi(Partners partners, PartnerStates states) {

    /**
     * A file of a partner to accept.
     *
     * @param file its text
     * @param fingerprint as the partner has said it by telephone
     * @param changed whether it may differ from the file that was accepted before
     */
    record PartnerAcceptance(
            @NotBlank(message = "expected a file of dozo partner offer")
            String file,

            @Nullable String fingerprint,
            @Nullable Boolean changed) {}

    /**
     * Our file for a partner.
     *
     * @param fingerprint to be said by telephone
     * @param next what is to be done next, or is wrong
     */
    public record ShownOffer(String file, String fingerprint, List<String> next) {}

    /** The script for the account of a partner, for {@code sh} as root. */
    public record ShownAccount(String script) {}

    /** Lists all partners: what we have there, what they have here, what is to be done and what is wrong. */
    @Verb(
            value = "partner list",
            items = "items",
            each = {
                "{name}",
                "  ours there: {ours.experimentsSafe} of {ours.experiments} experiments safe ({ours.percent} %), {ours.bytesSafe size}"
                        + " of {ours.quotaBytes size}[, {ours.freeBytes size} free]",
                "  last night: {ours.lastNight word}, {ours.lastNightAt}",
                "  last scrub: {ours.lastScrub word}, {ours.lastScrubAt}",
                "  theirs here: [{theirs.usedBytes size}|unknown] of {theirs.quotaBytes size}[, last login {theirs.lastContactAt}]"
                        + "[, keys {theirs.keys list}]",
                "{next lines}"
            },
            example = "dozo partner list")
    @GetMapping
    Page<PartnerState> list() {
        return new Page<>(states.all(), null);
    }

    /**
     * Makes our file for a partner: our keys, and what we give. Send it to the partner. The same again returns the same file, and
     * after a rotation of the site key one with the new key.
     */
    @Verb(
            value =
                    "partner offer NAME --host=HOST [--port=PORT] --host-key-file=FILE<hostKey --account=USER --root=DIR --quota=SIZE"
                            + " [--hours=RULE…] [--count-file=PATH]",
            arguments = {
                "NAME=the partner's name in our Dozo",
                "--host-key-file=a file with our machine's host key, such as /etc/ssh/ssh_host_ed25519_key.pub"
            },
            result = true,
            says = "{file lines}",
            lines = {"# fingerprint: {fingerprint}", "# next: {next list}"},
            example =
                    "dozo partner offer osaka --host backup.kyoto.example.org --host-key-file /etc/ssh/ssh_host_ed25519_key.pub"
                            + " --account dozo-osaka --root /srv/dozo-osaka --quota 20TB > kyoto.txt")
    @PutMapping("/{name}/offer")
    ShownOffer offer(@PathVariable String name, @Valid @RequestBody Offer asked, Principal actor) {
        Partner partner = partners.offer(name, asked, actor.getName());
        PartnerFile file = Objects.requireNonNull(partner.offered());
        return new ShownOffer(
                file.text(), file.fingerprint(), states.of(partner).next());
    }

    /**
     * Accepts a partner's file: registers its machine as a site with its host key and hours. Without the fingerprint, the refusal says
     * it: compare it by telephone. The same again changes nothing. 409: it differs from the accepted file, or is older.
     */
    @Verb(
            value = "partner accept NAME FILE<file [--fingerprint=TEXT] [--changed]",
            arguments = "NAME=the partner's name in our Dozo, and that of its site",
            result = true,
            says = "{name} is accepted",
            lines = "{next lines}",
            example = "dozo partner accept osaka osaka.txt --fingerprint '5a0c 71d2 90be 4411 03fe a8d1 6b7c 2250'")
    @PutMapping("/{name}/acceptance")
    PartnerState accept(@PathVariable String name, @Valid @RequestBody PartnerAcceptance asked, Principal actor) {
        return states.of(partners.accept(
                name, asked.file, asked.fingerprint, Boolean.TRUE.equals(asked.changed), actor.getName()));
    }

    /**
     * Returns the script with which root creates the partner's account on our machine, or changes it: account, folder, keys with the
     * guard, quota. 409: one of the two files is missing.
     */
    @Verb(value = "partner account NAME", says = "{script lines}", example = "dozo partner account osaka > account.sh")
    @GetMapping("/{name}/account")
    ShownAccount account(@PathVariable String name) {
        return new ShownAccount(partners.accountScript(name).orElseThrow(Missing.thing("partner", name)));
    }
}
