package dozo.api;

import dozo.ledger.Sight;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The sheet of a run's reconciliation for who has logged in to the pages, as {@link AuditDownloads} has those of an audit. */
@RestController
class ReconciliationDownloads {

    private final ReconciliationApi reconciliations;

    ReconciliationDownloads(ReconciliationApi reconciliations) {
        this.reconciliations = reconciliations;
    }

    @GetMapping(path = "/runs/{id}/reconciliation.csv", produces = MediaType.ALL_VALUE)
    void lines(
            @PathVariable long id,
            @RequestParam(required = false) @Nullable Boolean missing,
            Sight sight,
            HttpServletRequest request,
            HttpServletResponse response) {
        reconciliations.lines(id, missing, 0, 1, sight, Sheet.always(request, response));
    }
}
