package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Verb;
import dozo.certificate.Checkpoints;
import dozo.certificate.TrustedLogs;
import dozo.certificate.TrustedLogs.TrustedLog;
import dozo.certificate.Witnesses;
import dozo.certificate.Witnesses.Witness;
import dozo.web.Change;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Who cosigns checkpoints of this ledger, and the logs of others that this service cosigns. */
@Verb.Group(
        name = "witness",
        about = "Witnesses of the ledger, and logs that this service is a witness for",
        section = "Audit")
@RestController
@RequestMapping("/api/v1")
public record WitnessApi(Witnesses witnesses, TrustedLogs logs, Checkpoints checkpoints) {

    /**
     * All settings of a witness.
     *
     * @param address the prefix of its addresses, as https://witness.example.org/witness
     * @param vkey its verifier key, for Ed25519 cosignatures
     */
    record NewWitness(@Nullable String address, @Nullable String vkey) {}

    /**
     * A log to cosign.
     *
     * @param vkey its verifier key
     * @param origin its name; missing: that of the key
     */
    record NewLog(@Nullable String vkey, @Nullable String origin) {}

    /** The verifier key that this service cosigns with. */
    public record WitnessKey(String vkey) {}

    /** Lists the witnesses by name. */
    @Verb(
            value = "witness list",
            columns = {
                "NAME={name}",
                "ADDRESS={address}",
                "COSIGNED AT={cosignedAt}|never",
                ">ROWS={size}|",
                "STATE={refusedOrigin?}contradicts the ledger: {trouble}|{trouble}"
            },
            none = "No witness yet; `dozo witness save` registers one.",
            example = "dozo witness list")
    @GetMapping("/witnesses")
    List<Witness> list() {
        return witnesses.all();
    }

    /** Registers a witness, or replaces all settings of an existing one. Sends no network request. */
    @Verb(
            value = "witness save NAME --address=URL --vkey=KEY",
            says = "{name} will be asked to cosign the last checkpoint",
            example =
                    "dozo witness save --address https://witness.example.org/witness --vkey witness.example.org+40c94fd4+BAd1WYb1FHHmd1K8kGu1m3BY5bVVcFpg1n1rXzbUo0BZ partner")
    @PutMapping("/witnesses/{name}")
    Witness save(@PathVariable String name, @RequestBody NewWitness said, Principal actor) {
        return witnesses.save(name, text(said.address), text(said.vkey), actor.getName());
    }

    /** Removes a witness. Its cosignatures stay. */
    @Verb(value = "witness remove NAME", says = "{name} is no longer asked", example = "dozo witness remove partner")
    @Change(destroys = true)
    @DeleteMapping("/witnesses/{name}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void remove(@PathVariable String name, Principal actor) {
        if (!witnesses.remove(name, actor.getName())) {
            throw Missing.thing("witness", name).get();
        }
    }

    /** Returns the verifier key that this service cosigns the checkpoints of others with. */
    @Verb(value = "witness key", lines = "{vkey}", example = "dozo witness key")
    @GetMapping("/witness-key")
    WitnessKey key() {
        return new WitnessKey(checkpoints.witnessKey().vkey());
    }

    /** Lists the logs that this service is a witness for, or was one. */
    @Verb(
            value = "witness logs",
            columns = {
                "LOG={origin}",
                "NOW={last}|",
                ">ROWS={size}|",
                "COSIGNED AT={cosignedAt}|never",
                ">REFUSED={refused}",
                "STATE={active?}active|inactive"
            },
            none = "No log yet; `dozo witness trust` adds one.",
            example = "dozo witness logs")
    @GetMapping("/trusted-logs")
    List<TrustedLog> trusted() {
        return logs.all();
    }

    /**
     * Has this service be a witness for a log, and for later ones of the same owner. For a log that is trusted already, what was refused
     * so far counts as settled.
     */
    @Verb(
            value = "witness trust VKEY [--origin=NAME]",
            says = "checkpoints by {vkey} will be cosigned",
            example =
                    "dozo witness trust dozo.example.org/ledger+c290838e+AQd1WYb1FHHmd1K8kGu1m3BY5bVVcFpg1n1rXzbUo0BZ")
    @PostMapping("/trusted-logs")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void trust(@RequestBody NewLog said, Principal actor) {
        logs.trust(text(said.origin), text(said.vkey), actor.getName());
    }

    /**
     * Ends being a witness for a log. What was cosigned stays known.
     *
     * @param origin its name
     */
    @Verb(
            value = "witness distrust ORIGIN",
            says = "{origin} is no longer cosigned",
            example = "dozo witness distrust dozo.example.org/ledger")
    @Change(destroys = true)
    @DeleteMapping("/trusted-logs")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void distrust(@RequestParam String origin, Principal actor) {
        if (!logs.distrust(origin, actor.getName())) {
            throw Missing.thing("log", origin).get();
        }
    }

    private static String text(@Nullable String said) {
        return said == null ? "" : said;
    }
}
