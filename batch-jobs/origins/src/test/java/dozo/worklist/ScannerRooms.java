package dozo.worklist;

import dozo.ledger.Sight;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.Studies.ReceivedSeries;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Simulates three scanner rooms over some weeks as people act there: who is booked, who is scanned, what the operator
 * enters at the console, and when the console sends. Each error is a {@link Mishap}; the truth is recorded as it
 * happens. Written independently of {@link Replay}, so that the tests do not depend on one author's idea of a season.
 */
final class ScannerRooms {

    static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");
    static final Duration DUE_AFTER = Duration.ofHours(24);

    private static final LocalDate OPENING = LocalDate.of(2026, 4, 1);
    private static final List<LocalTime> SLOTS = List.of(
            LocalTime.of(9, 0), LocalTime.of(10, 45), LocalTime.of(13, 15), LocalTime.of(15, 0), LocalTime.of(19, 30));
    private static final List<Room> ROOMS = List.of(
            new Room("S7T", List.of("MAGNETOM7T", "MAG7T_RECON")),
            new Room("S3TA", List.of("Galan 3T")),
            new Room(null, List.of("PRISMA")));

    /** The errors in a season. */
    enum Mishap {
        WRONG_SUBJECT,
        WRONG_SCANNER,
        WRONG_DAY,
        SPLIT,
        MERGED,
        ABORTED,
        REPEATED,
        WALK_IN,
        TWIN_NAMES,
        LATE_EXPORT
    }

    /** @param scanner its code; null if nobody has registered its titles */
    private record Room(@Nullable String scanner, List<String> titles) {}

    /** @param name shared by people with the same name; not in any image that Dozo reads */
    private record Person(String id, String name) {}

    /** A line of the booking system. Null means that it does not say. */
    private record Slot(
            String accession,
            Person person,
            Room room,
            LocalDate day,
            @Nullable LocalTime time,
            int series,
            boolean withSubject,
            boolean withStation,
            @Nullable String uid) {

        LocalDateTime begin() {
            return day.atTime(time == null ? LocalTime.of(12, 0) : time);
        }

        Instant due() {
            return (time == null ? day.plusDays(1).atStartOfDay() : day.atTime(time))
                    .atZone(ZONE)
                    .toInstant()
                    .plus(DUE_AFTER);
        }
    }

    /** What a console sends of one scan session; changed where it differs from the plan. */
    private static final class Session {
        String uid;

        @Nullable
        String accession;

        @Nullable
        String patientId;

        Room room;
        LocalDateTime begin;
        int first;
        int series;
        int cutSeries = -1;
        Duration sentAfter = Duration.ofMinutes(20);

        Session(String uid, Slot slot) {
            this.uid = uid;
            this.accession = slot.accession;
            this.patientId = slot.person.id;
            this.room = slot.room;
            this.begin = slot.begin();
            this.series = slot.series;
        }
    }

    private final RandomGenerator random;
    private final PseudonymousCode codes;
    private final StringBuilder bookingSystem =
            new StringBuilder("accession;date;time;station;modality;series;patient;name;study\n");
    private final List<ReceivedSeries> sent = new ArrayList<>();
    private final Map<String, Set<GapKind>> truth = new TreeMap<>();
    private final Map<Mishap, Integer> happened = new EnumMap<>(Mishap.class);
    private final Map<Mishap, Set<String>> affected = new EnumMap<>(Mishap.class);
    private LocalDate today = OPENING;
    private int nextSlot;
    private int booked;
    private int persons;
    private int uids;

    ScannerRooms(RandomGenerator random, PseudonymousCode codes) {
        this.random = random;
        this.codes = codes;
    }

    /**
     * Simulates so many visits, of which one in {@code oneIn} goes wrong; each kind of mishap occurs at least twice.
     */
    void season(int visits, int oneIn) {
        // Data from before the first booking is never unplanned: the season begins with a plain visit.
        plain();
        List<Mishap> due = new ArrayList<>();
        for (int i = 0; i < Math.max(visits / oneIn, 2 * Mishap.values().length); i++) {
            due.add(Mishap.values()[i % Mishap.values().length]);
        }
        while (!due.isEmpty() || booked < visits) {
            boolean wrong = !due.isEmpty() && (booked >= visits || random.nextInt(oneIn) == 0);
            if (wrong) {
                Mishap mishap = due.remove(random.nextInt(due.size()));
                happened.merge(mishap, 1, Integer::sum);
                happen(mishap);
            } else {
                plain();
            }
        }
        // The days after the season: nobody has come yet, and nothing is due.
        today = today.plusDays(4);
        for (int i = 0; i < 5; i++) {
            book();
        }
    }

    /** Returns when the list is made: the season's visits are due, those booked for the days after are not. */
    Instant now() {
        return today.atTime(6, 0).atZone(ZONE).toInstant();
    }

    /**
     * Returns the expected gaps of each line, by accession number or, without a booking, StudyInstanceUID; all other
     * lines have none.
     */
    Map<String, Set<GapKind>> truth() {
        return truth;
    }

    Map<Mishap, Integer> happened() {
        return happened;
    }

    /** Returns the lines that a kind of mishap affects. */
    Set<String> affectedBy(Mishap mishap) {
        return affected.getOrDefault(mishap, Set.of());
    }

    int booked() {
        return booked;
    }

    /** Reports everything to Dozo: bookings first, then what was sent, in the order of arrival. */
    void tell(Scanners scanners, Bookings bookings, Studies studies) throws IOException {
        for (Room room : ROOMS) {
            if (room.scanner != null) {
                scanners.put(new Scanner(room.scanner, room.titles, null), "season");
            }
        }
        Bookings.Answer answer = bookings.keep(
                Sight.EVERYTHING,
                new ByteArrayInputStream(bookingSystem.toString().getBytes(StandardCharsets.UTF_8)),
                null,
                false,
                "season");
        if (answer.count(JudgedBooking.Outcome.BOOKED) != booked) {
            throw new IllegalStateException("not all are booked: " + answer);
        }
        sent.stream().sorted(Comparator.comparing(ReceivedSeries::lastAt)).forEach(studies::received);
    }

    private void happen(Mishap mishap) {
        switch (mishap) {
            case WRONG_SUBJECT -> wrongSubject();
            case WRONG_SCANNER -> wrongScanner();
            case WRONG_DAY -> wrongDay();
            case SPLIT -> split();
            case MERGED -> merged();
            case ABORTED -> aborted();
            case REPEATED -> repeated();
            case WALK_IN -> walkIn();
            case TWIN_NAMES -> twinNames();
            case LATE_EXPORT -> lateExport();
        }
    }

    /** A correct visit, with unusual but correct details. */
    private void plain() {
        Slot slot = book();
        Session session = session(slot);
        switch (random.nextInt(9)) {
            // The accession number was not copied, the UID was.
            case 0 -> session.accession = slot.uid == null ? slot.accession : null;
            // The scanner takes no UID from the worklist.
            case 1 -> session.uid = uid();
            case 2 -> session.patientId = null;
            case 3 -> session.patientId = " " + fullWidth(slot.person.id) + "  ";
            // Sent in the evening.
            case 4 -> session.sentAfter = Duration.ofHours(7);
            // More series than booked.
            case 5 -> session.series += 2;
            // The previous scan took longer.
            case 6 -> session.begin = session.begin.plusHours(2 + random.nextInt(3));
            // The scanner was down until the night.
            case 7 -> {
                session.begin = slot.day.plusDays(1).atTime(random.nextInt(5), 10);
                session.sentAfter = Duration.ofMinutes(1);
            }
            default -> {}
        }
        if (arrival(session).isAfter(slot.due())) {
            session.begin = slot.begin();
            session.sentAfter = Duration.ofMinutes(20);
        }
        send(session);
        if (random.nextInt(6) == 0) {
            sendReport(session);
        }
    }

    /** The operator has selected another subject's ID at the console, with the number of this booking. */
    private void wrongSubject() {
        Slot slot = bookWithSubject();
        Session session = session(slot);
        switch (random.nextInt(4)) {
            case 0 -> {
                session.patientId = person().id;
                send(session);
                note(Mishap.WRONG_SUBJECT, slot.accession, GapKind.WRONG_SUBJECT);
            }
            // Two subjects who came at the same time are confused.
            case 1 -> {
                Slot other = bookWithSubject();
                Session next = session(other);
                session.patientId = other.person.id;
                next.patientId = slot.person.id;
                send(session);
                send(next);
                note(Mishap.WRONG_SUBJECT, slot.accession, GapKind.WRONG_SUBJECT);
                note(Mishap.WRONG_SUBJECT, other.accession, GapKind.WRONG_SUBJECT);
            }
            // Noticed after two series, and entered again.
            case 2 -> {
                Session rest = session(slot);
                session.patientId = person().id;
                session.series = 2;
                rest.first = 2;
                rest.series = slot.series - 2;
                boolean sameStudy = random.nextBoolean();
                rest.uid = sameStudy ? session.uid : uid();
                send(session);
                send(rest);
                note(
                        Mishap.WRONG_SUBJECT,
                        slot.accession,
                        GapKind.WRONG_SUBJECT,
                        sameStudy ? GapKind.SAME_UID_TWICE : GapKind.SPLIT);
            }
            // Entered by hand without a number: only the worklist's UID identifies the booking.
            default -> {
                session.patientId = person().id;
                session.accession = slot.uid == null ? slot.accession : null;
                send(session);
                note(Mishap.WRONG_SUBJECT, slot.accession, GapKind.WRONG_SUBJECT);
            }
        }
    }

    private void wrongScanner() {
        Slot slot = book(person(), true, true, null);
        Session session = session(slot);
        session.room = ROOMS.get((ROOMS.indexOf(slot.room) + 1 + random.nextInt(ROOMS.size() - 1)) % ROOMS.size());
        send(session);
        note(Mishap.WRONG_SCANNER, slot.accession, GapKind.WRONG_STATION);
    }

    /** A subject comes on another day, and nobody moves the booking. */
    private void wrongDay() {
        Slot slot = book();
        Session session = session(slot);
        boolean early = random.nextBoolean();
        session.begin = session.begin.plusDays(early ? -1 - random.nextInt(3) : 2);
        send(session);
        note(Mishap.WRONG_DAY, slot.accession, GapKind.WRONG_DAY);
        if (!early) {
            note(Mishap.WRONG_DAY, slot.accession, GapKind.LATE);
        }
    }

    /** The console is restarted in the middle and continues under a new UID. */
    private void split() {
        Slot slot = book();
        Session begin = session(slot);
        begin.series = 1 + random.nextInt(slot.series - 1);
        Session rest = session(slot);
        rest.uid = uid();
        rest.first = begin.series;
        rest.series = slot.series - begin.series;
        send(begin);
        send(rest);
        note(Mishap.SPLIT, slot.accession, GapKind.SPLIT);
    }

    /** The first visit is not closed before the second begins. */
    private void merged() {
        Slot first = bookWithSubject();
        Slot second = book(person(), true, random.nextBoolean(), first.day);
        Session one = session(first);
        Session two = session(second);
        two.uid = one.uid;
        two.first = first.series;
        two.begin = one.begin;
        switch (random.nextInt(3)) {
            // The console takes number and ID of the second visit, and keeps the study.
            case 0 -> {
                note(Mishap.MERGED, first.accession, GapKind.SAME_UID_TWICE);
                note(Mishap.MERGED, second.accession, GapKind.SAME_UID_TWICE);
            }
            // It also keeps the number.
            case 1 -> {
                two.accession = one.accession;
                two.room = one.room;
                note(Mishap.MERGED, first.accession, GapKind.SAME_UID_TWICE, GapKind.WRONG_SUBJECT);
                note(Mishap.MERGED, second.accession, GapKind.NEVER_SCANNED);
            }
            // It keeps everything: no image shows that there were two visits. Only the missing data of the second one
            // is visible.
            default -> {
                two.accession = one.accession;
                two.patientId = one.patientId;
                two.room = one.room;
                note(Mishap.MERGED, second.accession, GapKind.NEVER_SCANNED);
            }
        }
        send(one);
        send(two);
    }

    /** The alarm ball is pressed. */
    private void aborted() {
        Slot slot = book();
        Session session = session(slot);
        if (random.nextBoolean()) {
            session.series = 1 + random.nextInt(slot.series - 1);
        } else {
            session.cutSeries = random.nextInt(slot.series);
        }
        send(session);
        note(Mishap.ABORTED, slot.accession, GapKind.PARTLY);
    }

    /** Everything is repeated because the subject moved: the console opens a new study. */
    private void repeated() {
        Slot slot = book();
        Session again = session(slot);
        again.uid = uid();
        again.begin = again.begin.plusDays(random.nextInt(3)).plusHours(1);
        send(session(slot));
        send(again);
        if (random.nextInt(3) == 0) {
            again.uid = uid();
            // Under a number invented at the console, which belongs to no booking.
            again.accession = "X" + slot.accession;
            send(again);
            note(Mishap.REPEATED, again.uid, GapKind.UNPLANNED);
        }
        note(Mishap.REPEATED, slot.accession, GapKind.SPLIT);
    }

    /** A subject without a booking is scanned; possibly one who is booked at another time. */
    private void walkIn() {
        Slot slot = book();
        Session planned = session(slot);
        Session session = session(slot);
        session.uid = uid();
        session.accession = random.nextBoolean() ? null : "W" + booked;
        session.patientId = random.nextInt(3) == 0 ? slot.person.id : person().id;
        send(planned);
        send(session);
        note(Mishap.WALK_IN, session.uid, GapKind.UNPLANNED);
    }

    /** Two subjects with the same name on one day, each with their own ID: nothing is wrong. */
    private void twinNames() {
        Person one = person();
        Person two = new Person(person().id, one.name);
        Slot first = book(one, true, random.nextBoolean(), null);
        Slot second = book(two, true, random.nextBoolean(), first.day);
        send(session(first));
        send(session(second));
        note(Mishap.TWIN_NAMES, first.accession);
        note(Mishap.TWIN_NAMES, second.accession);
    }

    /** Scanned correctly; the console exports days later. */
    private void lateExport() {
        Slot slot = book();
        Session session = session(slot);
        session.sentAfter = Duration.ofHours(49 + random.nextInt(20));
        send(session);
        note(Mishap.LATE_EXPORT, slot.accession, GapKind.LATE);
    }

    private Slot book() {
        return book(person(), random.nextInt(4) != 0, random.nextInt(5) != 0, null);
    }

    private Slot bookWithSubject() {
        return book(person(), true, random.nextBoolean(), null);
    }

    private Slot book(Person person, boolean withSubject, boolean withStation, @Nullable LocalDate on) {
        if (nextSlot >= SLOTS.size() * ROOMS.size()) {
            nextSlot = 0;
            today = today.plusDays(1);
        }
        int place = nextSlot++;
        LocalTime time = random.nextInt(6) == 0 ? null : SLOTS.get(place / ROOMS.size());
        Slot slot = new Slot(
                "%s%05d".formatted(random.nextBoolean() ? "" : "R-", 70_001 + booked++),
                person,
                ROOMS.get(place % ROOMS.size()),
                on == null ? today : on,
                time,
                3 + random.nextInt(6),
                withSubject,
                withStation,
                random.nextInt(3) == 0 ? null : uid());
        bookingSystem
                .append(String.join(
                        ";",
                        slot.accession,
                        slot.day.toString(),
                        time == null ? "" : time.toString(),
                        withStation ? slot.room.titles.getFirst() : "",
                        "MR",
                        String.valueOf(slot.series),
                        withSubject ? person.id : "",
                        person.name,
                        slot.uid == null ? "" : slot.uid))
                .append('\n');
        return slot;
    }

    private Session session(Slot slot) {
        return new Session(slot.uid == null ? uid() : slot.uid, slot);
    }

    private Person person() {
        int number = persons++;
        return new Person("%08d".formatted(31 * number + 5), "Person " + number / 3);
    }

    private String uid() {
        return "1.2.826.0.1." + 9_000_000 + "." + ++uids;
    }

    private static Instant arrival(Session session) {
        return session.begin.atZone(ZONE).toInstant().plus(session.sentAfter);
    }

    private void send(Session session) {
        for (int i = session.first; i < session.first + session.series; i++) {
            int wanted = 20 + random.nextInt(200);
            boolean cut = i == session.cutSeries;
            boolean says = cut || random.nextBoolean();
            Instant at = arrival(session).plusSeconds(90L * i);
            sent.add(new ReceivedSeries(
                    session.uid,
                    session.uid + "." + (i + 1) + "." + ++uids,
                    session.accession,
                    codes.of(session.patientId).orElse(null),
                    session.begin.toLocalDate(),
                    session.begin.toLocalTime(),
                    null,
                    session.room.titles.get(random.nextInt(session.room.titles.size())),
                    "MR",
                    cut ? wanted / 2 : wanted,
                    says ? wanted : null,
                    at,
                    at.plusSeconds(60)));
        }
    }

    /** Sends a workstation's report some hours later, from a title that no scanner has. */
    private void sendReport(Session session) {
        Instant at = arrival(session).plus(Duration.ofHours(1));
        sent.add(new ReceivedSeries(
                session.uid,
                session.uid + ".900." + ++uids,
                session.accession,
                null,
                session.begin.toLocalDate(),
                null,
                null,
                "READROOM",
                "SR",
                1,
                null,
                at,
                at));
    }

    private void note(Mishap mishap, String line, GapKind... gaps) {
        affected.computeIfAbsent(mishap, none -> new TreeSet<>()).add(line);
        if (gaps.length > 0) {
            truth.computeIfAbsent(line, none -> EnumSet.noneOf(GapKind.class)).addAll(Arrays.asList(gaps));
        }
    }

    private static String fullWidth(String digits) {
        return digits.chars()
                .mapToObj(digit -> Character.toString(digit - '0' + '０'))
                .reduce("", String::concat);
    }
}
