package dozo.source.tree;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;

/**
 * For bench/run sources: simulates arriving experiments, and when each is called complete: by the evidence of its kind,
 * and by every fixed quiet period. The rules are the program's own; only the files and the clock are simulated.
 *
 * <p>Arguments: traces, seed, minutes between looks. Prints the best fixed quiet period: the shortest of whole hours
 * that calls no ending trace complete before its end. Then prints for each trace: kind, whether it ends, delay by
 * evidence and by that period, the best period in hours for its kind alone, and the delays by that and by the usual
 * rules. Delays are minutes after the end; negative means too early, "never" means not within three weeks.
 */
final class ArrivalTraces {

    private static final Instant BEGIN = Instant.parse("2026-10-31T09:00:00Z");
    private static final int WATCHED_DAYS = 21;

    private final Random random;
    private final List<Event> events = new ArrayList<>();
    private double minute;
    private int fileNumber;

    /** A file that appears or disappears, in minutes from the beginning. */
    private record Event(double minute, String path, boolean gone, Contents.Image image, String text) {}

    /** @param rules the rules for its kind of folder */
    private record Trace(String kind, boolean ends, double end, List<Event> events, List<String> rules) {}

    private ArrivalTraces(long seed) {
        random = new Random(seed);
    }

    public static void main(String[] arguments) throws IOException {
        int count = Integer.parseInt(arguments[0]);
        long seed = Long.parseLong(arguments[1]);
        int stepMinutes = Integer.parseInt(arguments[2]);
        List<Trace> traces = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            traces.add(new ArrivalTraces(seed * 1_000_003 + i).made(i));
        }
        int hours = bestFixed(traces, stepMinutes);
        System.out.printf("fixed-hours %d%n", hours);
        Map<String, Integer> ownHours = new HashMap<>();
        for (Trace trace : traces) {
            Integer own = ownHours.get(trace.kind());
            if (own == null) {
                List<Trace> like = traces.stream()
                        .filter(each -> each.kind().equals(trace.kind()))
                        .toList();
                own = bestFixed(like, stepMinutes);
                ownHours.put(trace.kind(), own);
            }
            System.out.printf(
                    "trace %s %s %s %s %d %s %s%n",
                    trace.kind(),
                    trace.ends() ? "ends" : "never-ends",
                    behind(trace, Rules.of(trace.rules()), stepMinutes),
                    behind(trace, fixed(hours), stepMinutes),
                    own,
                    behind(trace, fixed(own), stepMinutes),
                    behind(trace, Rules.USUAL, stepMinutes));
        }
    }

    private static int bestFixed(List<Trace> traces, int stepMinutes) throws IOException {
        int hours = 1;
        for (Trace trace : traces) {
            while (trace.ends() && behind(trace, fixed(hours), stepMinutes).startsWith("-")) {
                hours++;
            }
        }
        return hours;
    }

    private static Rules fixed(int hours) {
        return Rules.of(List.of("quiet %dh".formatted(hours)));
    }

    /** Makes a trace. The order of kinds is fixed, everything else is random. */
    private Trace made(int i) {
        return switch (i % 10) {
            case 0 -> counted("pauses-counted", false);
            case 1 -> counted("console-reboot", true);
            case 2 -> marked("pauses-marked", 0);
            case 3 -> marked("slow-copy", 1);
            case 4 -> reconstructed();
            case 5 -> bids();
            case 6 -> marked("marker-first", 2);
            case 7 -> raw();
            case 8 -> recordings();
            default -> unfinished(i / 10 % 2 == 0);
        };
    }

    /**
     * An exam of some series: the protocol states the number of series, and each file the number of images in its
     * series.
     */
    private Trace counted(String kind, boolean reboot) {
        int series = 3 + random.nextInt(6);
        series(series, reboot ? 1 + random.nextInt(series - 1) : -1);
        return ended(kind, "quiet 20m", "dicom " + series);
    }

    /** @param rebootIn the series in which the console hangs and is restarted hours later; negative for none */
    private void series(int series, int rebootIn) {
        for (int s = 0; s < series; s++) {
            int images = 20 + random.nextInt(60);
            int hang = s == rebootIn ? random.nextInt(images) : -1;
            for (int n = 0; n < images; n++) {
                if (n == hang) {
                    minute += 120 + random.nextInt(20 * 60);
                }
                minute += random.nextDouble();
                image(s + 1, images);
            }
            minute += random.nextInt(4) == 0 ? 20 + random.nextInt(100) : 1 + random.nextInt(5);
        }
    }

    /**
     * An exam whose export ends with a marker file.
     *
     * @param how 1: copied slowly, under temporary names; 2: the marker comes first, and series state their images
     */
    private Trace marked(String kind, int how) {
        if (how == 2) {
            put("exam.done");
        }
        int files = 60 + random.nextInt(200);
        for (int n = 0; n < files; n++) {
            if (how == 1) {
                copiedSlowly();
            } else if (how == 2) {
                minute += random.nextDouble() * 3;
                image(1, files);
            } else {
                minute += random.nextInt(40) == 0 ? 30 + random.nextInt(150) : random.nextDouble();
                put("f%05d.dat".formatted(++fileNumber));
            }
        }
        if (how == 2) {
            return ended(kind, "quiet 20m", "dicom", "marker exam.done");
        }
        minute += 1 + random.nextInt(5);
        put("exam.done");
        return ended(kind, "quiet 20m", "marker exam.done");
    }

    /** Copies as rsync does, under a temporary name first. The network stalls for hours now and then. */
    private void copiedSlowly() {
        String name = "f%05d.dat".formatted(++fileNumber);
        String temporary = ".%s.Q%05d".formatted(name, random.nextInt(100_000));
        put(temporary);
        minute += random.nextInt(50) == 0 ? 90 + random.nextInt(300) : 1 + random.nextInt(4);
        events.add(new Event(minute, temporary, true, null, ""));
        put(name);
    }

    /** The console sends computed images two days later; the rules expect them. */
    private Trace reconstructed() {
        int series = 3 + random.nextInt(4);
        series(series, -1);
        minute += 46 * 60 + random.nextInt(5 * 60);
        int images = 10 + random.nextInt(40);
        for (int n = 0; n < images; n++) {
            minute += random.nextDouble() * 2;
            image(series + 1, images);
        }
        return ended("reconstruction-48h", "quiet 20m", "dicom " + (series + 1));
    }

    /** Images come first, their sidecars hours later, and the list of scans last. */
    private Trace bids() {
        int runs = 2 + random.nextInt(6);
        for (int r = 1; r <= runs; r++) {
            minute += 5 + random.nextInt(10);
            put("func/sub-01_task-a_run-%d_bold.nii.gz".formatted(r));
        }
        minute += 60 + random.nextInt(14 * 60);
        StringBuilder scans = new StringBuilder("filename\tacq_time\n");
        for (int r = 1; r <= runs; r++) {
            minute += random.nextDouble() * (random.nextInt(4) == 0 ? 60 : 2);
            put("func/sub-01_task-a_run-%d_bold.json".formatted(r));
            scans.append("func/sub-01_task-a_run-%d_bold.nii.gz\tn/a\n".formatted(r));
        }
        minute += 1 + random.nextInt(30);
        events.add(new Event(minute, "sub-01_scans.tsv", false, null, scans.toString()));
        return ended("late-sidecars", "quiet 20m", "bids");
    }

    /** No evidence: time alone decides. */
    private Trace raw() {
        int files = 4 + random.nextInt(8);
        for (int n = 0; n < files; n++) {
            minute += random.nextInt(5) == 0 ? 60 + random.nextInt(600) : 5 + random.nextInt(30);
            put("meas_%03d.dat".formatted(++fileNumber));
        }
        return ended("raw-nothing-tells", "quiet 20m", "alone 72h", "dicom", "bids");
    }

    /** MEG runs, as many as in the protocol, with a lunch break between two. */
    private Trace recordings() {
        int runs = 3 + random.nextInt(6);
        for (int r = 1; r <= runs; r++) {
            minute += 8 + random.nextInt(15) + (r == runs / 2 ? 60 + random.nextInt(90) : 0);
            put("run-%d.sqd".formatted(r));
        }
        return ended("expected-recordings", "quiet 20m", "expect %d run-*.sqd".formatted(runs));
    }

    /** An unfinished exam: the subject left, the console failed, or the copy was interrupted. No more data comes. */
    private Trace unfinished(boolean inASeries) {
        if (inASeries) {
            series(2, -1);
            for (int n = 0; n < 15; n++) {
                minute += random.nextDouble();
                image(3, 40);
            }
            return new Trace("never-finished", false, minute, List.copyOf(events), List.of("quiet 20m", "dicom 3"));
        }
        for (int n = 0; n < 40; n++) {
            minute += random.nextDouble();
            put("f%05d.dat".formatted(++fileNumber));
        }
        return new Trace("never-finished", false, minute, List.copyOf(events), List.of("quiet 20m", "marker exam.done"));
    }

    private Trace ended(String kind, String... rules) {
        double end = events.stream().mapToDouble(Event::minute).max().orElseThrow();
        return new Trace(kind, true, end, List.copyOf(events), List.of(rules));
    }

    private void put(String path) {
        events.add(new Event(minute, path, false, null, ""));
    }

    private void image(int series, int images) {
        Contents.Image image = new Contents.Image(
                "1.2." + series, "" + series, 1, 1, true, OptionalInt.empty(), OptionalInt.of(images));
        events.add(new Event(minute, "s%d/i%05d".formatted(series, ++fileNumber), false, image, ""));
    }

    /** Returns the minutes after the end at which the trace is called complete, with looks at this interval. */
    private static String behind(Trace trace, Rules rules, int stepMinutes) throws IOException {
        Completeness.Seen before = null;
        Observed observed = null;
        long happened = -1;
        for (int at = stepMinutes; at <= WATCHED_DAYS * 1_440; at += stepMinutes) {
            int minute = at;
            long now = trace.events().stream()
                    .filter(event -> event.minute() <= minute)
                    .count();
            if (observed == null || now != happened) {
                observed = observed(trace, rules, at);
                happened = now;
            }
            Completeness.Verdict verdict = Completeness.judge(observed, before, rules, instant(at));
            if (verdict.isComplete()) {
                return "%.0f".formatted(Math.floor(at - trace.end()));
            }
            before = verdict.seen();
        }
        return "never";
    }

    private static Observed observed(Trace trace, Rules rules, int at) throws IOException {
        Map<FilePath, Event> here = new HashMap<>();
        for (Event event : trace.events()) {
            if (event.minute() <= at) {
                FilePath path = FilePath.of(event.path());
                if (event.gone()) {
                    here.remove(path);
                } else {
                    here.put(path, event);
                }
            }
        }
        Sighting sighting = new Sighting(rules, instant(at), new Files(here));
        here.forEach((path, event) -> {
            long nanos = nanos(event.minute());
            sighting.add(path, new Facts(EntryKind.FILE, 1, nanos, nanos, 0644, null, null));
        });
        return sighting.observed();
    }

    private static Instant instant(double minute) {
        return BEGIN.plus(Duration.ofNanos((long) (minute * 60e9)));
    }

    private static long nanos(double minute) {
        Instant instant = instant(minute);
        return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
    }

    private record Files(Map<FilePath, Event> here) implements Contents {

        @Override
        public Optional<Image> image(FilePath file) {
            return Optional.ofNullable(Objects.requireNonNull(here.get(file)).image());
        }

        @Override
        public byte[] begin(FilePath file, int bytes) {
            return Objects.requireNonNull(here.get(file)).text().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public boolean leads(FilePath link) {
            return true;
        }

        @Override
        public List<String> above() {
            return List.of();
        }
    }
}
