package dozo.api;

import dozo.api.http.Missing;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.Inventories;
import dozo.restore.SiteDownloads;
import dozo.restore.SiteDownloads.FoundFile;
import dozo.restore.SiteDownloads.FoundFolder;
import dozo.web.Download;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Single files and small folders from a site, for programs that need them at once. */
@RestController
@RequestMapping("/api/v1/experiments/{project}/{code}/manifests/{number}")
record DownloadApi(
        Experiments experiments, Manifests manifests, Inventories inventories, Sites sites, SiteDownloads downloads) {

    private static final String TAR = "application/x-tar";

    /**
     * Sends a file's content, or a folder as a tar archive, read at the site and verified meanwhile. If it turns out not to be what was
     * verified after it has begun, the response breaks off. 409: too large, never verified there, or too many downloads; restore it instead.
     *
     * @param path omit it and {@code pathBytes} for everything
     * @param site optional if there is only one
     */
    @PostMapping(
            path = "/download",
            produces = {MediaType.APPLICATION_OCTET_STREAM_VALUE, TAR})
    void download(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable int number,
            @RequestParam(required = false) @Nullable String path,
            @RequestParam(required = false) @Nullable String pathBytes,
            @RequestParam(required = false) @Nullable String site,
            Principal actor,
            HttpServletRequest request,
            HttpServletResponse response) {
        Experiment experiment =
                experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
        Manifest manifest = manifests
                .find(experiment.id(), number)
                .orElseThrow(Missing.thing("manifest of " + experiment.name() + " with the number", number));
        Site from = sites.chosen(site);
        FilePath asked = path == null && pathBytes == null ? FilePath.ROOT : ProofApi.path(path, pathBytes);
        if (!asked.isRoot()) {
            Entry entry = inventories
                    .of(manifest, from.id())
                    .find(asked)
                    .orElseThrow(Missing.thing("entry of %s#%d at".formatted(experiment.name(), number), asked));
            if (entry.facts().kind() == EntryKind.FILE) {
                FoundFile file = downloads.find(experiment, from, entry.number());
                new Download(MediaType.APPLICATION_OCTET_STREAM, FilePath.render(file.name()), file.sizeBytes())
                        .send(request, response, out -> downloads.write(file, actor.getName(), out));
                return;
            }
        }
        FoundFolder found = downloads.find(experiment, manifest, from, asked);
        String name = asked.isRoot() ? code : FilePath.render(asked.name());
        new Download(MediaType.valueOf(TAR), name + ".tar")
                .send(request, response, out -> downloads.write(found, actor.getName(), out));
    }
}
