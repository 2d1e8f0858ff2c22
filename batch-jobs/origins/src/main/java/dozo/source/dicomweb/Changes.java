package dozo.source.dicomweb;

import dozo.source.delivery.Connections;
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

/**
 * Finds the studies that changed since the last look. The first look lists all studies. To be used once, by one thread.
 */
public final class Changes {

    private final Orthanc orthanc;
    private final Set<String> touched = new TreeSet<>();
    private final Set<String> changed = new TreeSet<>();
    private final List<Item> missing = new ArrayList<>();
    private final List<Item> remarks = new ArrayList<>();
    private final Patience patience = new Patience();

    /**
     * The result of a look.
     *
     * @param changed StudyInstanceUIDs
     * @param last the next look starts after this change
     * @param missing failed requests; if there are any, {@code changed} may be incomplete, and {@code last} is where
     * this look started
     */
    public record Seen(Set<String> changed, long last, List<Item> missing, List<Item> remarks) {}

    public Changes(Orthanc orthanc) {
        this.orthanc = orthanc;
    }

    /**
     * Looks for changes.
     *
     * @param from the last change that was seen; 0 if none was
     * @throws DeliveryException if too many requests in a row fail; the result is then unknown
     */
    public Seen since(long from) throws IOException, InterruptedException {
        long newest = orthanc.newestChange();
        if (from != 0 && listsAllSince(from, newest)) {
            return conclude(from, readOn(from));
        }
        if (from != 0) {
            remarks.add(new Item(
                    "the changes",
                    "changes",
                    Trouble.CHANGES_RESTARTED,
                    "Orthanc no longer lists the changes after number %d, where the last look ended; all studies were checked"
                            .formatted(from)));
        }
        for (String uid : orthanc.studyUids()) {
            touched.addAll(orthanc.lookUp(uid));
        }
        return conclude(from, newest);
    }

    /** NB: {@code DELETE /changes} removes what nobody may have seen, and the numbers go on. */
    private boolean listsAllSince(long from, long newest) throws IOException, InterruptedException {
        return newest == from || (newest > from && orthanc.oldestChange() <= from + 1);
    }

    private long readOn(long from) throws IOException, InterruptedException {
        long last = from;
        while (true) {
            Orthanc.Feed feed = orthanc.changes(last);
            take(feed.changes());
            if (feed.done() || feed.last() <= last) {
                return Math.max(last, feed.last());
            }
            last = feed.last();
        }
    }

    /** Adds changes. Changed instances are looked up by their series: one answer explains a thousand changes. */
    private void take(List<Orthanc.Change> changes) throws IOException, InterruptedException {
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

    private Seen conclude(long from, long last) throws IOException, InterruptedException {
        for (String id : touched) {
            ask(() -> changed.add(orthanc.study(id).studyUid()));
        }
        return new Seen(changed, missing.isEmpty() ? last : from, List.copyOf(missing), List.copyOf(remarks));
    }

    /**
     * NB: a failure for one study does not stop the delivery of others; a deleted study has nothing to deliver.
     */
    private void ask(Connections.Attempt<Boolean> attempt) throws IOException, InterruptedException {
        try {
            patience.ask(attempt);
        } catch (DeliveryException e) {
            if (Orthanc.ENDS_ALL.contains(e.trouble()) || patience.isOver()) {
                throw e;
            }
            if (e.trouble() != Trouble.GONE) {
                missing.add(Item.of("a changed study", "changes", e));
            }
        }
    }
}
