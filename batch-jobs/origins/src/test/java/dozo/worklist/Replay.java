package dozo.worklist;

import dozo.ledger.Sight;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.Gaps.Filter;
import dozo.worklist.Gaps.Gap;
import dozo.worklist.Studies.ReceivedSeries;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Replays a season of a centre with seeded faults: bookings as exported by its booking system, in Shift-JIS, and what
 * the scanners sent. It also contains unusual but correct cases: second titles of a scanner, images without an
 * accession number or under another StudyInstanceUID than booked, scans some hours late, accompanying series, visits
 * that are not due yet.
 */
public final class Replay {

    public static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");

    private static final LocalDate BEGIN = LocalDate.of(2026, 7, 1);
    private static final int VISITS_A_DAY = 10;
    private static final List<GapKind> KINDS = List.of(
            GapKind.PARTLY,
            GapKind.SPLIT,
            GapKind.SAME_UID_TWICE,
            GapKind.WRONG_STATION,
            GapKind.WRONG_SUBJECT,
            GapKind.WRONG_DAY,
            GapKind.NEVER_SCANNED,
            GapKind.LATE);
    private static final int SERIES_EXPECTED = 5;
    private static final String HEADING = "受付番号,患者ID,患者氏名,生年月日,検査日,予約時刻,装置,モダリティ,検査内容,シリーズ数,StudyInstanceUID\r\n";

    private final PseudonymousCode codes;
    private final Random random;
    private final List<Visit> visits = new ArrayList<>();
    private final Map<String, Set<GapKind>> truth = new TreeMap<>();

    /** Visits scanned under another visit's UID, with that visit, by number. */
    private final Map<Integer, Integer> under = new HashMap<>();

    /** A booking, and its fault. */
    private record Visit(
            int number,
            LocalDate day,
            LocalTime time,
            int scanner,
            boolean due,
            @Nullable GapKind fault) {

        String accession() {
            return "A26-%04d".formatted(number);
        }

        String patient() {
            return "P%05d".formatted(number * 7);
        }

        String uid() {
            return "2.25.1%06d".formatted(number);
        }

        String aeTitle() {
            return "MR%dT01".formatted(scanner);
        }

        Instant booked() {
            return day.atTime(time).atZone(ZONE).toInstant();
        }
    }

    /** The gap list's result for one kind. */
    public record Score(int seeded, int found, int right) {

        public double precision() {
            return found == 0 ? 0 : (double) right / found;
        }

        public double recall() {
            return seeded == 0 ? 0 : (double) right / seeded;
        }
    }

    public Replay(long seed, int bookings, int faults, PseudonymousCode codes) {
        this.codes = codes;
        random = new Random(seed);
        List<Integer> numbers = new ArrayList<>();
        int last = bookings - 2 * VISITS_A_DAY;
        for (int i = 0; i < last; i++) {
            numbers.add(i);
        }
        Collections.shuffle(numbers, random);
        for (int i = 0; i < bookings; i++) {
            int place = numbers.indexOf(i);
            GapKind fault = place < 0 || place >= faults ? null : KINDS.get(place % KINDS.size());
            LocalDate day = BEGIN.plusDays(i / VISITS_A_DAY);
            LocalTime time = LocalTime.of(8 + i % VISITS_A_DAY, 30 * random.nextInt(2));
            Visit visit = new Visit(i, day, time, 1 + random.nextInt(3), i < last, fault);
            visits.add(visit);
            if (fault != null) {
                told(visit, fault);
            }
            if (fault == GapKind.SAME_UID_TWICE) {
                under.put(numbers.get(faults + place), i);
            }
        }
        // The list shows the gap for both visits.
        under.keySet().forEach(other -> told(visits.get(other), GapKind.SAME_UID_TWICE));
    }

    private void told(Visit visit, GapKind fault) {
        truth.computeIfAbsent(visit.accession(), none -> new HashSet<>()).add(fault);
    }

    /** Returns when the list is made: the visits of the last two days are not due then. */
    public Instant now() {
        return visits.getLast().day.minusDays(1).atTime(7, 0).atZone(ZONE).toInstant();
    }

    /** Returns the expected gaps of each booking with a fault. */
    public Map<String, Set<GapKind>> truth() {
        return truth;
    }

    /** Books all visits and sends what the scanners send. */
    public void play(Scanners scanners, Bookings bookings, Studies studies) {
        for (int i = 1; i <= 3; i++) {
            scanners.put(new Scanner("SCN" + i, List.of("MR%dT01".formatted(i), "MR%dT02".formatted(i)), 14), "replay");
        }
        StringBuilder csv = new StringBuilder(HEADING);
        visits.forEach(visit -> csv.append(line(visit)));
        byte[] export = csv.toString().getBytes(Charset.forName("windows-31j"));
        Bookings.Answer answer;
        try {
            answer = bookings.keep(Sight.EVERYTHING, new ByteArrayInputStream(export), null, false, "replay");
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        if (answer.count(JudgedBooking.Outcome.BOOKED) != visits.size()) {
            throw new IllegalStateException("not all are booked: " + answer);
        }
        for (Visit visit : visits) {
            if (visit.due || random.nextInt(3) == 0) {
                scan(visit, studies);
            }
        }
    }

    /** Compares the list with the seeded faults, by kind. */
    public Map<GapKind, Score> score(Gaps gaps) {
        Filter wanted = new Filter(null, null, now(), null, null, false);
        List<Gap> lines = gaps.page(Sight.EVERYTHING, wanted, 0, "", Integer.MAX_VALUE);
        Map<GapKind, Score> scores = new EnumMap<>(GapKind.class);
        for (GapKind kind : GapKind.values()) {
            Set<String> seeded = new HashSet<>();
            truth.forEach((accession, kinds) -> {
                if (kinds.contains(kind)) {
                    seeded.add(accession);
                }
            });
            Set<String> found = new HashSet<>();
            lines.stream().filter(line -> line.gaps().contains(kind)).forEach(line -> found.add(line.key()));
            long right = lines.stream()
                    .filter(line -> line.gaps().contains(kind) && seeded.contains(line.accession()))
                    .count();
            scores.put(kind, new Score(seeded.size(), found.size(), (int) right));
        }
        return scores;
    }

    private String line(Visit visit) {
        // Some booking systems leave the UID to the scanner.
        String uid = visit.fault == null && visit.number % 4 == 0 ? "" : visit.uid();
        return "%s,%s,脳　花子,1990/01/02,%s,%s,%s,MR,7T 視覚実験 %d,%d,%s\r\n"
                .formatted(
                        visit.accession(),
                        visit.patient(),
                        visit.day.toString().replace('-', '/'),
                        visit.time,
                        visit.aeTitle(),
                        visit.number % 9,
                        SERIES_EXPECTED,
                        uid);
    }

    private void scan(Visit visit, Studies studies) {
        if (visit.fault == GapKind.NEVER_SCANNED) {
            return;
        }
        long late = visit.fault == GapKind.LATE ? 2 * 86_400 : random.nextInt(6 * 3_600);
        int series = SERIES_EXPECTED + random.nextInt(2);
        if (visit.fault == GapKind.PARTLY) {
            series = 1 + random.nextInt(SERIES_EXPECTED - 1);
        }
        Integer other = under.get(visit.number);
        String first = other == null ? visit.uid() : visits.get(other).uid();
        boolean byUidOnly = visit.fault == null && other == null && visit.number % 4 == 1;
        for (int i = 0; i < series; i++) {
            String uid = visit.fault == GapKind.SPLIT && i >= 2 ? first + ".2" : first;
            send(studies, visit, uid, i, late, byUidOnly);
        }
    }

    /** @param withoutNumber whether the images have no accession number, so that only the UID identifies the visit */
    private void send(Studies studies, Visit visit, String uid, int series, long late, boolean withoutNumber) {
        Instant at = visit.booked().plusSeconds(late + 60L * series);
        int station = visit.fault == GapKind.WRONG_STATION ? visit.scanner % 3 + 1 : visit.scanner;
        int instances = 1 + random.nextInt(300);
        studies.received(new ReceivedSeries(
                uid,
                uid + "." + visit.number + "." + series,
                withoutNumber ? null : visit.accession(),
                codes.of(visit.fault == GapKind.WRONG_SUBJECT ? "P99999" : visit.patient())
                        .orElseThrow(),
                visit.fault == GapKind.WRONG_DAY ? visit.day.minusDays(1) : visit.day,
                visit.time,
                null,
                "MR%dT%02d".formatted(station, 1 + random.nextInt(2)),
                series == SERIES_EXPECTED ? "SR" : "MR",
                instances,
                visit.number % 2 == 0 ? instances : null,
                at,
                at.plusSeconds(30)));
    }
}
