package dozo.worklist;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.Gaps.Filter;
import dozo.worklist.Gaps.Gap;
import dozo.worklist.Studies.Kept;
import dozo.worklist.Studies.ReceivedSeries;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The gap list finds every difference from the plan, and nothing else. */
class GapsTest {

    private static final long SEED = 20261121;

    /** When everything in this test is booked. */
    private static final Instant BEFORE = Instant.parse("2026-11-01T00:00:00Z");

    /** The visit is booked for the 10th at 10 in Tokyo. */
    private static final Instant VISIT = Instant.parse("2026-11-10T01:00:00Z");

    private static final LocalDate DAY = LocalDate.of(2026, 11, 10);
    private static final Instant LATER = VISIT.plus(Duration.ofDays(5));

    @TempDir
    Path folder;

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final InstantSource clock = InstantSource.fixed(BEFORE);
    private final Ledger ledger = new Ledger(jdbc, clock);
    private final Projects projects = new Projects(jdbc, ledger, clock);
    private final PseudonymousCode codes = new PseudonymousCode("a key for tests, of many bytes".getBytes(US_ASCII));
    private final Bookings bookings = new Bookings(jdbc, ledger, codes, clock, new JdbcTransactionManager(database));
    private final Studies studies = new Studies(jdbc);
    private final Scanners scanners = new Scanners(jdbc, ledger);
    private final Gaps gaps = new Gaps(jdbc, new Lateness(Duration.ofHours(24), Replay.ZONE));

    @Test
    void ofAThousandReplayedBookingsEveryFaultIsFoundAndNothingElse() {
        Replay replay = new Replay(SEED, 1_000, 50, codes);
        InstantSource begin = InstantSource.fixed(Instant.parse("2026-06-01T00:00:00Z"));
        JdbcTransactionManager transactions = new JdbcTransactionManager(database);
        Bookings before = new Bookings(jdbc, ledger, codes, begin, transactions);
        // In one transaction: this test is about the list, not about how fast a disk stores 5,000 series.
        new TransactionTemplate(transactions).executeWithoutResult(status -> replay.play(scanners, before, studies));
        jdbc.sql("analyze").update();

        var scores = replay.score(gaps);

        System.out.println("seed " + SEED + ": " + scores);
        scores.forEach((kind, score) -> {
            assertThat(score.found()).as("%s found", kind).isEqualTo(score.seeded());
            assertThat(score.right()).as("%s right", kind).isEqualTo(score.seeded());
        });
        assertThat(scores.get(GapKind.UNPLANNED).seeded()).isZero();
        assertThat(scores.get(GapKind.PARTLY).precision()).isEqualTo(1.0, within(0.0));
        assertThat(scores.get(GapKind.LATE).recall()).isEqualTo(1.0, within(0.0));
        assertThat(jdbc.sql("select count(*) from booking").query(Integer.class).single())
                .isEqualTo(1_000);
        aDayHasTheLinesThatTheWholeListHasForIt(Instant.parse("2028-01-01T00:00:00Z"));
    }

    private void aDayHasTheLinesThatTheWholeListHasForIt(Instant at) {
        List<Gap> whole = gaps.page(Sight.EVERYTHING, wanted(at, true), 0, "", 10_000);
        List<LocalDate> days = whole.stream()
                .flatMap(line -> Stream.ofNullable(line.date()))
                .distinct()
                .toList();
        assertThat(days).hasSizeGreaterThan(20);
        for (LocalDate day : days) {
            assertThat(gaps.page(Sight.EVERYTHING, new Filter(day, day, at, null, null, true), 0, "", 10_000))
                    .as("%s", day)
                    .isEqualTo(whole.stream()
                            .filter(line -> day.equals(line.date()))
                            .toList());
        }
        LocalDate middle = days.get(days.size() / 2);
        assertThat(gaps.page(Sight.EVERYTHING, new Filter(null, middle, at, null, null, true), 0, "", 10_000))
                .isEqualTo(whole.stream()
                        .filter(line -> line.date() != null && !line.date().isAfter(middle))
                        .toList());
    }

    @Test
    void whatArrivedAsPlannedIsNoGap() throws IOException {
        book("A1,2026-11-10,10:00,MR1,2,2.25.1,");
        receive("2.25.1", "2.25.1.1", "A1", "MR1", VISIT);
        receive("2.25.1", "2.25.1.2", "A1", "MR1", VISIT.plusSeconds(60));

        assertThat(list(LATER)).isEmpty();
        Gap line = all(LATER).getFirst();
        assertThat(line.accession()).isEqualTo("A1");
        assertThat(line.series()).isEqualTo(2);
        assertThat(line.instances()).isEqualTo(20);
        assertThat(line.arrivedAt()).isEqualTo(VISIT);
        assertThat(line.copied()).isFalse();
        assertThat(line.verified()).isFalse();
    }

    @Test
    void neverScannedIsSaidOnceItIsDueAndNotBefore() throws IOException {
        book("A1,2026-11-10,10:00,MR1,,,");
        book("A2,2026-11-10,,MR1,,,");

        assertThat(list(VISIT.plus(Duration.ofHours(23)))).isEmpty();
        assertThat(found(VISIT.plus(Duration.ofHours(25)), "A1")).containsExactly(GapKind.NEVER_SCANNED);
        // A visit without a time may be scanned until midnight.
        assertThat(found(VISIT.plus(Duration.ofHours(25)), "A2")).isEmpty();
        assertThat(found(VISIT.plus(Duration.ofHours(39)), "A2")).containsExactly(GapKind.NEVER_SCANNED);
    }

    @Test
    void asOfAnEarlierMomentOnlyWhatWasKnownThenCounts() throws IOException {
        book("A1,2026-11-10,10:00,MR1,2,,");
        receive("2.25.1", "2.25.1.1", "A1", "MR1", VISIT.plus(Duration.ofDays(2)));
        receive("2.25.1", "2.25.1.2", "A1", "MR1", VISIT.plus(Duration.ofDays(4)));

        assertThat(found(VISIT.plus(Duration.ofDays(1)).plusSeconds(1), "A1")).containsExactly(GapKind.NEVER_SCANNED);
        assertThat(found(VISIT.plus(Duration.ofDays(3)), "A1")).containsExactly(GapKind.LATE, GapKind.PARTLY);
        assertThat(found(LATER, "A1")).containsExactly(GapKind.LATE);
        assertThat(all(BEFORE.minusSeconds(1))).isEmpty();
    }

    @Test
    void aSeriesThatWasCutShortIsPartly() throws IOException {
        book("A1,2026-11-10,10:00,MR1,,,");
        receive("2.25.1", "2.25.1.1", "A1", null, DAY, null, null, "MR1", 9, 10, VISIT);

        assertThat(found(VISIT.plusSeconds(60), "A1")).isEmpty();
        assertThat(found(LATER, "A1")).containsExactly(GapKind.PARTLY);
    }

    @Test
    void aStudyInPartsIsSplit() throws IOException {
        book("A1,2026-11-10,10:00,MR1,2,2.25.1,");
        receive("2.25.1", "2.25.1.1", "A1", "MR1", VISIT);
        receive("2.25.2", "2.25.2.1", "A1", "MR1", VISIT);

        assertThat(found(LATER, "A1")).containsExactly(GapKind.SPLIT);
        assertThat(all(LATER).getFirst().studies()).containsExactly("2.25.1", "2.25.2");
    }

    @Test
    void twoVisitsUnderOneUidAreBothNamed() throws IOException {
        book("A1,2026-11-10,10:00,MR1,,2.25.1,");
        book("A2,2026-11-10,11:00,MR1,,2.25.2,");
        receive("2.25.1", "2.25.1.1", "A1", "MR1", VISIT);
        receive("2.25.1", "2.25.1.2", "A2", "MR1", VISIT.plusSeconds(3_600));

        assertThat(found(LATER, "A1")).containsExactly(GapKind.SAME_UID_TWICE);
        assertThat(found(LATER, "A2")).containsExactly(GapKind.SAME_UID_TWICE);
    }

    @Test
    void theSameVisitOnAnotherDayUnderItsUidIsNamed() throws IOException {
        book("A1,2026-11-10,10:00,MR1,,2.25.1,");
        receive("2.25.1", "2.25.1.1", "A1", "MR1", VISIT);
        receive("2.25.1", "2.25.1.1", "A1", null, DAY.plusDays(1), null, null, "MR1", 9, null, LATER);

        assertThat(found(LATER.plusSeconds(1), "A1")).containsExactly(GapKind.SAME_UID_TWICE);
    }

    @Test
    void anotherStationIsWrongUnlessItIsTheSameScanner() throws IOException {
        scanners.put(new Scanner("T7", List.of("MR1", "MR1B"), null), "test");
        scanners.put(new Scanner("T3", List.of("MR2"), 14), "test");
        book("A1,2026-11-10,10:00,MR1,,,");
        book("A2,2026-11-10,11:00,MR1,,,");
        book("A3,2026-11-10,12:00,MR1,,,");
        receive("2.25.1", "2.25.1.1", "A1", "MR1B", VISIT);
        receive("2.25.2", "2.25.2.1", "A2", "MR2", VISIT);
        receive("2.25.3", "2.25.3.1", "A3", "STRAY", VISIT);
        assertThat(found(LATER, "A1")).isEmpty();
        assertThat(found(LATER, "A2")).containsExactly(GapKind.WRONG_STATION);
        assertThat(found(LATER, "A3")).containsExactly(GapKind.WRONG_STATION);
        // Derived images come from another station; the images themselves do not.
        receive("2.25.3", "2.25.3.2", "A3", "MR1", VISIT);
        assertThat(found(LATER, "A3")).isEmpty();
    }

    @Test
    void theImagesSayWhichScannerItWasAndTheSenderOnlyIfTheyDoNot() throws IOException {
        book("A1,2026-11-10,10:00,PRISMA,,,");
        book("A2,2026-11-10,11:00,PRISMA,,,");
        book("A3,2026-11-10,12:00,PRISMA,,,");
        book("A4,2026-11-10,13:00,PRISMA,,,");
        receive("2.25.1", "A1", "PRISMA", "ROUTER");
        receive("2.25.2", "A2", "TERRA", null);
        receive("2.25.3", "A3", "TERRA", "PRISMA");
        receive("2.25.4", "A4", "3T 東", "PRISMA");
        expectGapsOfStations();
        scanners.put(new Scanner("T3", List.of("PRISMA"), null), "test");
        scanners.put(new Scanner("TERRA", List.of("MR7T01"), null), "test");
        expectGapsOfStations();
        // Only of known scanners the sender counts more than an unknown name.
        scanners.put(new Scanner("TERRA", List.of(), null), "test");
        receive("2.25.2", "A2", "MRC35077", "PRISMA");
        assertThat(found(LATER, "A2")).isEmpty();
    }

    private void expectGapsOfStations() {
        assertThat(found(LATER, "A1")).isEmpty();
        assertThat(found(LATER, "A2")).containsExactly(GapKind.WRONG_STATION);
        assertThat(found(LATER, "A3")).containsExactly(GapKind.WRONG_STATION);
        assertThat(found(LATER, "A4")).as("a name that is no code").isEmpty();
    }

    @Test
    void anotherSubjectThanBookedIsNamedWithBothCodes() throws IOException {
        bookFor("A1,2026-11-10,10:00,0123");
        bookFor("A2,2026-11-10,11:00,0456");
        bookFor("A3,2026-11-10,12:00,");
        bookFor("A4,2026-11-10,13:00,0789");
        acquire("2.25.1", "2.25.1.1", "A1", "0999", VISIT);
        acquire("2.25.1", "2.25.1.2", "A1", "0999", VISIT);
        acquire("2.25.2", "2.25.2.1", "A2", " ０４５６ ", VISIT);
        acquire("2.25.3", "2.25.3.1", "A3", "0999", VISIT);
        acquire("2.25.4", "2.25.4.1", "A4", null, VISIT);

        // Values missing in the booking or the images agree with everything.
        assertThat(list(LATER)).singleElement().satisfies(line -> {
            assertThat(line.accession()).isEqualTo("A1");
            assertThat(line.gaps()).containsExactly(GapKind.WRONG_SUBJECT);
            assertThat(line.subject()).isEqualTo(code("0123"));
            assertThat(line.subjectsAcquired()).containsExactly(code("0999"));
        });
        // One series of another subject is enough, under the visit's UID or another.
        acquire("2.25.22", "2.25.22.1", "A2", "0999", VISIT);
        assertThat(found(LATER, "A2")).containsExactly(GapKind.SPLIT, GapKind.WRONG_SUBJECT);
        acquire("2.25.4", "2.25.4.2", "A4", "0789", VISIT);
        assertThat(found(LATER, "A4")).isEmpty();
        acquire("2.25.4", "2.25.4.3", "A4", "0999", VISIT);
        assertThat(found(LATER, "A4")).containsExactly(GapKind.SAME_UID_TWICE, GapKind.WRONG_SUBJECT);
    }

    @Test
    void theSubjectOfAScanWithoutANumberIsTheBookingsWhoseUidItHasAndNotThatOfItsNeighbours() throws IOException {
        book("A1,2026-11-10,10:00,MR1,,2.25.1,");
        bookFor("A1,2026-11-10,10:00,0123");
        bookFor("A2,2026-11-10,11:00,0456");
        acquire("2.25.1", "2.25.1.1", null, "0999", VISIT);
        assertThat(found(LATER, "A1")).containsExactly(GapKind.WRONG_SUBJECT);
        acquire("2.25.2", "2.25.2.1", "A2", "0456", VISIT);
        acquire("2.25.2", "2.25.2.2", null, "0999", VISIT);
        // Only the other series of the study name the booking: two visits under one UID.
        assertThat(found(LATER, "A2")).containsExactly(GapKind.SAME_UID_TWICE);
    }

    @Test
    void anotherDayThanBookedIsNamedAndTheHoursAfterMidnightAreTheNightBefore() throws IOException {
        book("A1,2026-11-10,10:00,MR1,,,");
        book("A2,2026-11-10,23:30,MR1,,,");
        book("A3,2026-11-10,,MR1,,,");
        book("A4,2026-11-10,10:00,MR1,,,");
        acquire("2.25.1", "A1", "2026-11-08", "10:00");
        acquire("2.25.2", "A2", "2026-11-11", "00:20");
        acquire("2.25.3", "A3", "2026-11-11", "06:00");
        acquire("2.25.4", "A4", null, "10:00");
        Instant soon = VISIT.plusSeconds(60);
        assertThat(found(soon, "A1")).containsExactly(GapKind.WRONG_DAY);
        assertThat(found(soon, "A2")).isEmpty();
        assertThat(found(soon, "A3")).containsExactly(GapKind.WRONG_DAY);
        assertThat(found(soon, "A4")).isEmpty();
        // Scanned again on the right day.
        acquire("2.25.11", "A1", "2026-11-10", "10:00");
        assertThat(found(soon, "A1")).containsExactly(GapKind.SPLIT);
    }

    @Test
    void whatNobodyPlannedIsNamedFromTheFirstBookingOn() throws IOException {
        receive("2.25.1", "2.25.1.1", null, "MR1", VISIT);
        assertThat(list(LATER)).isEmpty();
        book("A1,2026-11-10,10:00,MR1,,,");

        List<Gap> lines = list(VISIT.plusSeconds(60));

        assertThat(lines).singleElement().satisfies(line -> {
            assertThat(line.gaps()).containsExactly(GapKind.UNPLANNED);
            assertThat(line.studies()).containsExactly("2.25.1");
            assertThat(line.accession()).isNull();
        });
    }

    @Test
    void imagesWithoutANumberBelongToTheirUidOrTheirStudy() throws IOException {
        book("A1,2026-11-10,10:00,MR1,2,2.25.1,");
        book("A2,2026-11-10,11:00,MR1,2,,");
        receive("2.25.1", "2.25.1.1", null, "MR1", VISIT);
        receive("2.25.1", "2.25.1.2", null, "MR1", VISIT);
        receive("2.25.2", "2.25.2.1", "A2", "MR1", VISIT);
        receive("2.25.2", "2.25.2.2", null, "MR1", VISIT);

        assertThat(list(LATER)).isEmpty();
    }

    @Test
    void whoSeesOnlySomeProjectsSeesOnlyTheirVisits() throws IOException {
        projects.create("P1", "", "test");
        projects.create("P2", "", "test");
        book("A1,2026-11-10,10:00,MR1,,,P1");
        book("A2,2026-11-10,11:00,MR1,,,P2");
        book("A3,2026-11-10,12:00,MR1,,,");
        receive("2.25.9", "2.25.9.1", null, "MR1", VISIT);
        int experiment = new Experiments(jdbc, projects, ledger, clock)
                .register("P1", "E1", "", folder, "test")
                .id();
        receive("2.25.8", "2.25.8.1", null, "MR1", VISIT);
        studies.collected("2.25.8", experiment, 10, VISIT);

        List<Gap> seen = gaps.page(Sight.of(List.of("P1")), wanted(LATER, true), 0, "", 100);

        assertThat(seen).extracting(Gap::project).containsOnly("P1");
        assertThat(seen).extracting(Gap::key).containsExactly("2026-11-10 b A1", "2026-11-10 s 2.25.8");
        assertThat(gaps.page(Sight.of(List.of()), wanted(LATER, true), 0, "", 100))
                .isEmpty();
        assertThat(gaps.page(Sight.EVERYTHING, wanted(LATER, true), 0, "", 100)).hasSize(5);
        assertThat(list(LATER)).extracting(Gap::key).contains("2026-11-10 b A1", "2026-11-10 s 2.25.8");
        jdbc.sql("update project set retired_at = now(), retired_by = 'x', retired_reason = 'x' where code = 'P1'")
                .update();
        assertThat(list(LATER))
                .as("of a retired project, also without a booking")
                .extracting(Gap::key)
                .contains("2026-11-10 b A2")
                .doesNotContain("2026-11-10 b A1", "2026-11-10 s 2.25.8");
    }

    @Test
    void verifiedIsOnlyWhatAManifestSealedSinceHasReceiptsForAtThatSite() throws IOException {
        projects.create("P1", "", "test");
        book("A1,2026-11-10,10:00,MR1,,2.25.1,P1");
        receive("2.25.1", "2.25.1.1", "A1", "MR1", VISIT);
        int site = site();
        int experiment = new Experiments(jdbc, projects, ledger, clock)
                .register("P1", "E1", "", folder, "test")
                .id();
        assertThat(state(site)).isEqualTo("not copied, not verified");
        // A manifest sealed before the study is complete does not count, whatever it contains.
        sealed(experiment, site, 1, 10, 10, VISIT.plusSeconds(60));
        studies.collected("2.25.1", experiment, 10, VISIT.plusSeconds(120));
        assertThat(state(site)).isEqualTo("not copied, not verified");
        sealed(experiment, site, 2, 10, 9, VISIT.plusSeconds(180));
        assertThat(state(site)).isEqualTo("not copied, not verified");
        sealed(experiment, site, 3, 10, 10, VISIT.plusSeconds(240));
        assertThat(state(site)).isEqualTo("copied, verified");
        assertThat(state(site + 1)).isEqualTo("not copied, not verified");
        assertThat(all(LATER, site).getFirst().experiments()).containsExactly("P1/E1");
        // A late image is not in it.
        receive("2.25.1", "2.25.1.2", "A1", "MR1", VISIT.plusSeconds(300));
        assertThat(state(site)).isEqualTo("not copied, not verified");
        // Fewer files than instances: the manifest contains something else.
        studies.collected("2.25.1", experiment, 20, VISIT.plusSeconds(310));
        sealed(experiment, site, 4, 10, 10, VISIT.plusSeconds(320));
        assertThat(state(site)).isEqualTo("not copied, not verified");
        sealed(experiment, site, 5, 20, 20, VISIT.plusSeconds(330));
        assertThat(state(site)).isEqualTo("copied, verified");
    }

    @Test
    void pagesGoOnWhereTheLastOneEnded() throws IOException {
        for (int i = 0; i < 7; i++) {
            book("A%d,2026-11-1%d,10:00,MR1,,,".formatted(i, i % 3));
        }
        List<Gap> whole = gaps.page(Sight.EVERYTHING, wanted(LATER.plus(Duration.ofDays(9)), false), 0, "", 100);
        assertThat(whole).hasSize(7).isSortedAccordingTo((a, b) -> a.key().compareTo(b.key()));

        List<Gap> first = gaps.page(Sight.EVERYTHING, wanted(LATER.plus(Duration.ofDays(9)), false), 0, "", 4);
        List<Gap> rest = gaps.page(
                Sight.EVERYTHING,
                wanted(LATER.plus(Duration.ofDays(9)), false),
                0,
                first.getLast().key(),
                4);

        assertThat(first).isEqualTo(whole.subList(0, 4));
        assertThat(rest).isEqualTo(whole.subList(4, 7));
    }

    private int site() {
        return jdbc.sql("""
                        insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                        values ('dr', 'h', 22, 'u', '/r', 'k', 'i', now()) returning site_id
                        """).query(Integer.class).single();
    }

    /** Stores the result of an ingest and a settled run: so many files, so many of them with receipts. */
    private void sealed(int experiment, int site, int number, int files, int safe, Instant at) {
        jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                              entries_changed, entries_gone)
                        values (:experiment, :number, :at, :files, 1, 0, 0, 0, 0, 0)
                        """)
                .param("experiment", experiment)
                .param("number", number)
                .param("at", Timestamp.from(at))
                .param("files", files)
                .update();
        jdbc.sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                                entries_safe, unprotected_since, counted_at)
                        values (:experiment, :site, :number, :files, 1, :files, :safe, 1, :safe, null, :at)
                        on conflict (experiment_id, site_id) do update
                            set manifest_no = :number, files = :files, entries = :files, files_safe = :safe, entries_safe = :safe,
                                counted_at = :at
                        """)
                .param("experiment", experiment)
                .param("site", site)
                .param("number", number)
                .param("files", files)
                .param("safe", safe)
                .param("at", Timestamp.from(at))
                .update();
    }

    private String state(int site) {
        Gap line = all(LATER, site).getFirst();
        Kept kept = studies.kept(Sight.EVERYTHING, "2.25.1", site).orElseThrow();
        assertThat(kept.verified()).isEqualTo(line.verified()).isEqualTo(kept.verifiedAt() != null);
        assertThat(kept.copied()).isEqualTo(line.copied());
        assertThat(studies.kept(Sight.of(List.of("P2")), "2.25.1", site)).isEmpty();
        return (line.copied() ? "copied" : "not copied") + ", " + (line.verified() ? "verified" : "not verified");
    }

    private void book(String line) throws IOException {
        keep("accession,date,time,station,series,study,project\n" + line + "\n");
    }

    private void keep(String csv) throws IOException {
        bookings.keep(
                Sight.EVERYTHING, new ByteArrayInputStream(csv.getBytes(StandardCharsets.UTF_8)), null, false, "test");
    }

    private void receive(String study, String series, @Nullable String accession, String station, Instant at) {
        receive(study, series, accession, null, DAY, null, null, station, 10, null, at);
    }

    private void receive(String study, String accession, String station, @Nullable String sender) {
        receive(study, study + "." + station.length(), accession, null, DAY, null, station, sender, 10, null, VISIT);
    }

    private void bookFor(String line) throws IOException {
        keep("accession,date,time,patient\n" + line + "\n");
    }

    private void receive(
            String study,
            String series,
            @Nullable String accession,
            @Nullable String subject,
            @Nullable LocalDate day,
            @Nullable LocalTime time,
            @Nullable String station,
            @Nullable String sender,
            int instances,
            @Nullable Integer expected,
            Instant at) {
        studies.received(new ReceivedSeries(
                study, series, accession, subject, day, time, station, sender, "MR", instances, expected, at, at));
    }

    private String code(String patient) {
        return codes.of(patient).orElseThrow();
    }

    private void acquire(
            String study, String series, @Nullable String accession, @Nullable String patient, Instant at) {
        String subject = patient == null ? null : code(patient);
        receive(study, series, accession, subject, DAY, null, null, "MR1", 10, null, at);
    }

    private void acquire(String study, String accession, @Nullable String day, String time) {
        LocalDate on = day == null ? null : LocalDate.parse(day);
        receive(study, study + ".1", accession, null, on, LocalTime.parse(time), null, "MR1", 10, null, VISIT);
    }

    private List<GapKind> found(Instant at, String accession) {
        return all(at).stream()
                .filter(line -> accession.equals(line.accession()))
                .findFirst()
                .orElseThrow()
                .gaps();
    }

    private List<Gap> list(Instant at) {
        return gaps.page(Sight.EVERYTHING, wanted(at, false), 0, "", 10_000);
    }

    private List<Gap> all(Instant at) {
        return all(at, 0);
    }

    private List<Gap> all(Instant at, int site) {
        return gaps.page(Sight.EVERYTHING, wanted(at, true), site, "", 10_000);
    }

    private static Filter wanted(Instant at, boolean all) {
        return new Filter(null, null, at, null, null, all);
    }
}
