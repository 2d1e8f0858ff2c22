package dozo.api;

import dozo.api.http.Missing;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.worklist.Studies;
import dozo.worklist.Studies.Kept;
import dozo.worklist.Studies.Study;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The answer that a console needs before it deletes a study. */
@RestController
record StudyApi(Studies studies, SiteChoice sites) {

    /**
     * The state of a study. Delete it only if {@code verified} is true.
     *
     * @param site missing: no site is registered
     * @param received the number of instances that arrived, in {@code series} series
     * @param receivedAt when the last of them arrived
     * @param collected the number of instances in the source of {@code experiment}; missing: unknown
     * @param files the number of files in the experiment's current manifest, {@code filesVerified} of them with receipts from the
     *     site; missing: no manifest was sealed since the last instance was collected
     * @param copied whether all of these files are at the site
     * @param verified whether every entry of that manifest has a receipt from the site, and at least {@code instances} arrived;
     *     false if unknown
     * @param verifiedAt since when; missing: it is not verified
     */
    record ShownStudy(
            String studyInstanceUid,
            @Nullable String site,
            int series,
            int received,
            Instant receivedAt,
            @Nullable String experiment,
            @Nullable Integer collected,
            @Nullable Instant collectedAt,
            @Nullable Long files,
            @Nullable Long filesVerified,
            boolean copied,
            boolean verified,
            @Nullable Instant verifiedAt) {

        static ShownStudy of(Kept kept, @Nullable String site, boolean all) {
            Study study = kept.study();
            return new ShownStudy(
                    study.uid(),
                    site,
                    study.series(),
                    study.instances(),
                    study.lastAt(),
                    kept.experiment(),
                    study.instancesCollected(),
                    study.collectedAt(),
                    kept.files(),
                    kept.filesSafe(),
                    kept.copied() && all,
                    kept.verified() && all,
                    all ? kept.verifiedAt() : null);
        }
    }

    /** Shows whether a study may be deleted where it came from. 404: nothing of it has arrived, or you may not see it. */
    @GetMapping("/api/v1/studies/{studyInstanceUid}")
    ShownStudy study(
            @PathVariable String studyInstanceUid,
            @RequestParam(required = false) @Nullable Integer instances,
            @RequestParam(required = false) @Nullable String site,
            Sight sight) {
        if (instances != null && instances < 1) {
            throw new Refusal("instances", "%d: expected 1 or more", instances);
        }
        Optional<Site> chosen = sites.of(site);
        Kept kept = studies.kept(sight, studyInstanceUid, chosen.map(Site::id).orElse(Sites.NO_SITE))
                .orElseThrow(Missing.thing("study", studyInstanceUid));
        boolean all = instances == null || kept.study().instances() >= instances;
        return ShownStudy.of(kept, chosen.map(Site::name).orElse(null), all);
    }
}
