package dozo.worklist;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.JudgedBooking.Outcome;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Bookings are stored from a booking system's export, with a verdict for each line and without anybody's name. */
class BookingsTest {

    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-11-21T12:00:00Z"));

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Projects projects = new Projects(jdbc, ledger, CLOCK);
    private final PseudonymousCode codes = new PseudonymousCode("a key for tests, of many bytes".getBytes(US_ASCII));
    private final Bookings bookings = new Bookings(jdbc, ledger, codes, CLOCK, new JdbcTransactionManager(database));

    @Test
    void anExportInShiftJisIsKeptWithoutAnybodysNameOrId() throws IOException {
        projects.create("P1", "", "test");
        String csv = "受付番号,患者ID,患者氏名,生年月日,検査日,予約時刻,装置,モダリティ,検査内容,シリーズ数,課題\r\n"
                + "A26-0417,S0123,山田　太郎,1990/01/02,令和8年12月1日,9:30,MR7T01,MR,7T 視覚実験,5,P1\r\n";

        Bookings.Answer answer = keep(Sight.EVERYTHING, csv, Charset.forName("windows-31j"), false);

        assertThat(answer.encoding()).isEqualTo("windows-31j");
        assertThat(answer.lines())
                .containsExactly(new JudgedBooking(
                        2,
                        Outcome.BOOKED,
                        "A26-0417",
                        new Booking(
                                "A26-0417",
                                "P1",
                                null,
                                "MR7T01",
                                "MR",
                                LocalDate.of(2026, 12, 1),
                                LocalTime.of(9, 30),
                                "7T 視覚実験",
                                5,
                                codes.of("S0123").orElseThrow()),
                        null,
                        null));
        String everything = jdbc.sql("select string_agg(t::text, '|') from booking t")
                        .query(String.class)
                        .single()
                + ledger.after(0, 100);
        assertThat(everything)
                .contains("A26-0417", codes.of("S0123").orElseThrow())
                .doesNotContain("S0123", "山田", "太郎", "1990");
    }

    @Test
    void oneBadLineKeepsAllFromBeingKept() throws IOException {
        Bookings.Answer answer =
                keep("accession,date\nA1,2026-12-01\nA2,tomorrow\n,2026-12-01\nA1,2026-12-02\nA 4,2026-12-02\n");

        assertThat(answer.lines())
                .extracting(JudgedBooking::outcome)
                .containsExactly(Outcome.ACCEPTED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED);
        assertThat(answer.lines())
                .extracting(JudgedBooking::field)
                .containsExactly(null, "date", "accession", "accession", "accession");
        assertThat(count()).isZero();
        assertThat(ledger.last()).isZero();
    }

    @Test
    void toldAgainItIsAsItIsToldAndWhatIsNotSaidStays() throws IOException {
        keep("accession,date,time,station,series\nA1,2026-12-01,10:00,MR1,5\n");
        long before = ledger.last();
        assertThat(keep("accession,date,time\nA1,2026-12-01,10:00\n")
                        .lines()
                        .getFirst()
                        .outcome())
                .isEqualTo(Outcome.UNCHANGED);
        assertThat(ledger.last()).isEqualTo(before);

        JudgedBooking moved = keep("accession,date\nA1,2026-12-08\n").lines().getFirst();

        assertThat(moved.outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(moved.booking())
                .isEqualTo(new Booking("A1", null, null, "MR1", null, LocalDate.of(2026, 12, 8), null, "", 5, null));
        LedgerEntry told = ledger.after(before, 10).getLast();
        assertThat(told.action()).isEqualTo("booking.changed");
        assertThat(told.subject()).isEqualTo("A1");
        assertThat(told.detail()).contains("on 2026-12-01 at 10:00", "on 2026-12-08 at unknown");
    }

    @Test
    void aDryRunKeepsNothing() throws IOException {
        assertThat(keep(Sight.EVERYTHING, "accession,date\nA1,2026-12-01\n", UTF_8, true)
                        .lines())
                .extracting(JudgedBooking::outcome)
                .containsExactly(Outcome.ACCEPTED);
        assertThat(count()).isZero();
    }

    @Test
    void whoSeesOnlySomeProjectsBooksAndChangesOnlyTheirs() throws IOException {
        projects.create("P1", "", "test");
        projects.create("P2", "", "test");
        Sight own = Sight.of(List.of("P1"));
        keep("accession,date,project\nA1,2026-12-01,P1\nA2,2026-12-01,P2\nA3,2026-12-01,\n");

        Bookings.Answer answer = keep(
                own,
                "accession,date,project\nA1,2026-12-02,P1\nA2,2026-12-02,P1\nA3,2026-12-02,P1\nA4,2026-12-01,P2\nA5,2026-12-01,\n",
                UTF_8,
                true);

        assertThat(answer.lines())
                .extracting(JudgedBooking::outcome)
                .containsExactly(Outcome.ACCEPTED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED);
        assertThat(answer.lines())
                .extracting(JudgedBooking::field)
                .containsExactly(null, "accession", "accession", "project", "project");
    }

    @Test
    void ofTwoFirstTellingsAtOnceTheSecondIsOneAgain() throws Exception {
        JudgedBooking second = Race.behind(
                        database,
                        () -> keep("accession,date,study,series\nA1,2026-12-01,1.2.3,5\n"),
                        () -> keep("accession,date,time\nA1,2026-12-01,10:00\n"))
                .get()
                .lines()
                .getFirst();

        assertThat(second.outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(second.booking())
                .isEqualTo(new Booking(
                        "A1", null, "1.2.3", null, null, LocalDate.of(2026, 12, 1), LocalTime.of(10, 0), "", 5, null));
        assertThat(jdbc.sql("select study_uid from booking").query(String.class).single())
                .isEqualTo("1.2.3");
        assertThat(ledger.after(0, 10))
                .extracting(LedgerEntry::action)
                .containsExactly("booking.made", "booking.changed");
    }

    @Test
    void whatIsJustBeingBookedForAProjectIsNotTakenByAnother() throws Exception {
        projects.create("P1", "", "test");
        projects.create("P2", "", "test");

        JudgedBooking second = Race.behind(
                        database,
                        () -> keep("accession,date,project\nA1,2026-12-01,P1\n"),
                        () -> keep(Sight.of(List.of("P2")), "accession,date,project\nA1,2026-12-02,P2\n", UTF_8, false))
                .get()
                .lines()
                .getFirst();

        assertThat(second.outcome()).isEqualTo(Outcome.REFUSED);
        assertThat(second.field()).isEqualTo("accession");
    }

    @Test
    void whatIsJustBeingMovedToAProjectIsChangedByThatProject() throws Exception {
        projects.create("P1", "", "test");
        projects.create("P2", "", "test");
        keep("accession,date,project\nA1,2026-12-01,P1\n");

        JudgedBooking second = Race.behind(
                        database,
                        () -> keep("accession,date,project\nA1,2026-12-01,P2\n"),
                        () -> keep(Sight.of(List.of("P2")), "accession,date\nA1,2026-12-02\n", UTF_8, false))
                .get()
                .lines()
                .getFirst();

        assertThat(second.outcome()).isEqualTo(Outcome.CHANGED);
    }

    @ParameterizedTest
    @CsvSource({
        "25:00, time",
        "half past nine, time",
    })
    void aTimeThatIsNoneIsRefused(String time, String field) throws IOException {
        assertThat(keep("accession,date,time\nA1,2026-12-01,%s\n".formatted(time))
                        .lines()
                        .getFirst()
                        .field())
                .isEqualTo(field);
    }

    @ParameterizedTest
    @CsvSource({"9:30,09:30", "09:30:15,09:30:15", "093015,09:30:15", "093015.123,09:30:15", "0930,09:30"})
    void timesAreReadAsTheyAreWritten(String written, LocalTime time) {
        assertThat(Bookings.time(written)).isEqualTo(time);
    }

    @Test
    void aColumnThatNobodyKnowsIsRefusedAndOneOfAPersonIsNotRead() throws IOException {
        assertThatThrownBy(() -> keep("accession,date,colour\nA1,2026-12-01,red\n"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("colour");
        assertThat(keep("accession,date,氏名,カナ氏名,性別\nA1,2026-12-01,\"山田\n太郎\",ヤマダ,M\n")
                        .lines()
                        .getFirst()
                        .outcome())
                .isEqualTo(Outcome.BOOKED);
    }

    private int count() {
        return jdbc.sql("select count(*) from booking").query(Integer.class).single();
    }

    private Bookings.Answer keep(String csv) throws IOException {
        return keep(Sight.EVERYTHING, csv, UTF_8, false);
    }

    private Bookings.Answer keep(Sight sight, String csv, Charset charset, boolean dryRun) throws IOException {
        return bookings.keep(sight, new ByteArrayInputStream(csv.getBytes(charset)), null, dryRun, "ris");
    }
}
