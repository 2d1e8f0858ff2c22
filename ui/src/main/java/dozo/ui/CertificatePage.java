package dozo.ui;

import dozo.certificate.Certificates;
import dozo.certificate.Issued;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.web.Download;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Signed certificates of what is verified at a site, with the public key to check them with. */
@Controller
@RequestMapping("/experiments/{project}/{code}/certificate")
record CertificatePage(Experiments experiments, Manifests manifests, Sites sites, Certificates certificates) {

    private static final MediaType ZIP = MediaType.valueOf("application/zip");

    /**
     * Explains a certificate, and shows the public key.
     *
     * @param typed may have a manifest and a site
     */
    @GetMapping
    String ask(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam Map<String, String> typed,
            Model model) {
        return ask(ExperimentPage.found(experiments, project, code), new Form(typed, Map.of()), model);
    }

    /** Issues it as a download; shows the page again if not everything is verified. */
    @PostMapping
    @Nullable
    String issue(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam Map<String, String> typed,
            Principal actor,
            HttpServletRequest request,
            HttpServletResponse response,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Form form = new Form(typed, Map.of());
        try (Issued issued = certificates.issue(
                experiment,
                ManifestPage.chosen(
                        manifests, experiment, form.value("manifest").strip()),
                sites.chosen(form.given("site")),
                actor.getName())) {
            new Download(ZIP, issued.fileName()).send(request, response, issued::writeTo);
            return null;
        } catch (Refusal refused) {
            return ask(experiment, Form.refused(typed, refused), model);
        }
    }

    private String ask(Experiment experiment, Form form, Model model) {
        model.addAttribute("experiment", experiment);
        model.addAttribute("sites", sites.all().stream().map(Site::name).toList());
        model.addAttribute("manifests", manifests.all(experiment.id()));
        model.addAttribute("key", certificates.key());
        model.addAttribute("form", form);
        return "certificate";
    }
}
