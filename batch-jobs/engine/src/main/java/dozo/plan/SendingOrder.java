package dozo.plan;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;

/**
 * The order in which experiments are sent. First come those that their source deletes, so that as many as possible are safe
 * before that: in the order of their deadlines, but while one would be late, the longest of those before it gives way (Moore,
 * Management Science 15, 1968, with Hodgson's rule). Those that gave way follow, the shortest first. The others share what is
 * left: the project that would have got least for its priority comes next, and its oldest experiment.
 */
public final class SendingOrder {

    private SendingOrder() {}

    /** Returns the same experiments in the order in which they are to be sent. */
    public static List<Pending> of(List<Pending> all, Speed speed, Hours hours) {
        List<Pending> ordered = new ArrayList<>(all.size());
        byDeadline(all.stream().filter(each -> each.deadline() != null).toList(), speed, hours, ordered);
        inShares(all.stream().filter(each -> each.deadline() == null).toList(), speed, ordered);
        return ordered;
    }

    private static void byDeadline(List<Pending> all, Speed speed, Hours hours, List<Pending> ordered) {
        List<Pending> due = all.stream()
                .sorted(Comparator.comparing((Pending each) -> requireNonNull(each.deadline()))
                        .thenComparingInt(Pending::experiment))
                .toList();
        Comparator<Pending> shortest = Comparator.comparingDouble((Pending each) -> speed.seconds(each.work()))
                .thenComparingInt(Pending::experiment);
        PriorityQueue<Pending> inTime = new PriorityQueue<>(shortest.reversed());
        Set<Pending> late = new HashSet<>();
        double seconds = 0;
        for (Pending each : due) {
            inTime.add(each);
            seconds += speed.seconds(each.work());
            if (seconds > hours.usableUntil(requireNonNull(each.deadline()))) {
                Pending longest = requireNonNull(inTime.poll());
                seconds -= speed.seconds(longest.work());
                late.add(longest);
            }
        }
        due.stream().filter(each -> !late.contains(each)).forEach(ordered::add);
        late.stream().sorted(shortest).forEach(ordered::add);
    }

    private static void inShares(List<Pending> all, Speed speed, List<Pending> ordered) {
        Map<Integer, Queue<Pending>> projects = new HashMap<>();
        all.stream()
                .sorted(Comparator.comparingInt(Pending::experiment))
                .forEach(each -> projects.computeIfAbsent(each.project(), _ -> new ArrayDeque<>())
                        .add(each));
        PriorityQueue<Share> next = new PriorityQueue<>(
                Comparator.comparingDouble(Share::weightedAfter).thenComparingInt(share -> share.next.experiment()));
        projects.values().forEach(queue -> Share.next(0, queue, speed, next));
        while (!next.isEmpty()) {
            Share share = requireNonNull(next.poll());
            ordered.add(share.next);
            Share.next(share.weightedAfter, share.rest, speed, next);
        }
    }

    /**
     * A project's next experiment.
     *
     * @param weightedAfter the seconds that the project would have got with it, divided by its priority
     */
    private record Share(Pending next, double weightedAfter, Queue<Pending> rest) {

        static void next(double weightedBefore, Queue<Pending> queue, Speed speed, Queue<Share> shares) {
            Pending first = queue.poll();
            if (first != null) {
                shares.add(new Share(first, weightedBefore + speed.seconds(first.work()) / first.priority(), queue));
            }
        }
    }
}
