package dozo.api;

import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.export.Columns;
import dozo.ledger.Anchor;
import dozo.ledger.Breach;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.verify.LedgerVerification;
import dozo.verify.LedgerVerification.AtSite;
import dozo.verify.LedgerVerification.Verdict;
import dozo.verify.LedgerVerification.Verified;
import java.time.Instant;
import java.util.List;
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
public class LedgerApi {

    /** Number of rows that a sheet reads at once. */
    private static final int SHEET_PAGE = 5_000;

    private static final Columns<LedgerEntry> ROWS = Columns.of(LedgerEntry.class);

    private final Ledger ledger;
    private final LedgerVerification verification;
    private final Moments moments;
    private final JsonMapper json;

    /** A ledger row. */
    public record ShownRow(
            long seq, Instant at, String actor, String action, String subject, JsonNode detail, String hash) {}

    /** The last row of the ledger. */
    public record ShownHead(long seq, String hash, Instant at) {

        static ShownHead of(Anchor head) {
            return new ShownHead(head.seq(), head.hash().toString(), head.at());
        }
    }

    /**
     * The result of a verification.
     *
     * @param rows the number of rows, all of which were checked
     * @param breaches the breaches found, in the order of the rows; at most 100
     * @param breachesLeftOff the number of further breaches
     */
    public record ShownVerification(
            Verdict verdict,
            long rows,
            @Nullable ShownHead head,
            List<Breach> breaches,
            long breachesLeftOff,
            List<ComparedSite> sites) {

        static ShownVerification of(Verified verified) {
            return new ShownVerification(
                    verified.verdict(),
                    verified.rows(),
                    verified.head() == null ? null : ShownHead.of(verified.head()),
                    verified.breaches(),
                    verified.breachesCount() - verified.breaches().size(),
                    verified.sites().stream().map(ComparedSite::of).toList());
        }
    }

    /**
     * The comparison with one site.
     *
     * @param compared whether all its anchors were read
     * @param trouble why not
     * @param provenUpTo the last row that an anchor there proves; missing: none
     */
    public record ComparedSite(
            String site,
            boolean compared,
            @Nullable String trouble,
            long anchors,
            @Nullable Long provenUpTo,
            List<Breach> breaches,
            long breachesLeftOff) {

        static ComparedSite of(AtSite site) {
            return new ComparedSite(
                    site.site(),
                    site.trouble() == null,
                    site.trouble(),
                    site.anchors(),
                    site.provenUpTo() == 0 ? null : site.provenUpTo(),
                    site.breaches(),
                    site.breachesCount() - site.breaches().size());
        }
    }

    LedgerApi(Ledger ledger, LedgerVerification verification, Moments moments, JsonMapper json) {
        this.ledger = ledger;
        this.verification = verification;
        this.moments = moments;
        this.json = json;
    }

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
        if (sheet.wanted()) {
            sheet.send(
                    "ledger",
                    ROWS,
                    Sheet.paged(
                            SHEET_PAGE, (last, most) -> ledger.page(wanted, last == null ? after : last.seq(), most)));
            return null;
        }
        return Page.of(limit, most -> ledger.page(wanted, after, most), LedgerEntry::seq)
                .map(this::shown);
    }

    /**
     * Verifies the ledger by its hash chain and the sites' anchors. The response is 200, whatever the verdict. The time grows with
     * the number of rows; requests are processed one at a time.
     */
    @GetMapping("/verification")
    ShownVerification verify() throws InterruptedException {
        return ShownVerification.of(verification.verify());
    }

    private ShownRow shown(LedgerEntry row) {
        return new ShownRow(
                row.seq(), row.at(), row.actor(), row.action(), row.subject(), json.readTree(row.detail()), row.hash());
    }
}
