package dozo.registry;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import java.sql.Types;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** What is known about the scanners: their application entity titles, and when their consoles delete. */
@Component
public class Scanners {

    private static final int AE_TITLES_MAX = 50;
    private static final Pattern AE_TITLE = Pattern.compile("[!-\\[\\]-~]([ -\\[\\]-~]{0,14}[!-\\[\\]-~])?");
    private static final int PURGE_DAYS_MAX = 3_650;

    private static final String SELECT = """
            select s.code, s.purge_days, s.title,
                   array(select ae_title from station where scanner = s.code order by ae_title) as ae_titles
            from scanner s
            """;

    private static final RowMapper<Scanner> SCANNER = Rows.of(Scanner.class);

    private final JdbcClient jdbc;
    private final Ledger ledger;

    /**
     * A scanner.
     *
     * @param code as experiments name it
     * @param aeTitles the titles under which it is booked and sends
     * @param purgeDays after how many days its console deletes what it acquired; null: unknown
     * @param title by what people know it; empty: only by its code
     */
    public record Scanner(
            String code, List<String> aeTitles, @Nullable Integer purgeDays, String title) {

        /** A scanner without a title. */
        public Scanner(String code, List<String> aeTitles, @Nullable Integer purgeDays) {
            this(code, aeTitles, purgeDays, "");
        }

        /** Refuses malformed values. */
        public Scanner {
            Code.checked("scanner", code);
            title = Code.checkedTitle(title.strip());
            aeTitles = aeTitles.stream().map(String::strip).sorted().distinct().toList();
            if (aeTitles.size() > AE_TITLES_MAX) {
                throw new Refusal("aeTitles", "expected at most %d", AE_TITLES_MAX);
            }
            aeTitles.forEach(each -> checkedAeTitle("aeTitles", each));
            if (purgeDays != null && (purgeDays < 1 || purgeDays > PURGE_DAYS_MAX)) {
                throw new Refusal("purgeDays", "%d: expected 1 to %,d days", purgeDays, PURGE_DAYS_MAX);
            }
        }

        private String told() {
            return "titles %s, purged after %s days%s"
                    .formatted(
                            aeTitles.isEmpty() ? "none" : String.join(", ", aeTitles),
                            Objects.toString(purgeDays, "unknown"),
                            title.isEmpty() ? "" : ", title " + title);
        }
    }

    public Scanners(JdbcClient jdbc, Ledger ledger) {
        this.jdbc = jdbc;
        this.ledger = ledger;
    }

    /** Returns at most {@code limit} scanners with codes after {@code after} (empty: from the first), by code, without retired ones. */
    public List<Scanner> page(String after, int limit) {
        return jdbc.sql(SELECT + "where s.code > :after and s.retired_at is null order by s.code limit :limit")
                .params(Map.of("after", after, "limit", limit))
                .query(SCANNER)
                .list();
    }

    /** Returns the day on which its scanner deletes an experiment, as far as that is known. */
    public Optional<LocalDate> deletes(int experimentId) {
        return jdbc.sql("""
                        select e.acquired_on + s.purge_days from experiment e join scanner s on s.code = e.scanner
                        where e.experiment_id = :experiment and e.acquired_on + s.purge_days is not null
                        """)
                .param("experiment", experimentId)
                .query((row, n) -> row.getObject(1, LocalDate.class))
                .optional();
    }

    public Optional<Scanner> find(String code) {
        return jdbc.sql(SELECT + "where s.code = :code")
                .param("code", code)
                .query(SCANNER)
                .optional();
    }

    /**
     * Returns the scanner with this station name: one of its titles, or the code of a known scanner.
     *
     * @param station an application entity title or a StationName, as in images
     */
    public Optional<String> ofStation(String station) {
        return jdbc.sql("select known_scanner(:station)")
                .param("station", station.strip())
                .query((row, n) -> row.getString(1))
                .optional();
    }

    /**
     * Returns the scanner of images, by the same rule as the gap list: the known one with this StationName, else with
     * the sender's title; else the StationName itself if it is a valid code, else the title.
     */
    public Optional<String> of(@Nullable String stationName, @Nullable String sender) {
        return jdbc.sql("select scanner_of(:station, :sender)")
                .param("station", stationName, Types.VARCHAR)
                .param("sender", sender, Types.VARCHAR)
                .query((row, n) -> row.getString(1))
                .optional();
    }

    /**
     * Stores what is known about a scanner.
     *
     * @throws Refusal if one of the titles is another scanner's
     */
    @Transactional
    public void put(Scanner scanner, String actor) {
        boolean fresh = jdbc.sql("insert into scanner (code) values (:code) on conflict do nothing")
                        .param("code", scanner.code)
                        .update()
                == 1;
        // Locked, so that the ledger's "before" is what this change replaces.
        jdbc.sql("select from scanner where code = :code for update")
                .param("code", scanner.code)
                .query()
                .listOfRows();
        Scanner before = find(scanner.code).orElseThrow();
        if (!fresh && before.equals(scanner)) {
            return;
        }
        jdbc.sql("update scanner set purge_days = :days, title = :title where code = :code")
                .param("title", scanner.title)
                .param("days", scanner.purgeDays, Types.INTEGER)
                .param("code", scanner.code)
                .update();
        jdbc.sql("delete from station where scanner = :code")
                .param("code", scanner.code)
                .update();
        try {
            jdbc.sql(
                            "insert into station (ae_title, scanner) select title, :code from unnest(:titles::text[]) as t (title)")
                    .params(Map.of("code", scanner.code, "titles", scanner.aeTitles.toArray(String[]::new)))
                    .update();
        } catch (DuplicateKeyException taken) {
            throw new Refusal("aeTitles", "one of %s belongs to another scanner", scanner.aeTitles);
        }
        ledger.change(actor, "scanner.changed", scanner.code, fresh ? "" : before.told(), scanner.told());
    }

    /** Refuses a malformed application entity title. */
    public static String checkedAeTitle(String field, String aeTitle) {
        if (!AE_TITLE.matcher(aeTitle).matches()) {
            throw new Refusal(field, "\"%s\": expected an application entity title of 1 to 16 characters", aeTitle);
        }
        return aeTitle;
    }
}
