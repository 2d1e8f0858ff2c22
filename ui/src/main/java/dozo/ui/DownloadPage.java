package dozo.ui;

import dozo.file.FilePath;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.SiteDownloads;
import dozo.restore.SiteDownloads.FoundFile;
import dozo.restore.SiteDownloads.FoundFolder;
import dozo.web.Download;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Single files and small folders from a site, for people who need them back. If a copy turns out not to be what was
 * verified after the download has begun, it breaks off, which every browser detects.
 */
@Controller
@RequestMapping("/experiments/{project}/{code}")
record DownloadPage(Experiments experiments, Manifests manifests, Sites sites, SiteDownloads downloads) {

    private static final MediaType TAR = MediaType.valueOf("application/x-tar");

    /**
     * Sends one content of a file.
     *
     * @param entry its number in the experiment
     */
    @PostMapping("/download")
    void file(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam int entry,
            @RequestParam(name = "site") String siteName,
            Principal actor,
            HttpServletRequest request,
            HttpServletResponse response) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        FoundFile found = downloads.find(experiment, sites.chosen(siteName), entry);
        new Download(MediaType.APPLICATION_OCTET_STREAM, FilePath.render(found.name()), found.sizeBytes())
                .send(request, response, out -> downloads.write(found, actor.getName(), out));
    }

    /** Sends a folder of a manifest with everything in it as a tar archive. */
    @PostMapping("/manifests/{number}/download")
    void folder(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable int number,
            @RequestParam(defaultValue = "") String folder,
            @RequestParam(name = "site") String siteName,
            Principal actor,
            HttpServletRequest request,
            HttpServletResponse response) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Manifest manifest = ManifestPage.found(manifests, experiment, number);
        Site site = sites.chosen(siteName);
        FilePath path = Bytes.path("folder", folder);
        FoundFolder found = downloads.find(experiment, manifest, site, path);
        new Download(TAR, (path.isRoot() ? code : FilePath.render(path.name())) + ".tar")
                .send(request, response, out -> downloads.write(found, actor.getName(), out));
    }
}
