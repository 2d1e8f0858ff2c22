package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.copy.Inventory.Item;
import dozo.file.Attributes.Attribute;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.restore.Inventories;
import dozo.transfer.Sha256Sums;
import dozo.web.Download;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The manifests of an experiment, and the places of the copies of their files. */
@RestController
@RequestMapping("/api/v1/experiments/{project}/{code}/manifests")
public record ManifestApi(
        Experiments experiments,
        Manifests manifests,
        Inventories inventories,
        Sha256Sums sums,
        SiteChoice sites,
        Moments moments) {

    /** Number of files that are missing from a list. */
    private static final String FILES_MISSING = "Dozo-Files-Missing";

    /** A manifest's totals. */
    public record ShownManifest(
            String experiment, int number, Instant sealedAt, long files, long bytes, long folders, long links) {

        static ShownManifest of(Experiment experiment, Manifest manifest) {
            return new ShownManifest(
                    experiment.name(),
                    manifest.number(),
                    manifest.sealedAt(),
                    manifest.files(),
                    manifest.bytes(),
                    manifest.folders(),
                    manifest.links());
        }
    }

    /**
     * An entry of a manifest.
     *
     * @param path a rendering for people; {@code pathBytes} is the exact path in base64
     * @param modifiedNs nanoseconds since 1970
     * @param mode the permission bits with setuid, setgid and sticky
     * @param hardLink equal for all names of one file; missing: the file has no other name
     * @param targetBytes the target of a link, in base64
     * @param user the number of the user that it belongs to at the source, and {@code group} of the group; missing: unknown
     * @param attributes its ACLs and other extended attributes when it was sealed
     * @param copyBytes the path of the file's copy below the site's root, in base64; missing: not a file, or neither verified nor found there
     * @param sha256 the digest of that copy
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record ShownItem(
            int entry,
            String path,
            byte[] pathBytes,
            EntryKind kind,
            long bytes,
            long modifiedNs,
            int mode,
            @Nullable Long hardLink,
            byte @Nullable [] targetBytes,
            @Nullable Long user,
            @Nullable Long group,
            List<Attribute> attributes,
            byte @Nullable [] copyBytes,
            @Nullable String sha256) {

        static ShownItem of(Item item) {
            Facts facts = item.entry().facts();
            return new ShownItem(
                    item.entry().number(),
                    item.entry().path().toString(),
                    item.entry().path().bytes(),
                    facts.kind(),
                    facts.sizeBytes(),
                    facts.modifiedNanos(),
                    facts.mode(),
                    facts.hardLink(),
                    facts.linkTarget(),
                    facts.owner() == null ? null : facts.owner().user(),
                    facts.owner() == null ? null : facts.owner().group(),
                    facts.attributes().all(),
                    item.copy() == null ? null : item.copy().place().bytes(),
                    item.copy() == null ? null : item.copy().digest().toString());
        }
    }

    /** Lists the manifests of an experiment, latest first; with {@code asOf} only the latest one at that time. */
    @GetMapping
    Page<ShownManifest> list(
            @PathVariable String project, @PathVariable String code, @RequestParam @Nullable String asOf) {
        Experiment experiment = experiment(project, code);
        List<Manifest> found = asOf == null
                ? manifests.all(experiment.id())
                : manifests.asOf(experiment.id(), moments.end("asOf", asOf)).stream()
                        .toList();
        return new Page<>(
                found.stream()
                        .map(manifest -> ShownManifest.of(experiment, manifest))
                        .toList(),
                null);
    }

    /** Shows one manifest's totals. */
    @GetMapping("/{number}")
    ShownManifest one(@PathVariable String project, @PathVariable String code, @PathVariable int number) {
        Experiment experiment = experiment(project, code);
        return ShownManifest.of(experiment, manifest(experiment, number));
    }

    /** Lists the entries of a manifest, by folder and name, with the places of their copies. */
    @GetMapping("/{number}/entries")
    Page<ShownItem> entries(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable int number,
            @RequestParam @Nullable String site,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        Manifest manifest = manifest(experiment(project, code), number);
        FilePath last = after(after);
        return Page.of(
                        limit,
                        most -> inventories.of(manifest, sites.idOf(site)).page(last, most),
                        item -> Base64.getEncoder()
                                .encodeToString(item.entry().path().bytes()))
                .map(ShownItem::of);
    }

    /**
     * Lists the files of a manifest in {@code sha256sum} format. Names are the original bytes. 409: files have no receipt at the
     * site.
     *
     * @param partial true: allows an incomplete list; its first line and a header say so
     */
    @GetMapping(path = "/{number}/sha256sums", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
    void sha256sums(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable int number,
            @RequestParam @Nullable String site,
            @RequestParam(defaultValue = "false") boolean partial,
            HttpServletRequest request,
            HttpServletResponse response) {
        Experiment experiment = experiment(project, code);
        Manifest manifest = manifest(experiment, number);
        int siteId = sites.idOf(site);
        long missing = sums.missing(manifest, siteId);
        String lacks = "%d of %d files of %s, manifest %d, have no receipt at %s"
                .formatted(
                        missing,
                        manifest.files(),
                        experiment.name(),
                        number,
                        sites.of(site).map(Site::name).orElse("any site"));
        if (missing > 0 && !partial) {
            throw Refusal.conflict(
                    "partial", "%s: the list would be incomplete; use partial=true to get it anyway", lacks);
        }
        response.setHeader(FILES_MISSING, String.valueOf(missing));
        String name = "%s.%s.manifest-%d.sha256".formatted(project, code, number);
        new Download(MediaType.APPLICATION_OCTET_STREAM, name).send(request, response, out -> {
            if (missing > 0) {
                out.write("# NOT WHOLE: %s\n".formatted(lacks).getBytes(StandardCharsets.UTF_8));
            }
            sums.write(out, manifest, siteId, partial);
        });
    }

    private Experiment experiment(String project, String code) {
        return experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
    }

    private Manifest manifest(Experiment experiment, int number) {
        return manifests
                .find(experiment.id(), number)
                .orElseThrow(Missing.thing("manifest of " + experiment.name() + " with the number", number));
    }

    private static FilePath after(String base64) {
        try {
            return FilePath.of(Base64.getDecoder().decode(base64));
        } catch (IllegalArgumentException e) {
            throw new Refusal("after", "expected the value of next in the previous page");
        }
    }
}
