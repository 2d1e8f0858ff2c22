package dozo.api;

import dozo.ledger.Sight;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * The sheets of an audit for who has logged in to the pages: REST knows no session, so a link of a page cannot lead there. They
 * are the same, written by the same code, whatever the browser says it accepts. A parameter without a value is as one that is
 * missing.
 */
@RestController
@RequestMapping(path = "/audit", produces = MediaType.ALL_VALUE)
class AuditDownloads {

    private final CoverageApi coverage;

    AuditDownloads(CoverageApi coverage) {
        this.coverage = coverage;
    }

    @GetMapping("/coverage.csv")
    void coverage(
            @RequestParam(defaultValue = "project") String by,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String asOf,
            Sight sight,
            HttpServletRequest request,
            HttpServletResponse response) {
        coverage.groups(by, given(site), given(asOf), "", 1, sight, Sheet.always(request, response));
    }

    @GetMapping("/changes.csv")
    void changes(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") String by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            HttpServletRequest request,
            HttpServletResponse response) {
        coverage.changes(from, until, by, given(site), sight, Sheet.always(request, response));
    }

    @GetMapping("/waits.csv")
    void waits(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") String by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            HttpServletRequest request,
            HttpServletResponse response) {
        coverage.waits(from, until, by, given(site), sight, Sheet.always(request, response));
    }

    private static @Nullable String given(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
