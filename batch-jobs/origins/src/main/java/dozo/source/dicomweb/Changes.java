package dozo.source.dicomweb;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which studies are to be brought: those that something happened to since the last look, as soon as Orthanc says that they are
 * stable. The first look searches for all studies. NB: what is asked is the study's state and not only whether a change says
 * {@code StableStudy}: an Orthanc that was stopped too early never says it.
 */
public final class Changes {

    private final Orthanc orthanc;
    private final Limits limits;
    private final InstantSource clock;

    /**
     * What the next look begins with.
     *
     * @param last number of the last change that was seen; 0: none was
     * @param waiting Orthanc's ids of studies that were not stable, with the time since when
     */
    public record Place(long last, Map<String, Instant> waiting) {

        public static final Place START = new Place(0, Map.of());

        public Place {
            waiting = Map.copyOf(waiting);
        }
    }

    /**
     * What a look found.
     *
     * @param ready StudyInstanceUIDs of what can be brought
     * @param unstable StudyInstanceUIDs of those that wait
     * @param next to be kept, as soon as all of those were brought
     * @param missing what could not be asked for: as long as it is not empty, {@code ready} may lack some, and {@code next} begins
     *     where this look did
     * @param items studies that have waited too long, and what else needs a word
     */
    public record Seen(Set<String> ready, Set<String> unstable, Place next, List<Item> missing, List<Item> items) {}

    private final class Look {
        private final Instant now = clock.instant();
        private final Set<String> touched = new HashSet<>();
        private final Set<String> ready = new TreeSet<>();
        private final Set<String> unstable = new TreeSet<>();
        private final Map<String, Instant> waiting = new TreeMap<>();
        private final List<Item> missing = new ArrayList<>();
        private final List<Item> items = new ArrayList<>();
        private int failuresInARow;

        /** What happened to instances is asked for by their series: one answer explains a thousand changes. */
        void take(List<Orthanc.Change> changes) throws IOException, InterruptedException {
            Set<String> explained = new HashSet<>();
            for (Orthanc.Change change : changes) {
                if (explained.contains(change.id())) {
                    continue;
                }
                try {
                    take(change, explained);
                    failuresInARow = 0;
                } catch (DicomwebException e) {
                    note(e);
                }
            }
        }

        private void take(Orthanc.Change change, Set<String> explained) throws IOException, InterruptedException {
            if (change.kind() == Orthanc.Kind.STUDY) {
                touched.add(change.id());
                return;
            }
            boolean isSeries = change.kind() == Orthanc.Kind.SERIES;
            Orthanc.Series series = orthanc.series(isSeries ? change.id() : orthanc.seriesOf(change.id()));
            touched.add(series.studyId());
            explained.add(series.id());
            explained.addAll(series.instances());
        }

        void conclude(Map<String, Instant> waitedBefore) throws IOException, InterruptedException {
            touched.addAll(waitedBefore.keySet());
            for (String id : new TreeSet<>(touched)) {
                Instant since = waitedBefore.getOrDefault(id, now);
                try {
                    conclude(orthanc.study(id), since);
                    failuresInARow = 0;
                } catch (DicomwebException e) {
                    note(e);
                    if (e.trouble() != Trouble.GONE) {
                        waiting.put(id, since);
                    }
                }
            }
        }

        /** NB: one study of which Orthanc cannot tell keeps no other from being brought. */
        private void note(DicomwebException why) throws DicomwebException {
            if (why.trouble() == Trouble.GONE) {
                // Deleted there meanwhile: nothing is left to bring.
                return;
            }
            failuresInARow++;
            if (why.trouble().endsAll() || failuresInARow >= Limits.FAILURES_IN_A_ROW_MAX) {
                throw why;
            }
            missing.add(
                    new Item("a study in which something changed", why.trouble(), String.valueOf(why.getMessage())));
        }

        private void conclude(Orthanc.Held study, Instant since) {
            if (study.stable()) {
                ready.add(study.studyUid());
                return;
            }
            waiting.put(study.id(), since);
            unstable.add(study.studyUid());
            Duration waited = Duration.between(since, now);
            if (waited.compareTo(limits.unstable()) >= 0) {
                ready.add(study.studyUid());
                items.add(new Item(
                        "study " + Uid.shown(study.studyUid()),
                        Trouble.NEVER_STABLE,
                        "not stable since %d hours; what is there is brought".formatted(waited.toHours())));
            }
        }
    }

    public Changes(Orthanc orthanc, Limits limits, InstantSource clock) {
        this.orthanc = orthanc;
        this.limits = limits;
        this.clock = clock;
    }

    /**
     * Looks.
     *
     * @throws DicomwebException when one thing after the other cannot be asked: then nothing is known, and the next look begins at
     *     the same place
     */
    public Seen since(Place place) throws IOException, InterruptedException {
        Look look = new Look();
        long newest = orthanc.newestChange();
        long last;
        if (place.last() == 0 || newest < place.last()) {
            if (place.last() != 0) {
                look.items.add(new Item(
                        "the changes",
                        Trouble.CHANGES_RESTARTED,
                        "the last look saw number %d, and now they end with %d: all studies were looked at"
                                .formatted(place.last(), newest)));
            }
            for (String uid : orthanc.studyUids()) {
                look.touched.addAll(orthanc.lookUp(uid));
            }
            last = newest;
        } else {
            last = readOn(place.last(), look);
        }
        look.conclude(place.waiting());
        return new Seen(
                look.ready,
                look.unstable,
                new Place(look.missing.isEmpty() ? last : place.last(), look.waiting),
                List.copyOf(look.missing),
                List.copyOf(look.items));
    }

    private long readOn(long from, Look look) throws IOException, InterruptedException {
        long last = from;
        while (true) {
            Orthanc.Feed feed = orthanc.changes(last);
            look.take(feed.changes());
            if (feed.done() || feed.last() <= last) {
                return Math.max(last, feed.last());
            }
            last = feed.last();
        }
    }
}
