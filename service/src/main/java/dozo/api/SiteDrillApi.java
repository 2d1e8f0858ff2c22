package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.drill.SiteDrills;
import dozo.drill.SiteDrills.SiteDrill;
import dozo.drill.SiteLossDrill;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.net.URI;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Drills of the loss of everything but a site and the recovery key. */
@RestController
@RequestMapping("/api/v1/site-drills")
public record SiteDrillApi(SiteLossDrill drill, SiteDrills drills) {

    /**
     * Which site to drill.
     *
     * @param site its name
     * @param recoveryKey the text of the recovery key, from paper; it is kept only in memory, until the end. Missing: only lists and bags
     *     are compared
     * @param listsOnly whether the site computes no digests of copies; always without the key
     */
    record NewSiteDrill(
            @NotBlank(message = "expected a site") String site,
            @Nullable String recoveryKey,
            @Nullable Boolean listsOnly) {

        /** Returns the site alone: the key is secret. */
        @Override
        public String toString() {
            return site;
        }
    }

    /** Lists the drills of sites, latest first. */
    @Verb(
            value = "drill sites limit=100",
            about = "Lists the drills of sites: how long everything takes from a site and the recovery key alone.",
            columns = {
                "DRILL={id}",
                "ENDED={endedAt}",
                "SITE={site}",
                "KEY={keyed?}yes|no",
                "RESULT={state words}",
                ">DIFFERENCES={evidence.differences number}",
                ">RESTORED={evidence.restored} of {evidence.experiments}",
                ">SIZE={evidence.restoredBytes size}",
                ">REBUILD={evidence.rebuildSeconds time}|",
                "ALL BACK IN=about {evidence.rtoSeconds time} ({evidence.rtoLeastSeconds time} to {evidence.rtoMostSeconds time}), mostly"
                        + " {evidence.limitedBy words}|unknown"
            },
            none = "No drill of a site yet.",
            example = "dozo drill sites")
    @GetMapping
    Page<SiteDrill> list(
            @RequestParam(required = false) @Nullable Long after, @RequestParam(defaultValue = Page.LIMIT) int limit) {
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> drills.page(before, most), SiteDrill::id);
    }

    /** Shows one drill of a site. */
    @Verb(
            value = "drill differences ID",
            about = "Shows a drill of a site, with the first 100 differences. Exit code 1: it is not complete.",
            lines = {
                "drill {id} of site {site}: {state words}[; {message}]",
                "{evidence.rowsCompared number} rows compared, of which {evidence.rowsExplained number} differ for a good reason;"
                        + " {evidence.digestsCompared number} digests; {evidence.differences number} differences",
                "the {evidence.recentExperiments} experiments of the last 30 days: about {evidence.recentSeconds time}",
                "{evidence.told lines}"
            },
            exit = "{state=COMPLETE?}0|1",
            example = "dozo drill differences 3")
    @GetMapping("/{id}")
    SiteDrill one(@PathVariable long id) {
        return drills.find(id).orElseThrow(Missing.thing("drill", id));
    }

    /**
     * Drills the loss of everything but a site. 409: nothing was recorded at the site, room is missing, or a drill of it has not
     * ended.
     */
    @Verb(
            value = "drill site NAME:site [--recovery-key=FILE<recoveryKey] [--lists-only]",
            arguments = {
                "NAME=the site",
                "--recovery-key=a file with the recovery key, such as /dev/stdin to paste it; without it only lists and bags are compared",
                "--lists-only=without digests of all copies by the site"
            },
            about =
                    "Rehearses the loss of everything but a site and the recovery key: rebuilds the catalogue in a scratch"
                            + " folder, compares it with this one, and restores 20 experiments out of it.",
            footer = {
                "The site is only read. The drill waits while a backup to the site runs. The key is kept only in memory, until the end.",
            },
            says = "drill {id} of site {site} requested[: {message}]",
            example = "dozo drill site dr --recovery-key /dev/stdin")
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<SiteDrill> request(@Valid @RequestBody NewSiteDrill asked, Principal actor) {
        SiteDrill requested = drill.request(
                asked.site(), asked.recoveryKey(), Boolean.TRUE.equals(asked.listsOnly()), actor.getName());
        return ResponseEntity.accepted()
                .location(URI.create("/api/v1/site-drills/" + requested.id()))
                .body(requested);
    }
}
