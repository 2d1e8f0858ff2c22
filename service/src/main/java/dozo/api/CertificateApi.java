package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Verb;
import dozo.certificate.Certificates;
import dozo.certificate.Certificates.PublishedKey;
import dozo.certificate.Issued;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.web.Download;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Signed certificates of what is verified at a site, and the public key to check them with. */
@RestController
@RequestMapping("/api/v1")
public record CertificateApi(Experiments experiments, Manifests manifests, Sites sites, Certificates certificates) {

    private static final String ZIP = "application/zip";

    /**
     * Returns the public key that certificates are checked with, and its fingerprint. Keep both outside of Dozo: a certificate is
     * worth as much as the key that it is checked with.
     */
    @Verb(
            value = "certificate-key",
            lines = {"# SHA-256 {fingerprint}", "{publicKey lines}", "{earlier lines}"},
            example = "dozo certificate-key > dozo-key.pem")
    @GetMapping("/certificate-key")
    PublishedKey key() {
        return certificates.key();
    }

    /**
     * Issues a signed certificate that every entry of a manifest is verified at a site. The response is a ZIP archive with the
     * certificate and the list of the entries. 409: entries are not verified there.
     *
     * @param manifest the manifest's number; default: the latest
     * @param site optional if there is only one
     */
    @PostMapping(path = "/experiments/{project}/{code}/certificate", produces = ZIP)
    void issue(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(required = false) @Nullable Integer manifest,
            @RequestParam(required = false) @Nullable String site,
            Principal actor,
            HttpServletRequest request,
            HttpServletResponse response) {
        Experiment experiment =
                experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
        try (Issued issued =
                certificates.issue(experiment, sealed(experiment, manifest), sites.chosen(site), actor.getName())) {
            new Download(MediaType.valueOf(ZIP), issued.fileName()).send(request, response, issued::writeTo);
        }
    }

    private Manifest sealed(Experiment experiment, @Nullable Integer number) {
        return (number == null ? manifests.current(experiment.id()) : manifests.find(experiment.id(), number))
                .orElseThrow(() -> new Refusal("manifest", "%s has no such manifest", experiment.name()));
    }
}
