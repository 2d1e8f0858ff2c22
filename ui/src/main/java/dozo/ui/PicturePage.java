package dozo.ui;

import dozo.file.FilePath;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.restore.SiteDownloads;
import dozo.restore.SiteDownloads.FoundFile;
import dozo.restore.SitePictures;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.Base64;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** What a file shows: a small picture, drawn from its copy at a site while the page is made. */
@Controller
@RequestMapping("/experiments/{project}/{code}/picture")
record PicturePage(Experiments experiments, Sites sites, SiteDownloads downloads, SitePictures pictures) {

    /** As of all pages, and the picture inside the page: so it has no address, and the reason why there is none is text. */
    private static final String CONTENT_POLICY =
            "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

    /** @param entry its number in the experiment */
    @GetMapping
    String picture(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam int entry,
            @RequestParam(name = "site") String siteName,
            Principal actor,
            HttpServletResponse response,
            Model model)
            throws IOException {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        FoundFile file = downloads.find(experiment, sites.chosen(siteName), entry);
        model.addAttribute("experiment", experiment);
        model.addAttribute("site", file.site());
        model.addAttribute("name", FilePath.render(file.name()));
        try {
            String png = Base64.getEncoder().encodeToString(pictures.draw(file, actor.getName()));
            response.setHeader("Content-Security-Policy", CONTENT_POLICY);
            model.addAttribute("picture", "data:image/png;base64," + png);
        } catch (Refusal none) {
            model.addAttribute("none", none.message());
        }
        return "picture";
    }
}
