package dozo.api;

import dozo.ledger.Sight;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The sheet of the gap list for who has logged in to the pages, as {@link AuditDownloads} has those of an audit. */
@RestController
class GapDownloads {

    private final GapApi gaps;

    GapDownloads(GapApi gaps) {
        this.gaps = gaps;
    }

    @GetMapping(path = "/gaps.csv", produces = MediaType.ALL_VALUE)
    void gaps(
            @RequestParam(required = false) @Nullable String from,
            @RequestParam(required = false) @Nullable String until,
            @RequestParam(required = false) @Nullable String asOf,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String kind,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            HttpServletRequest request,
            HttpServletResponse response) {
        gaps.list(
                given(from),
                given(until),
                given(asOf),
                given(project),
                given(kind),
                all,
                given(site),
                "",
                1,
                sight,
                Sheet.always(request, response));
    }

    private static @Nullable String given(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
