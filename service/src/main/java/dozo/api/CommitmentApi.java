package dozo.api;

import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.verify.CommitmentRequests;
import dozo.verify.CommitmentRequests.CommitmentRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What scanners asked by DICOM Storage Commitment. */
@Verb.Group(name = "commitment", about = "What scanners asked by DICOM Storage Commitment", section = "Daily work")
@RestController
@RequestMapping("/api/v1/commitments")
public record CommitmentApi(CommitmentRequests requests) {

    /** Lists the requests of the last 90 days, the newest first: who asked about how many objects, and what was reported. */
    @Verb(
            value = "commitment list limit=100",
            about = "Lists the latest requests of Storage Commitment.",
            columns = {
                ">REQUEST={id}",
                "FROM={caller}",
                "ASKED={askedAt}",
                ">IMAGES={images number}",
                ">SAFE={committed number}",
                ">NOT SAFE={failed number}",
                "STATE={state words}",
                ">FAILED REPORTS={attempts number}",
                "MESSAGE={message}"
            },
            none = "No request yet.",
            example = "dozo commitment list")
    @GetMapping
    Page<CommitmentRequest> list(
            @RequestParam(required = false) @Nullable Long after, @RequestParam(defaultValue = Page.LIMIT) int limit) {
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> requests.page(before, most), CommitmentRequest::id);
    }
}
