package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.registry.Capacity.Outlook;
import dozo.registry.Capacity.Seen;
import dozo.remote.SiteAddress;
import dozo.remote.Space;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The forecast when a site will be full follows from the free space of the days before; without enough of them there is
 * no forecast.
 */
class CapacityTest {

    private static final Instant FIRST = Instant.parse("2026-10-01T12:00:00Z");
    private static final long GIB = 1L << 30;
    private static final long TOTAL = 10_000 * GIB;

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private Instant now = FIRST;
    private final Capacities capacities = new Capacities(jdbc, () -> now);
    private final int site = new Sites(jdbc, new Ledger(jdbc, () -> now), () -> now)
            .save(
                    "dr",
                    new SiteAddress("dr.example.org", 22, "dozo", "/backup", Path.of("/key"), "ssh-ed25519 AAAA"),
                    "test")
            .id();

    @Test
    void nothingIsKnownBeforeALook() {
        assertThat(capacities.of(site)).isEmpty();
    }

    @Test
    void whatFillsByAsMuchEveryDayHasItsDay() {
        look(20, day -> 4_000 - 100 * day);

        Capacity known = known();
        assertThat(known.outlook()).isEqualTo(Outlook.FILLING);
        assertThat(known.bytesPerDay()).isEqualTo(100 * GIB);
        assertThat(known.freeBytes()).isEqualTo(2_100 * GIB);
        assertThat(known.percentFull()).isEqualTo(79);
        assertThat(known.fullAt()).isEqualTo(now.plus(Duration.ofDays(21)));
    }

    @Test
    void theHistoryHasOneCheckADayAndAlwaysTheLast() {
        assertThat(capacities.history(site, Instant.EPOCH)).isEmpty();
        look(20, day -> 4_000 - 100 * day);

        assertThat(capacities.history(site, Instant.EPOCH))
                .hasSize(20)
                .startsWith(new Seen(FIRST, TOTAL, 4_000 * GIB))
                .endsWith(new Seen(now, TOTAL, 2_100 * GIB));
        assertThat(capacities.history(site, now.plusSeconds(1))).containsExactly(new Seen(now, TOTAL, 2_100 * GIB));
        assertThat(capacities.history(site + 1, Instant.EPOCH)).isEmpty();
    }

    @Test
    void oneUnusualDayDoesNotTurnIt() {
        look(27, day -> 4_000 - 100 * day - (day == 13 ? 500 : 0));

        assertThat(known().bytesPerDay()).isBetween(98 * GIB, 102 * GIB);
    }

    @Test
    void ofTooFewDaysNothingFollows() {
        look(7, day -> 4_000 - 100 * day);
        assertThat(known().outlook()).as("six days from the first").isEqualTo(Outlook.TOO_LITTLE_KNOWN);
        assertThat(known().fullAt()).isNull();

        look(8, day -> 4_000 - 100 * day);
        assertThat(known().outlook()).as("seven").isEqualTo(Outlook.FILLING);
    }

    @Test
    void twoLooksThatAreFarApartAreTooFew() {
        keep(TOTAL, 4_000 * GIB);
        now = now.plus(Duration.ofDays(20));
        keep(TOTAL, 2_000 * GIB);

        assertThat(known().outlook()).isEqualTo(Outlook.TOO_LITTLE_KNOWN);
    }

    @Test
    void whatDoesNotBecomeLessIsNeverFull() {
        look(20, day -> 4_000);

        assertThat(known().outlook()).isEqualTo(Outlook.NOT_FILLING);
        assertThat(known().bytesPerDay()).isNull();
    }

    @Test
    void whatWouldTakeMoreThanTenYearsHasNoDay() {
        look(20, day -> 8_000 - day);

        assertThat(known().outlook()).isEqualTo(Outlook.FAR);
        assertThat(known().bytesPerDay()).isEqualTo(GIB);
        assertThat(known().fullAt()).isNull();
    }

    @Test
    void whatIsFullIsFullWhateverWasBefore() {
        keep(TOTAL, 100);

        assertThat(known().outlook()).isEqualTo(Outlook.FULL);
        assertThat(known().percentFull()).isEqualTo(100);
    }

    @Test
    void anEnlargedSiteBeginsAnew() {
        look(20, day -> 2_000 - 100 * day);
        now = now.plus(Duration.ofDays(1));
        keep(2 * TOTAL, TOTAL);

        assertThat(known().outlook()).isEqualTo(Outlook.TOO_LITTLE_KNOWN);
    }

    @Test
    void whatIsOldSaysNothingButWhatWasLast() {
        look(20, day -> 4_000 - 100 * day);
        now = now.plus(Duration.ofDays(60));

        assertThat(known().outlook()).isEqualTo(Outlook.TOO_LITTLE_KNOWN);
        assertThat(known().freeBytes()).isEqualTo(2_100 * GIB);
    }

    @Test
    void whatWasToBeFullByNowIsNotSaidOfThePast() {
        look(20, day -> 2_100 - 100 * day);
        now = now.plus(Duration.ofDays(8));

        assertThat(known().fullAt()).isEqualTo(now);
    }

    @Test
    void whatWillBeFullInThreeMonthsIsPressing() {
        look(20, day -> 4_000 - 20 * day);
        assertThat(known().pressing(now)).as("181 days").isFalse();
        assertThat(known().pressing(now.plus(Duration.ofDays(92))))
                .as("89 days")
                .isTrue();
    }

    @Test
    void aDayKeepsItsLastLookAndTwoYearsAreKept() {
        keep(TOTAL, 4_000 * GIB);
        now = now.plus(Duration.ofHours(1));
        keep(TOTAL, 3_000 * GIB);
        assertThat(rows()).isEqualTo(1);
        assertThat(known().freeBytes()).isEqualTo(3_000 * GIB);

        now = now.plus(Duration.ofDays(800));
        keep(TOTAL, 2_000 * GIB);
        assertThat(rows()).isEqualTo(1);
    }

    /** Checks the site once a day from the first day on. */
    private void look(int days, LongUnaryOperator freeGib) {
        for (long day = 0; day < days; day++) {
            now = FIRST.plus(Duration.ofDays(day));
            keep(TOTAL, freeGib.applyAsLong(day) * GIB);
        }
    }

    private void keep(long totalBytes, long freeBytes) {
        capacities.keep(site, new Space(totalBytes, freeBytes, Long.MAX_VALUE, false));
    }

    private Capacity known() {
        return capacities.of(site).orElseThrow();
    }

    private long rows() {
        return jdbc.sql("select count(*) from site_space").query(Long.class).single();
    }
}
