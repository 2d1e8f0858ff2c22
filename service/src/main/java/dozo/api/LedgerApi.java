package dozo.api;

import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.export.Columns;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.verify.LedgerVerification;
import dozo.verify.LedgerVerification.Verified;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The ledger and its verification. */
@RestController
@RequestMapping("/api/v1/ledger")
public record LedgerApi(Ledger ledger, LedgerVerification verification, Moments moments, JsonMapper json) {

    private static final Columns<LedgerEntry> ROWS = Columns.of(LedgerEntry.class);

    /** A ledger row. */
    public record ShownRow(
            long seq, Instant at, String actor, String action, String subject, JsonNode detail, String hash) {}

    /**
     * Lists ledger rows, oldest first. {@code after} is a {@code seq}.
     *
     * @param actor who did it: a user, or {@code dozo} for the program
     */
    @GetMapping
    @Nullable
    Page<ShownRow> list(
            @RequestParam(required = false) @Nullable String subject,
            @RequestParam(required = false) @Nullable String action,
            @RequestParam(required = false) @Nullable String actor,
            @RequestParam(required = false) @Nullable String from,
            @RequestParam(required = false) @Nullable String until,
            @RequestParam(defaultValue = "0") long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sheet sheet) {
        Filter wanted = new Filter(
                subject,
                action,
                actor,
                from == null ? null : moments.begin("from", from),
                moments.endOrNull("until", until));
        Page<LedgerEntry> page = sheet.page(
                "ledger", ROWS, after, limit, (last, most) -> ledger.page(wanted, last, most), LedgerEntry::seq);
        return page == null ? null : page.map(this::shown);
    }

    /**
     * Verifies the ledger by its hash chain and the sites' anchors. The response is 200, whatever the verdict. The time grows with
     * the number of rows; requests are processed one at a time.
     */
    @GetMapping("/verification")
    Verified verify() throws InterruptedException {
        return verification.verify();
    }

    private ShownRow shown(LedgerEntry row) {
        return new ShownRow(
                row.seq(), row.at(), row.actor(), row.action(), row.subject(), json.readTree(row.detail()), row.hash());
    }
}
