package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.send.Yielding.Bounds;
import dozo.send.Yielding.Change;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A simulated file server with some disks and one queue. Dozo keeps as many requests there as it may; a researcher sends one
 * request after the other.
 */
class YieldingTest {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;
    private static final int MOST = 64;
    private static final int SEEDS = 2;
    private static final Bounds BOUNDS = new Bounds(0.25, 1, MOST, 24, MILLI / 2);

    /** A server that serves as many requests at once as it has disks. */
    private static final class Server {

        private final int disks;
        private final double serviceMillis;
        private final double deviation;
        private final Random dice;
        private final PriorityQueue<Event> events = new PriorityQueue<>();
        private final Deque<Request> queue = new ArrayDeque<>();
        private int busy;
        private long now = 5 * SECOND;

        Server(int disks, double serviceMillis, double deviation, long seed) {
            this.disks = disks;
            this.serviceMillis = serviceMillis;
            this.deviation = deviation;
            this.dice = new Random(seed);
        }

        void ask(Request request) {
            queue.add(request);
            serve();
        }

        private void serve() {
            while (busy < disks && !queue.isEmpty()) {
                Request next = queue.remove();
                busy++;
                double millis = serviceMillis * Math.exp(deviation * dice.nextGaussian());
                at(now + (long) (millis * MILLI), () -> {
                    busy--;
                    serve();
                    next.answered().run();
                });
            }
        }

        void at(long nanos, Runnable then) {
            events.add(new Event(nanos, dice.nextLong(), then));
        }

        void run(double seconds) {
            long end = now + (long) (seconds * SECOND);
            while (!events.isEmpty() && events.peek().nanos <= end) {
                Event next = events.remove();
                now = next.nanos;
                next.then.run();
            }
            now = end;
        }

        private record Event(long nanos, long order, Runnable then) implements Comparable<Event> {

            @Override
            public int compareTo(Event other) {
                return nanos == other.nanos ? Long.compare(order, other.order) : Long.compare(nanos, other.nanos);
            }
        }
    }

    private record Request(Runnable answered) {}

    /** A run with any number of files to read. */
    private static final class Dozo {

        private final Server server;
        private final Yielding yielding;
        private final List<Change> changes = new ArrayList<>();
        private long notBefore;
        private int open;
        private long answers;

        Dozo(Server server, long seed) {
            this.server = server;
            this.yielding = new Yielding(BOUNDS, new Random(seed), server.now);
            ask();
        }

        private void ask() {
            while (open < Math.max(1, (int) yielding.number()) && server.now >= notBefore) {
                boolean alone = open++ == 0;
                long asked = server.now;
                server.ask(new Request(() -> answered(server.now - asked, alone)));
            }
            yielding.waited();
        }

        private void answered(long took, boolean alone) {
            open--;
            answers++;
            yielding.answered(0, took, alone, server.now).ifPresent(changes::add);
            double number = yielding.number();
            if (number < 1) {
                notBefore = server.now + (long) (took * (1 / number - 1));
                server.at(notBefore, this::ask);
            }
            ask();
        }

        double rate(double seconds) {
            long before = answers;
            server.run(seconds);
            return (answers - before) / seconds;
        }

        /** Returns the mean number of requests over some seconds. */
        double mean(double seconds) {
            double sum = 0;
            for (int i = 0; i < 10 * seconds; i++) {
                server.run(0.1);
                sum += yielding.number();
            }
            return sum / (10 * seconds);
        }
    }

    /** Somebody who sends the next request when the last one is answered, after a pause. */
    private static final class Researcher {

        private final Server server;
        private final long pauseNanos;
        private final List<Long> took = new ArrayList<>();
        private boolean gone;

        Researcher(Server server, long pauseNanos) {
            this.server = server;
            this.pauseNanos = pauseNanos;
            ask();
        }

        private void ask() {
            if (!gone) {
                long asked = server.now;
                server.ask(new Request(() -> {
                    took.add(server.now - asked);
                    server.at(server.now + pauseNanos, this::ask);
                }));
            }
        }

        double medianMillis(double seconds) {
            took.clear();
            server.run(seconds);
            return took.stream().sorted().skip(took.size() / 2).findFirst().orElseThrow() / (double) MILLI;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 5, 0", "1, 5, 0.5", "4, 5, 0.3", "8, 2, 0.5", "16, 8, 0.5", "64, 2, 0.3", "1000, 2, 0.5"})
    void nobodyElseMeansNearlyTheFullRateAndNoNeedlessQueue(int disks, double millis, double deviation) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Server server = new Server(disks, millis, deviation, seed);
            Dozo dozo = new Dozo(server, seed);
            server.run(30);
            int useful = Math.min(disks, MOST);
            double full = useful * 1_000 / (millis * Math.exp(deviation * deviation / 2));
            assertThat(dozo.rate(60)).as("seed %d", seed).isGreaterThan(0.9 * full);
            assertThat(dozo.mean(60)).as("seed %d", seed).isBetween(0.9 * useful, 2.0 * useful);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 5, 0.5", "4, 5, 0.3", "8, 2, 0.5", "16, 8, 0.5", "64, 2, 0.3", "1000, 2, 0.5"})
    void aResearcherHardlyNotices(int disks, double millis, double deviation) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Server server = new Server(disks, millis, deviation, seed);
            new Dozo(server, seed);
            server.run(30);
            Researcher one = new Researcher(server, 0);
            server.run(5);
            assertThat(one.medianMillis(60)).as("seed %d", seed).isLessThan(1.5 * millis);
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 5, 0.3", "8, 2, 0.5", "16, 8, 0.5", "64, 2, 0.3"})
    void itStepsBackWithinSecondsAndIsBackWithinAMinute(int disks, double millis, double deviation) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Server server = new Server(disks, millis, deviation, seed);
            Dozo dozo = new Dozo(server, seed);
            server.run(40);
            double before = dozo.mean(20);
            List<Researcher> all = new ArrayList<>();
            for (int i = 0; i <= disks; i++) {
                all.add(new Researcher(server, 0));
            }
            server.run(4);
            assertThat(dozo.mean(20)).as("seed %d", seed).isLessThan(before / 2);
            assertThat(dozo.changes.getLast().after())
                    .isLessThanOrEqualTo(dozo.changes.getLast().before() / 2);
            assertThat(dozo.changes.getLast().tookNanos())
                    .isGreaterThan(dozo.changes.getLast().baseNanos());
            all.forEach(each -> each.gone = true);
            server.run(40);
            assertThat(dozo.mean(20)).as("seed %d", seed).isGreaterThan(0.8 * before);
            assertThat(dozo.changes).as("lines in the log").hasSizeLessThan(8);
        }
    }

    @Test
    void itNeverStopsHoweverSlowTheAnswersBecome() {
        Yielding yielding = new Yielding(BOUNDS, new Random(1), 0);
        long now = 0;
        for (int i = 0; i < 200_000; i++) {
            now += 10 * MILLI;
            yielding.answered(0, i < 1_000 ? 5 * MILLI : 500 * MILLI, true, now);
            yielding.waited();
            assertThat(yielding.number()).isBetween(BOUNDS.least(), BOUNDS.most());
            if (i == 2_000) {
                assertThat(yielding.number()).isEqualTo(BOUNDS.least());
            }
        }
        assertThat(yielding.number()).as("after half an hour this is usual").isGreaterThanOrEqualTo(1);
    }

    @Test
    void singleAnswersThatAreFarOffDoNotMatter() {
        long now = Long.MAX_VALUE - 60 * SECOND;
        Yielding yielding = new Yielding(BOUNDS, new Random(1), now);
        for (int i = 0; i < 60_000 || yielding.measuringSince().isPresent(); i++) {
            now += 2 * MILLI;
            long took = i % 10 == 0 ? 10 * SECOND : i % 10 == 5 ? 0 : 5 * MILLI;
            yielding.answered(0, took, true, now);
            yielding.waited();
        }
        assertThat(yielding.number()).isEqualTo(MOST);
    }

    @Test
    void kindsOfRequestsAreComparedWithTheirOwnKind() {
        Yielding yielding = new Yielding(BOUNDS, new Random(1), 0);
        long now = 0;
        for (int i = 0; i < 20_000 || yielding.measuringSince().isPresent(); i++) {
            now += 2 * MILLI;
            // First small files, then large ones that take ten times as long.
            int kind = i < 10_000 ? i % 3 / 2 : (i % 3 + 1) / 2;
            yielding.answered(kind, (kind == 0 ? 1 : 10) * MILLI, true, now);
            yielding.waited();
        }
        assertThat(yielding.number()).isEqualTo(MOST);
    }

    @Test
    void whatIsNotUsedDoesNotGrow() {
        Yielding yielding = new Yielding(BOUNDS, new Random(1), 0);
        for (long now = 0; now < 60 * SECOND; now += 5 * MILLI) {
            yielding.answered(0, 5 * MILLI, true, now);
        }
        assertThat(yielding.number()).isEqualTo(1);
    }

    @Test
    void withoutAnswersNothingIsConcluded() {
        Yielding yielding = new Yielding(BOUNDS, new Random(1), 0);
        yielding.answered(0, MILLI, true, SECOND);
        yielding.answered(0, MILLI, false, 3 * SECOND);
        assertThat(yielding.measuringSince()).contains(0L);
        yielding.answered(0, MILLI, false, 11 * SECOND);
        assertThat(yielding.measuringSince()).isEmpty();
        yielding.waited();
        yielding.answered(0, 100 * MILLI, false, 20 * SECOND);
        assertThat(yielding.number()).isEqualTo(1);
    }

    @Test
    void twoRunsDoNotStarveEachOther() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Server server = new Server(8, 5, 0.3, seed);
            Dozo first = new Dozo(server, seed);
            server.run(60);
            Dozo second = new Dozo(server, seed + 100);
            server.run(60);
            long before = second.answers;
            double rate = first.rate(600);
            double other = (second.answers - before) / 600.0;
            assertThat(Math.min(rate, other) / (rate + other))
                    .as("seed %d", seed)
                    .isGreaterThan(0.2);
            assertThat(rate + other).as("seed %d", seed).isGreaterThan(0.8 * 1_530);
        }
    }
}
