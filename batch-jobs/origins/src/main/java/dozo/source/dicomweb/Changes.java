package dozo.source.dicomweb;

import dozo.source.delivery.Asking;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Patience;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Which studies something happened to since the last look. The first look searches for all studies. */
public final class Changes {

    private final Orthanc orthanc;

    /**
     * What a look found.
     *
     * @param changed StudyInstanceUIDs
     * @param last the next look begins behind this change
     * @param missing what could not be asked for: as long as it is not empty, {@code changed} may lack some, and the next look begins
     *     where this one did
     */
    public record Seen(Set<String> changed, long last, List<Item> missing, List<Item> remarks) {}

    private final class Look {
        private final Set<String> touched = new TreeSet<>();
        private final Set<String> changed = new TreeSet<>();
        private final List<Item> missing = new ArrayList<>();
        private final List<Item> remarks = new ArrayList<>();
        private final Patience patience = new Patience();

        /** What happened to instances is asked for by their series: one answer explains a thousand changes. */
        void take(List<Orthanc.Change> changes) throws IOException, InterruptedException {
            Set<String> explained = new HashSet<>();
            for (Orthanc.Change change : changes) {
                if (change.kind() == Orthanc.Kind.STUDY) {
                    touched.add(change.id());
                } else if (!explained.contains(change.id())) {
                    ask(() -> explain(change, explained));
                }
            }
        }

        private boolean explain(Orthanc.Change change, Set<String> explained) throws IOException, InterruptedException {
            boolean isSeries = change.kind() == Orthanc.Kind.SERIES;
            Orthanc.Series series = orthanc.series(isSeries ? change.id() : orthanc.seriesOf(change.id()));
            explained.add(series.id());
            explained.addAll(series.instances());
            return touched.add(series.studyId());
        }

        Seen conclude(long from, long last) throws IOException, InterruptedException {
            for (String id : touched) {
                ask(() -> changed.add(orthanc.study(id).studyUid()));
            }
            return new Seen(changed, missing.isEmpty() ? last : from, List.copyOf(missing), List.copyOf(remarks));
        }

        /** NB: one study of which Orthanc cannot tell keeps no other from being brought; one that is deleted has nothing to bring. */
        private void ask(Asking.Attempt<Boolean> attempt) throws IOException, InterruptedException {
            try {
                patience.ask(attempt);
            } catch (DeliveryException e) {
                if (Orthanc.endsAll(e.trouble()) || patience.isOver()) {
                    throw e;
                }
                if (e.trouble() != Trouble.GONE) {
                    missing.add(Item.of("a study in which something changed", "changes", e));
                }
            }
        }
    }

    public Changes(Orthanc orthanc) {
        this.orthanc = orthanc;
    }

    /**
     * Looks.
     *
     * @param from the last change that was seen; 0: none was
     * @throws DeliveryException when one thing after the other cannot be asked: then nothing is known
     */
    public Seen since(long from) throws IOException, InterruptedException {
        Look look = new Look();
        long newest = orthanc.newestChange();
        if (from != 0 && newest >= from) {
            return look.conclude(from, readOn(from, look));
        }
        if (from != 0) {
            look.remarks.add(new Item(
                    "the changes",
                    "changes",
                    Trouble.CHANGES_RESTARTED,
                    "the last look saw number %d, and now they end with %d: all studies were looked at"
                            .formatted(from, newest)));
        }
        for (String uid : orthanc.studyUids()) {
            look.touched.addAll(orthanc.lookUp(uid));
        }
        return look.conclude(from, newest);
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
