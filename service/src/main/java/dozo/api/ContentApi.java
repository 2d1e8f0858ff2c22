package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.file.FilePath;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.Inventories;
import dozo.restore.SiteDownloads;
import dozo.restore.SitePictures;
import dozo.verify.AllSeries;
import dozo.verify.AllSeries.Series;
import dozo.verify.Contents;
import dozo.verify.Contents.Count;
import dozo.verify.Contents.NotWhole;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Whether the files of experiments are whole, by the rules of their formats. */
@RestController
@RequestMapping("/api/v1/experiments/{project}/{code}/content")
record ContentApi(
        Experiments experiments,
        Contents contents,
        AllSeries series,
        Manifests manifests,
        Inventories inventories,
        Sites sites,
        SiteDownloads downloads,
        SitePictures pictures) {

    /** Counts the files of the current manifest by verdict and format, the broken ones first. */
    @Verb(
            value = "content PROJECT/EXPERIMENT:project/code",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            about = "Says which files of an experiment are whole, by the rules of their formats.",
            columns = {"VERDICT={state word}", "FORMAT={format}", ">FILES={files}", ">SIZE={bytes size}"},
            none = "It has no files.",
            example = "dozo content P001/S0001")
    @GetMapping
    List<Count> counts(@PathVariable String project, @PathVariable String code) {
        return contents.counts(experiment(project, code).id());
    }

    /** Lists the files of the current manifest that are broken or suspect, or unknown for a known reason. */
    @Verb(
            value = "content PROJECT/EXPERIMENT:project/code --files:-",
            arguments = {
                "PROJECT/EXPERIMENT=the experiment",
                "--files=lists the files that are not whole, or unknown for a known reason"
            },
            columns = {"VERDICT={state word}", "FORMAT={format}", "FILE={path}", "WHY={why}"},
            none = "No file is known not to be whole.",
            example = "dozo content P001/S0001 --files")
    @GetMapping("/files")
    Page<NotWhole> files(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        int experiment = experiment(project, code).id();
        return Page.of(limit, most -> contents.notWhole(experiment, after, most), NotWhole::entryNumber);
    }

    /** Lists the DICOM series of an experiment, and the images that may be missing: numbers between others that no file has. */
    @Verb(
            value = "content PROJECT/EXPERIMENT:project/code --series:-",
            arguments = {
                "PROJECT/EXPERIMENT=the experiment",
                "--series=lists the DICOM series, and images that may be missing"
            },
            columns = {
                "SERIES={number}",
                "DESCRIPTION={description}",
                ">IMAGES={images}",
                ">SIZE={bytes size}",
                "VERDICT={state word}",
                "WHY={why}"
            },
            none = "No DICOM series is known.",
            example = "dozo content P001/S0001 --series")
    @GetMapping("/series")
    List<Series> series(@PathVariable String project, @PathVariable String code) {
        return series.of(experiment(project, code).id());
    }

    /**
     * Draws the middle image of a file of the current manifest as a small PNG: of DICOM without compression, or NIfTI in one
     * file; of MEG in FIFF, CTF ({@code .meg4}) and KIT the first seconds of up to 30 channels. All of the copy at the site is read and verified first. 409: there is no picture, too many are being drawn, or they
     * are turned off.
     *
     * @param site optional if there is only one
     */
    @GetMapping(path = "/picture", produces = MediaType.IMAGE_PNG_VALUE)
    byte[] picture(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(required = false) @Nullable String path,
            @RequestParam(required = false) @Nullable String pathBytes,
            @RequestParam(required = false) @Nullable String site,
            Principal actor)
            throws IOException {
        Experiment experiment = experiment(project, code);
        Site from = sites.chosen(site);
        FilePath asked = ProofApi.path(path, pathBytes);
        int entry = manifests
                .current(experiment.id())
                .flatMap(manifest -> inventories.of(manifest, from.id()).find(asked))
                .orElseThrow(Missing.thing("entry of the current manifest of " + experiment.name() + " at", asked))
                .number();
        return pictures.draw(downloads.find(experiment, from, entry), actor.getName());
    }

    private Experiment experiment(String project, String code) {
        return experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
    }
}
